import { describe, expect, test } from "vitest";
import { filterOf, filtersIn, filterText, takeFilters } from "../../src/search/operators";

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
    ["layer:caveat band:hot type:decision", ["layer:caveat", "band:hot", "type:decision"]],
  ])("%s", (text, expected) => {
    expect(filtersIn(text).map(filterText)).toEqual(expected);
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
    "-since:2025",
    'folder:"never closed',
    "tag:#",
    "constructor:x",
  ])("%s is prose", (text) => {
    expect(filtersIn(text)).toEqual([]);
  });

  test("what was written is read back the same", () => {
    for (const typed of ["source:web", "-tag:a/b", 'folder:"My Papers"', 'path:"a b"']) {
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
  ])("%j leaves %j", (text, rest, taken) => {
    expect(takeFilters(text)).toEqual({ rest, taken });
  });
});
