import { describe, expect, test } from "vitest";
import { parsed } from "../../src/api/client";
import { errorBody, health, hits, indexState, meta } from "../../src/api/wire";
import * as wire from "../../src/api/wire";
import { Fault } from "../../src/errors";
import { golden, goldenNames } from "./support/golden";

describe("answers that were agreed on", () => {
  test.each(goldenNames().filter((name) => /^(recall|related).*(lean|explained)/u.test(name)))(
    "%s is a page of hits",
    (name) => {
      const page = parsed(golden(name), hits);
      expect(page.results.length).toBeGreaterThan(0);
      for (const hit of page.results) {
        expect(hit.vault_path).toMatch(/\.md$/u);
        expect(hit.score).not.toBeNull();
      }
    },
  );

  test("health, meta and index are understood", () => {
    expect(parsed(golden("health"), health).vault_id).toHaveLength(32);
    expect(parsed(golden("meta"), meta).config.port).toBe(8478);
    expect(parsed(golden("index"), indexState).state).toBe("ready");
  });

  test("the state of the index lists its problems, each with its place", () => {
    const index = JSON.parse(golden("index")) as Record<string, unknown>;
    expect(parsed(golden("index"), indexState).problems).toEqual([]);
    const problem = { path: "a.md", line: 3, code: "yaml", reason: "It is no YAML.", hint: null };
    const told = parsed(JSON.stringify({ ...index, problems: [problem] }), indexState);
    expect(told.problems).toEqual([problem]);
  });

  test("every error has its three fields", () => {
    const errors = JSON.parse(golden("errors")) as Record<string, { body: unknown }>;
    for (const { body } of Object.values(errors)) {
      expect(errorBody(body, "").detail).not.toBe("");
    }
  });

  test("why a hit was found, and where, comes with it", () => {
    const [first] = parsed(golden("recall_explained"), hits).results;
    const { text, ranges } = first?.passage ?? { text: "", ranges: [] };
    expect(ranges.length).toBeGreaterThan(0);
    for (const [start, end] of ranges) {
      expect(start).toBeLessThan(end);
      expect(end).toBeLessThanOrEqual(Array.from(text).length);
    }
    expect(first?.match_reasons).toContain("verbatim");
    expect(first?.composite).not.toBeNull();
    expect(first?.score_breakdown?.relevance).toBeGreaterThan(0.9);
  });

  test("a capture, the overview and a history are understood", () => {
    expect(parsed(golden("capture"), wire.capture).vault_path).toMatch(/\.md$/u);
    const { entities, total } = parsed(golden("overview"), wire.overview);
    expect(total).toBeGreaterThanOrEqual(entities.length);
    expect(entities[0]?.name).not.toBe("");
    const { linked_memories: linked, history_state: state } = parsed(
      golden("history"),
      wire.history,
    );
    expect(linked.map(({ id }) => id.length)).toEqual(linked.map(() => 26));
    expect([linked.length > 0, state]).toEqual([true, "journal"]);
  });
});

describe("answers of another form", () => {
  const page = { query: "q", results: [], has_more: false };

  test("what is missing has a stand-in where the service may leave it out", () => {
    expect(hits({ query: null, results: [] }, "")).toMatchObject({
      has_more: false,
      offset: 0,
      degraded: null,
    });
  });

  test.each([
    ["no JSON", "<html>"],
    ["nothing", ""],
    ["a list", "[]"],
    ["a hit without a path", JSON.stringify({ ...page, results: [{ id: "1" }] })],
    ["results that are none", JSON.stringify({ ...page, results: "none" })],
    ["a ranges that is no pair", JSON.stringify({ ...page, results: [{ passage: [1] }] })],
  ])("%s is a fault, not a crash", (_name, body) => {
    expect(() => parsed(body, hits)).toThrow(Fault);
  });

  test("the place of what is wrong is told", () => {
    expect(() => hits({ ...page, results: [{}] }, "")).toThrow(/results\.0\.id/u);
  });
});
