/** Answers in the sidecar's place, in the forms that it promises. */
import type { Answer, Ask, Fake } from "../server/gateway";

export type Json = Record<string, unknown>;

/** One lean hit; `change` says what is not as usual. */
export function hit(number: number, change: Json = {}): Json {
  return {
    id: `01FAKE${String(number).padStart(20, "0")}`,
    url: `https://example.org/${String(number)}`,
    source: "web",
    title: `Hit number ${String(number)}`,
    author: "Ines Falk",
    recorded_at: "2026-06-01T12:00:00Z",
    vault_path: `Notes/Hit ${String(number)}.md`,
    description: null,
    excerpt: `Excerpt of hit ${String(number)}.`,
    excerpt_from: "body_text",
    payload_chars: 100,
    score: Math.max(0, 0.9 - number / 2000),
    passage: {
      text: `A passage of hit ${String(number)} about knots on cords.`,
      heading: "How to read one",
      line: 3,
      score: 0.8,
      ranges: [],
    },
    ...change,
  };
}

/** The envelope of a search. */
export function envelope(ask: Ask, results: Json[], change: Json = {}): Json {
  return {
    query: ask.params.get("query") ?? ask.params.get("q"),
    embedder_model: "fake",
    embedder_dimension: 4,
    results,
    has_more: false,
    stopped_by: "end",
    total_candidates: results.length,
    approx_tokens: 10,
    offset: Number(ask.params.get("offset") ?? 0),
    stale: false,
    degraded: null,
    ...change,
  };
}

/** Is this a search? */
export function isSearch(ask: Ask): boolean {
  const { path, params } = ask;
  const filtered = [...params.keys()].some((name) => FILTERS.has(name));
  return path === "/api/v1/recall" && (params.has("query") || params.has("q") || filtered);
}

const FILTERS = new Set(["source", "tag", "folder", "author", "since", "until", "entity_name"]);

/** Searches are answered by `make`. */
export function searches(make: (ask: Ask) => Answer | undefined): Fake {
  return (ask) => (isSearch(ask) ? make(ask) : undefined);
}

/** These hits, whatever is asked for; a second page is empty. */
export function found(...results: Json[]): Fake {
  return searches((ask) => {
    const page = Number(ask.params.get("offset") ?? 0) ? [] : results;
    return { body: envelope(ask, page, { total_candidates: results.length }) };
  });
}

/** So many hits, in pages. */
export function many(total: number): Fake {
  return searches((ask) => {
    const offset = Number(ask.params.get("offset") ?? 0);
    const limit = Number(ask.params.get("limit") ?? 10);
    const count = Math.max(0, Math.min(limit, total - offset));
    const results = Array.from({ length: count }, (_, at) => hit(offset + at));
    const has_more = offset + count < total;
    return { body: envelope(ask, results, { has_more, total_candidates: total }) };
  });
}

/** Searches of this text wait so long before they are passed on or answered. */
export function slow(delays: Record<string, number>, results: (query: string) => Json[]): Fake {
  return searches((ask) => {
    const query = ask.params.get("query") ?? ask.params.get("q") ?? "";
    return { delay: delays[query] ?? 0, body: envelope(ask, results(query)) };
  });
}

const COUNTS = {
  notes: 100,
  searchable_by_text: 100,
  searchable_by_meaning: 40,
  pending: 60,
  problems: 0,
  vectors: 120,
  generation: 1,
  last_reconcile: "2026-06-30T12:00:00Z",
};

/** What indexing does, as an event of the stream and as GET tells it. */
export function indexState(change: Json = {}, counts: Json = {}): Json {
  return {
    state: "ready",
    phase: null,
    done: 0,
    total: 0,
    rate: null,
    seconds_left: null,
    path: null,
    counts: { ...COUNTS, ...counts },
    coverage: {},
    last_report: null,
    error: null,
    ...change,
  };
}

/** Health of a vault that may be another one. */
export function health(vault: string, change: Json = {}, counts: Json = {}): Json {
  return {
    status: "ok",
    state: "ready",
    version: "0.0.0",
    schema_version: 1,
    db_path: ".khiip/cache.sqlite",
    vault_id: vault,
    extractors: [],
    index: { ...COUNTS, ...counts, watcher: "on" },
    reason: null,
    ...change,
  };
}

/** One event as it goes over the wire. */
export function event(state: Json): string {
  return `event: progress\ndata: ${JSON.stringify(state)}\n\n`;
}

/** A sidecar in a given state: health, index and stream say the same. */
export function inState(vault: string, state: Json, counts: Json = {}): Fake {
  return (ask) => {
    const index = indexState(state, counts);
    if (ask.path === "/health") return { body: health(vault, { state: index.state }, counts) };
    if (ask.path === "/api/v1/index/events") return { stream: [event(index)] };
    if (ask.path === "/api/v1/index") return { body: index };
    return undefined;
  };
}

/** One answer for a path. */
export function answer(path: string, given: Answer): Fake {
  return (ask) => (ask.path === path ? given : undefined);
}
