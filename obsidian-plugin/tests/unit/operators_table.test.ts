/** The chips say what the service understands: one table of queries holds both to the same. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { filterOf, filterText, quotationsIn, splitLine } from "../../src/search/filters";
import { readQuery } from "../../src/search/grammar";

interface Example {
  query: string;
  /** What is left of it. */
  text: string;
  /** A sign, the parameter, a blank and the value of each operator. */
  terms: string[];
}

const FILE = path.resolve(import.meta.dirname, "../../../fixtures/operators.json");
const EXAMPLES = JSON.parse(fs.readFileSync(FILE, "utf8")) as Example[];

describe("queries that the service understands the same", () => {
  test.each(EXAMPLES)("$query", ({ query, text, terms }) => {
    const read = readQuery(query);
    expect(read.text).toBe(text);
    const said = read.terms.map(
      ({ negative, operator, value }) => `${negative ? "-" : ""}${operator.parameter} ${value}`,
    );
    expect(said).toEqual(terms);
  });

  test.each(EXAMPLES.filter(({ terms }) => terms.length > 0))("chips of $query", ({ query }) => {
    const { text, filters } = splitLine(query);
    const chips = [...filters, ...quotationsIn(text)];
    expect(chips).toHaveLength(readQuery(query).terms.length);
    for (const chip of chips) {
      const filter = filterOf(chip);
      expect(filter && filterText(filter)).toBe(chip);
    }
  });
});
