/** A search as the pane holds it, and as it is asked of the sidecar; pure. */

import type { Params } from "../api/address";
import { MATCHES, RANKS, type Match, type Rank } from "../api/wire";
import { isObject } from "../api/check";
import { filterOf, filterText, filtersIn } from "./operators";

/** What a person asks for: words, filters as they are typed, how to match and to order. */
export interface Search {
  text: string;
  filters: string[];
  match: Match;
  rank: Rank;
}

/** How many to ask for at a time, and what to leave out. */
export interface Paging {
  limit: number;
  offset: number;
  minScore: number | null;
}

/** Whether there is nothing to look for. */
export function isEmpty(search: Search): boolean {
  return search.text.trim() === "" && search.filters.length === 0;
}

/** The parameters of one page of hits; looking is not reading, so no access is recorded. */
export function paramsOf(search: Search, paging: Paging): Params {
  const words = search.text.trim();
  return {
    ...filterParams(search.filters),
    query: words === "" ? undefined : words,
    match: search.match,
    rank: search.rank,
    limit: paging.limit,
    offset: paging.offset === 0 ? undefined : paging.offset,
    min_score: paging.minScore ?? undefined,
    view: "lean",
    passages: true,
    explain: true,
    mark_accessed: false,
    excerpt_chars: 240,
  };
}

function filterParams(filters: readonly string[]): Record<string, string[]> {
  const params: Record<string, string[]> = {};
  for (const typed of filters) {
    const filter = filterOf(typed);
    if (!filter) continue;
    const values = (params[filter.operator.parameter] ??= []);
    values.push(filter.negative ? `-${filter.value}` : filter.value);
  }
  return params;
}

/** Filters with some more at the end; none is there twice, and of a time only the last counts. */
export function withFilters(filters: readonly string[], more: readonly string[]): string[] {
  const kept = new Map<string, string>();
  for (const typed of [...filters, ...more]) kept.set(keyOf(typed), typed);
  return [...kept.values()];
}

function keyOf(typed: string): string {
  const filter = filterOf(typed);
  return filter?.operator.single ? filter.operator.name : typed;
}

/** A search as one line of text, as a person would type it. */
export function lineOf(search: Pick<Search, "text" | "filters">): string {
  return [...search.filters, search.text.trim()].filter((part) => part !== "").join(" ");
}

/** Words and filters of one line of text. */
export function searchOfLine(line: string): Pick<Search, "text" | "filters"> {
  const found = filtersIn(line);
  let text = line;
  for (const each of [...found].reverse()) text = text.slice(0, each.start) + text.slice(each.end);
  return { text: text.replace(/\s+/gu, " ").trim(), filters: found.map(filterText) };
}

/** A search out of stored data; what is missing or strange is as `otherwise` has it. */
export function readSearch(stored: unknown, otherwise: Search): Search {
  if (!isObject(stored)) return otherwise;
  const { text, filters, match, rank } = stored;
  return {
    text: typeof text === "string" ? text : otherwise.text,
    filters: Array.isArray(filters) ? filters.filter(isFilter) : otherwise.filters,
    match: MATCHES.find((each) => each === match) ?? otherwise.match,
    rank: RANKS.find((each) => each === rank) ?? otherwise.rank,
  };
}

function isFilter(value: unknown): value is string {
  return typeof value === "string" && filterOf(value) !== null;
}

/** Whether two searches ask for the same. */
export function sameSearch(one: Search, other: Search): boolean {
  return lineOf(one) === lineOf(other) && one.match === other.match && one.rank === other.rank;
}
