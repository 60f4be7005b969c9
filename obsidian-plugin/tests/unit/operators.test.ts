import { describe, expect, test } from "vitest";
import {
  filterOf,
  filterText,
  joinLine,
  quotationsIn,
  splitLine,
  takeFilters,
  withoutQuotation,
} from "../../src/search/filters";

const filtersIn = (text: string): string[] => splitLine(text).filters;

describe("filters in a text", () => {
  test.each([
    ["source:web knots", ["source:web"]],
    ["knots -tag:#draft", ["-tag:draft"]],
    [
      'folder:"My Papers" knots author:"Ada Lovelace"',
      ['folder:"My Papers"', 'author:"Ada Lovelace"'],
    ],
    ["SOURCE:Web", ["source:web"]],
    ["since:2025-01 until:7d", ["since:2025-01", "until:7d"]],
    ["tag:日記 folder:日記/雨", ["tag:日記", "folder:日記/雨"]],
    ["-since:2025 tag:a,-b", ["-since:2025", "tag:a", "-tag:b"]],
    ['phrase:"dark matter" [status: in progress]', ['"dark matter"', "[status:in progress]"]],
    ['layer:Warnings state:"in progress"', ["layer:caveat", "state:in_progress"]],
    ["layer:caveat band:hot type:decision", ["layer:caveat", "band:hot", "type:decision"]],
  ])("%s", (text, expected) => {
    expect(filtersIn(text)).toEqual(expected);
  });

  test.each([
    "note: buy milk",
    "title:x",
    "http://example.org",
    "12:30",
    "C++:",
    "source:foo",
    "source:",
    "a-tag:b",
    "-since:someday",
    'folder:"never closed',
    "tag:#",
    "constructor:x",
  ])("%s is prose", (text) => {
    expect(filtersIn(text)).toEqual([]);
  });

  test("what was written is read back the same", () => {
    for (const typed of [
      ...["source:web", "-tag:a/b", 'folder:"My Papers"', 'path:"a b"', 'tag:"-b"'],
      ...['"dark matter"', '-"dark matter"', "[due date]", "-[status:in progress]", '["1":2]'],
      ...['[status:"a]b"]', 'phrase:"say \\"please\\" now"', 'since:"last month"', "-until:2025"],
    ]) {
      const filter = filterOf(typed);
      expect(filter && filterText(filter)).toBe(typed);
    }
  });

  test("a chip holds one filter and nothing else", () => {
    expect(filterOf("source:web knots")).toBeNull();
    expect(filterOf(" source:web")).toBeNull();
    expect(filterOf("knots")).toBeNull();
  });
});

describe("taking filters out while they are typed", () => {
  test.each([
    ["source:web", "source:web", []],
    ["source:web ", "", ["source:web"]],
    ["knots source:web ", "knots ", ["source:web"]],
    ["source:web tag:a knots", "knots", ["source:web", "tag:a"]],
    ['folder:"My ', 'folder:"My ', []],
    ["knots on cords ", "knots on cords ", []],
    ["tag:a,b knots", "knots", ["tag:a", "tag:b"]],
    ["since:2025-01 knots", "knots", ["since:2025-01"]],
    // A time may go on: it is taken once it cannot.
    ["since:7d ", "since:7d ", []],
    ["since:3 months a", "since:3 months a", []],
    ["since:3 months ago ", "", ['since:"3 months ago"']],
    ["since:3 months all", "all", ['since:"3 months"']],
    ["since:2025-01-31 09:3", "since:2025-01-31 09:3", []],
    ["since:2025-01-31 knots", "knots", ["since:2025-01-31"]],
    // What a sentence may hold stays in its place, where the service reads it.
    ['"dark matter" galaxies', '"dark matter" galaxies', []],
    ['-"dark matter" galaxies', "galaxies", ['-"dark matter"']],
  ])("%j leaves %j", (text, rest, taken) => {
    expect(takeFilters(text)).toEqual({ rest, taken });
  });
});

describe("quotations", () => {
  const sentence = 'what did the paper mean by "aboutness" when it spoke of titles';

  test("are filters beside few words, and a part of what a sentence says", () => {
    expect(quotationsIn('"dark matter" galaxies [status]')).toEqual(['"dark matter"', "[status]"]);
    expect(quotationsIn(sentence)).toEqual([]);
  });

  test("are taken away from where they stand", () => {
    expect(withoutQuotation('spiral "dark matter" galaxies', '"dark matter"')).toBe(
      "spiral galaxies",
    );
    expect(withoutQuotation("spiral galaxies", '"dark matter"')).toBe("spiral galaxies");
  });

  test("that were meant stay filters when a line is put together", () => {
    const line = { text: sentence, filters: ['"dark matter"', "tag:a"] };
    expect(joinLine(line)).toBe(`phrase:"dark matter" tag:a ${sentence}`);
    expect(splitLine(joinLine(line))).toEqual(line);
  });
});
