import { describe, expect, test } from "vitest";
import {
  isEmpty,
  lineOf,
  paramsOf,
  readSearch,
  sameSearch,
  searchOfLine,
  withFilters,
  type Search,
} from "../../src/search/search";

const search: Search = { text: "knots", filters: [], match: "hybrid", rank: "relevance" };
const paging = { limit: 20, offset: 0, minScore: null };

describe("parameters of a search", () => {
  test("looking is no reading, and passages come with their reasons", () => {
    expect(paramsOf(search, paging)).toMatchObject({
      query: "knots",
      match: "hybrid",
      rank: "relevance",
      limit: 20,
      view: "lean",
      passages: true,
      explain: true,
      mark_accessed: false,
    });
    expect(paramsOf(search, paging).offset).toBeUndefined();
    expect(paramsOf(search, paging).min_score).toBeUndefined();
  });

  test("filters are parameters of their own, negatives with a dash", () => {
    const filters = ["source:web", "-source:x", "tag:a", 'path:"My Papers"', "type:decision"];
    expect(paramsOf({ ...search, filters }, paging)).toMatchObject({
      source: ["web", "-x"],
      tag: ["a"],
      in_path: ["My Papers"],
      mem_type: ["decision"],
    });
  });

  test("times and phrases stand in the query, each with its name", () => {
    const filters = ["since:2025-01", '"dark matter"', '-until:"last month"', '-"cold"'];
    expect(paramsOf({ ...search, filters }, paging).query).toBe(
      'since:"2025-01" phrase:"dark matter" -until:"last month" -phrase:"cold" knots',
    );
  });

  test("a value that begins with a dash is told from one that is left out", () => {
    const filters = ['tag:"-b"', '-author:"-x"', "[status:done]"];
    expect(paramsOf({ ...search, filters }, paging)).toMatchObject({
      tag: ["\\-b"],
      author: ["-\\-x"],
      property: ["status:done"],
    });
  });

  test("filters alone are a search without a query", () => {
    const alone = { ...search, text: " ", filters: ["tag:a"] };
    expect(isEmpty(alone)).toBe(false);
    expect(paramsOf(alone, { ...paging, offset: 40, minScore: 0 })).toMatchObject({
      query: undefined,
      offset: 40,
      min_score: 0,
    });
  });
});

test("a filter is there once, and of a time only the last counts", () => {
  expect(withFilters(["tag:a", "since:2024"], ["tag:a", "since:7d", "-tag:a"])).toEqual([
    "tag:a",
    "since:7d",
    "-tag:a",
  ]);
  // Of two that are given at once the service takes the narrower.
  expect(withFilters([], ["since:2025", "since:2024"])).toEqual(["since:2025", "since:2024"]);
});

test("a search is one line, and comes back from it", () => {
  const line = lineOf({ text: " knots on cords ", filters: ["tag:a", 'folder:"b c"'] });
  expect(line).toBe('tag:a folder:"b c" knots on cords');
  expect(searchOfLine(line)).toEqual({
    text: "knots on cords",
    filters: ["tag:a", 'folder:"b c"'],
  });
});

test("a stored search is taken as far as it is one", () => {
  const stored = { text: "x", filters: ["tag:a", "nonsense", 3], match: "lexical", rank: "best" };
  expect(readSearch(stored, search)).toEqual({
    text: "x",
    filters: ["tag:a"],
    match: "lexical",
    rank: "relevance",
  });
  for (const strange of [null, 3, "text", []]) expect(readSearch(strange, search)).toEqual(search);
});

test("searches are the same when they ask for the same", () => {
  expect(sameSearch(search, { ...search, text: " knots " })).toBe(true);
  expect(sameSearch(search, { ...search, match: "lexical" })).toBe(false);
});
