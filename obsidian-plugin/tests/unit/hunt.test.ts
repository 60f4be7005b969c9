import { expect, test } from "vitest";
import type { Params } from "../../src/api/address";
import type { Hits } from "../../src/api/wire";
import { fault } from "../../src/errors";
import { Hunt } from "../../src/search/hunt";
import type { Search } from "../../src/search/search";
import { Clock } from "./support/clock";

const page = (ids: string[], more: boolean): Hits => ({
  query: null,
  results: ids.map((id) => ({
    id,
    url: "",
    source: "note",
    title: id,
    author: null,
    recorded_at: "2026-01-01T00:00:00Z",
    vault_path: `${id}.md`,
    description: null,
    excerpt: "",
    score: 0.5,
    weak: false,
    composite: null,
    match_reasons: [],
    score_breakdown: null,
    passage: null,
  })),
  has_more: more,
  total_candidates: null,
  offset: 0,
  stale: false,
  degraded: null,
});

function desk(answer: (params: Params) => Promise<Hits>) {
  const clock = new Clock();
  const asked: Params[] = [];
  const told: string[] = [];
  const hunt = new Hunt(
    {
      client: {
        recall: (params) => {
          asked.push(params);
          return answer(params);
        },
      },
      later: clock.later,
      limit: () => 2,
      minScore: () => null,
    },
    {
      emptied: () => told.push("emptied"),
      found: (found, offset) =>
        told.push(`${offset}: ${found.results.map((hit) => hit.id).join()}`),
      failed: (failure) => told.push(failure.kind),
    },
  );
  return { clock, asked, told, hunt };
}

const search = (text: string): Search => ({
  text,
  filters: [],
  match: "hybrid",
  rank: "relevance",
});

test("typing is searched for after 200 ms of pause, once", async () => {
  const { clock, asked, hunt } = desk(() => Promise.resolve(page(["a"], false)));
  for (const text of ["k", "kn", "kno"]) {
    hunt.soon(search(text));
    await clock.pass(150);
  }
  expect(asked).toEqual([]);
  await clock.pass(50);
  expect(asked.map((params) => params.query)).toEqual(["kno"]);
});

test("an emptied box counts at once, and nothing late fills the list", async () => {
  const { clock, asked, told, hunt } = desk(() => Promise.resolve(page(["a"], false)));
  hunt.now(search("knots"));
  hunt.soon(search(""));
  expect(told).toEqual(["emptied"]);
  await clock.pass(1000);
  expect(told).toEqual(["emptied"]);
  expect(asked).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("pages follow each other from where the last one ended", async () => {
  const pages = [page(["a", "b"], true), page(["c"], true), page([], true)];
  const { clock, asked, told, hunt } = desk(() =>
    Promise.resolve(pages.shift() ?? page([], false)),
  );
  hunt.now(search("knots"));
  hunt.next(); // under way already: there is nothing to ask for yet
  await clock.pass(0);
  for (let again = 0; again < 4; again += 1) {
    hunt.next();
    await clock.pass(0);
  }
  expect(told).toEqual(["0: a,b", "2: c", "3: "]);
  expect(asked.map((params) => params.offset)).toEqual([undefined, 2, 3]);
});

test("a new search begins at the top, even while a page is on its way", async () => {
  const { clock, asked, told, hunt } = desk(({ query, offset }) =>
    Promise.resolve(page([`${String(query)}${String(offset ?? 0)}`], true)),
  );
  hunt.now(search("a"));
  await clock.pass(0);
  hunt.next();
  hunt.now(search("b"));
  await clock.pass(0);
  expect(told).toEqual(["0: a0", "0: b0"]);
  expect(asked.map((params) => params.query)).toEqual(["a", "a", "b"]);
});

test("a fault is told as one", async () => {
  const { clock, told, hunt } = desk(() => Promise.reject(fault("offline")));
  hunt.now(search("knots"));
  await clock.pass(0);
  expect(told).toEqual(["offline"]);
});
