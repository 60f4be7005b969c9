import { expect, test } from "vitest";
import { shown, stretches } from "../../src/search/marks";

const marked = (text: string, ranges: [number, number][]): string[] =>
  stretches(text, ranges)
    .filter((each) => each.marked)
    .map((each) => each.text);

test("ranges count code points, of which an emoji is one", () => {
  expect(marked("🪢🪢 knots on cords", [[3, 8]])).toEqual(["knots"]);
  expect(marked("𝒜b", [[1, 2]])).toEqual(["b"]);
  expect(marked("雨の日", [[0, 1]])).toEqual(["雨"]);
});

test("ranges may overlap, touch, be empty or leave the text", () => {
  expect(marked("abcdef", [[0, 3], [2, 4]])).toEqual(["abcd"]); // prettier-ignore
  expect(marked("abcdef", [[0, 2], [2, 4]])).toEqual(["abcd"]); // prettier-ignore
  expect(marked("abc", [[1, 1], [5, 9], [-3, 0], [2, 99], [2, 1]])).toEqual(["c"]); // prettier-ignore
});

test("no character is lost or added", () => {
  const text = "a🪢 b\u202Ec é 雨";
  for (const ranges of [[], [[0, 3]], [[1, 2], [4, 99]]] as [number, number][][]) // prettier-ignore
    expect(stretches(text, ranges).map((each) => each.text).join("")).toBe(text); // prettier-ignore
});

test("a long passage is shown around its first mark, in one line", () => {
  const text = `${"before ".repeat(60)}HERE${" after".repeat(100)}`;
  const found = shown(text, [[420, 424]]);
  const line = found.map((each) => each.text).join("");
  expect(found.find((each) => each.marked)?.text).toBe("HERE");
  expect(line.startsWith("…before")).toBe(true);
  expect(line.endsWith("…")).toBe(true);
  expect(line.length).toBeLessThan(300);
});

test("a short passage is shown whole, its line ends as blanks", () => {
  expect(shown("one\n\ntwo", [[5, 8]])).toEqual([
    { text: "one ", marked: false },
    { text: "two", marked: true },
  ]);
  expect(shown("", [[0, 4]])).toEqual([]);
});
