/** What a person has set; kept in `data.json`, which changes only when a person changes it. */

import { isObject } from "../api/check";
import { MATCHES, RANKS, type Match, type Rank } from "../api/wire";
import { readSearch, type Search } from "../search/search";

/** A search that a person kept, under its name. */
export interface SavedSearch extends Search {
  name: string;
}

export interface Settings {
  /** Empty: the sidecar that serves this vault is found by itself. */
  address: string;
  match: Match;
  rank: Rank;
  limit: number;
  /** Hits below are left out; null: none are. */
  minScore: number | null;
  /** Empty: `khiipd` is looked for on the PATH. */
  program: string;
  saved: SavedSearch[];
}

export const DEFAULTS: Settings = {
  address: "",
  match: "hybrid",
  rank: "relevance",
  limit: 20,
  minScore: null,
  program: "",
  saved: [],
};

export const MOST_RESULTS = 100;

/** Settings out of stored data; what is missing or strange is as by default. */
export function readSettings(stored: unknown): Settings {
  if (!isObject(stored)) return { ...DEFAULTS };
  return {
    address: textOr(stored.address, DEFAULTS.address),
    match: MATCHES.find((each) => each === stored.match) ?? DEFAULTS.match,
    rank: RANKS.find((each) => each === stored.rank) ?? DEFAULTS.rank,
    limit: between(stored.limit, 1, MOST_RESULTS) ?? DEFAULTS.limit,
    minScore: between(stored.minScore, -1, 1),
    program: textOr(stored.program, DEFAULTS.program),
    saved: Array.isArray(stored.saved) ? stored.saved.flatMap(readSaved) : [],
  };
}

/** The search that a new pane begins with. */
export function newSearch(settings: Settings): Search {
  return { text: "", filters: [], match: settings.match, rank: settings.rank };
}

/** Saved searches with one more; one of the same name is replaced. */
export function withSaved(saved: readonly SavedSearch[], more: SavedSearch): SavedSearch[] {
  return [...saved.filter((each) => each.name !== more.name), more];
}

function readSaved(stored: unknown): SavedSearch[] {
  if (!isObject(stored) || typeof stored.name !== "string" || stored.name === "") return [];
  const search = readSearch(stored, newSearch(DEFAULTS));
  return [{ name: stored.name, ...search }];
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function between(value: unknown, least: number, most: number): number | null {
  const usable = typeof value === "number" && value >= least && value <= most;
  return usable ? value : null;
}
