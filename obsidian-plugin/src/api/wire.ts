/** Names and forms on the wire: the only file that spells them. Checks and types come together. */

import { flag, list, number, orElse, pair, perhaps, record, text, type Checked } from "./check";

export const SOURCES = ["x", "web", "wiki", "pdf", "youtube", "reddit", "note"] as const;
export const MATCHES = ["semantic", "lexical", "hybrid"] as const;
export const RANKS = ["relevance", "composite"] as const;
export const LAYERS = ["goal", "context", "emotion", "implementation", "caveat", "learning"];
/** Other words for layers, as the service has them. */
export const LAYER_WORDS: Record<string, string> = {
  ...layerWords("goal", "why goals target targets intent"),
  ...layerWords("context", "background reason situation timing"),
  ...layerWords("emotion", "tone feelings mood"),
  ...layerWords("implementation", "impl how success failure tried attempts"),
  ...layerWords("caveat", "warning warnings pain rule rules pitfall pitfalls dont"),
  ...layerWords("learning", "decision decisions learned insight insights growth"),
};

function layerWords(layer: string, words: string): Record<string, string> {
  return Object.fromEntries(words.split(" ").map((word) => [word, layer]));
}

export const ALTITUDES = ["mission", "strategy", "architecture", "implementation"];
export const MEM_TYPES = [
  "question",
  "comparison",
  "decision",
  "work",
  "outcome",
  "learning",
  "note",
];
export const MEM_STATES = [
  "open",
  "decided",
  "in_progress",
  "done",
  "stalled",
  "parked",
  "superseded",
];
export const BANDS = ["hot", "warm", "cold", "frozen"];

export type Match = (typeof MATCHES)[number];
export type Rank = (typeof RANKS)[number];

export const PATHS = {
  health: "/health",
  meta: "/api/v1/meta",
  recall: "/api/v1/recall",
  related: "/api/v1/related",
  index: "/api/v1/index",
  events: "/api/v1/index/events",
} as const;

/** Where one capture is. */
export function capturePath(id: string): string {
  return `/api/v1/captures/${encodeURIComponent(id)}`;
}

/** Where the opening of a capture is told. */
export function accessPath(id: string): string {
  return `${capturePath(id)}/access`;
}

/** An error as every address sends it. */
export const errorBody = record({ detail: text, error: text, hint: perhaps(text) });
export type ErrorBody = Checked<typeof errorBody>;

/** A stretch of a note where the match is; `ranges` are half-open, in code points of `text`. */
export const passage = record({
  text,
  heading: perhaps(text),
  line: perhaps(number),
  score: perhaps(number),
  ranges: orElse(list(pair(number, number)), []),
});
export type Passage = Checked<typeof passage>;

export const scoreBreakdown = record({
  relevance: number,
  heat: number,
  momentum: number,
  importance: number,
});
export type ScoreBreakdown = Checked<typeof scoreBreakdown>;

/** One hit in the lean view. */
export const hit = record({
  id: text,
  url: text,
  source: text,
  title: perhaps(text),
  author: perhaps(text),
  recorded_at: text,
  vault_path: text,
  description: perhaps(text),
  excerpt: orElse(text, ""),
  score: perhaps(number),
  weak: orElse(flag, false),
  composite: perhaps(number),
  match_reasons: orElse(list(text), []),
  score_breakdown: perhaps(scoreBreakdown),
  passage: perhaps(passage),
});
export type Hit = Checked<typeof hit>;

/** What is needed here of a whole capture. */
export const capture = record({ id: text, vault_path: text, title: perhaps(text) });
export type Capture = Checked<typeof capture>;

/** A page of hits. */
export const hits = record({
  query: perhaps(text),
  results: list(hit),
  has_more: orElse(flag, false),
  total_candidates: perhaps(number),
  offset: orElse(number, 0),
  stale: orElse(flag, false),
  degraded: perhaps(text),
});
export type Hits = Checked<typeof hits>;

/** Something in a note that could not be read as promised; `line` counts from 1. */
export const problem = record({
  path: text,
  line: perhaps(number),
  code: text,
  reason: text,
  hint: perhaps(text),
});
export type Problem = Checked<typeof problem>;

const counts = record({
  notes: number,
  searchable_by_text: number,
  searchable_by_meaning: number,
  pending: number,
  problems: number,
  generation: orElse(number, 0),
});

export const health = record({
  status: text,
  state: text,
  version: text,
  vault_id: text,
  index: counts,
  reason: perhaps(text),
});
export type Health = Checked<typeof health>;

const model = { model: text, dimension: number };

/** The model whose vectors answer, and the one on its way, with its texts that are done and all. */
export const embedder = record({
  ...model,
  coming: perhaps(record({ ...model, done: number, total: number })),
});
export type Embedder = Checked<typeof embedder>;
export type Coming = NonNullable<Embedder["coming"]>;

export const meta = record({
  version: text,
  config: record({ host: text, port: number, vault_path: text }),
  embedder,
});
export type Meta = Checked<typeof meta>;

/** What indexing does; one event of the stream holds the same without its last report. */
export const indexState = record({
  state: text,
  phase: perhaps(text),
  done: number,
  total: number,
  seconds_left: perhaps(number),
  counts,
  problems: perhaps(list(problem)),
  last_report: perhaps(record({ problems: orElse(list(problem), []) })),
  error: perhaps(text),
});
export type IndexState = Checked<typeof indexState>;

/** One entity of the overview. */
export const entity = record({
  name: text,
  kind: text,
  memory_count: number,
  goal_count: number,
  context_count: number,
  emotion_count: number,
  implementation_count: number,
  caveat_count: number,
  learning_count: number,
  pinned_count: number,
  momentum_score: number,
  momentum_band: text,
  last_access: perhaps(text),
});
export type Entity = Checked<typeof entity>;

export const overview = record({ entities: list(entity), total: number, has_more: flag });
export type Overview = Checked<typeof overview>;

/** What notes went through, from git or the journal. */
export const history = record({
  paths_matched: list(record({ path: text, edits: number })),
  total_edits: number,
  first_edit: perhaps(text),
  last_edit: perhaps(text),
  sessions_involved: number,
  daily_breakdown: list(record({ day: text, operation: text, edits: number })),
  user_intents: list(record({ intent: text, when: text, occurrences: number })),
  linked_memories: list(
    record({ id: text, entity: perhaps(text), title: perhaps(text), preview: orElse(text, "") }),
  ),
  history_state: text,
});
export type History = Checked<typeof history>;

/** What `serve` leaves in the vault for other programs. */
export const sidecarFile = record({ url: text, vault_id: text });
export type SidecarFile = Checked<typeof sidecarFile>;
