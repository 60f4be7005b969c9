/** A search as the pane holds it, and as it is asked of the sidecar; pure. */

import type { Params } from "../api/address";
import { MATCHES, RANKS, type Match, type Rank } from "../api/wire";
import { isObject } from "../api/check";
import {
  filterOf,
  isOfQuery,
  joinLine,
  namedText,
  parameterText,
  splitLine,
  withoutQuotation,
  type Filter,
} from "./filters";

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
  const filters = search.filters.flatMap((typed) => filterOf(typed) ?? []);
  const query = [...filters.filter(isOfQuery).map(namedText), search.text.trim()].join(" ").trim();
  return {
    ...filterParams(filters.filter((each) => !isOfQuery(each))),
    query: query === "" ? undefined : query,
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

function filterParams(filters: readonly Filter[]): Record<string, string[]> {
  const params: Record<string, string[]> = {};
  for (const filter of filters) {
    (params[filter.operator.parameter] ??= []).push(parameterText(filter));
  }
  return params;
}

/** Filters with some more at the end; none is there twice, and a time makes way for a newer one. */
export function withFilters(filters: readonly string[], more: readonly string[]): string[] {
  const newer = new Set(more.map(timeOf));
  const kept = filters.filter((typed) => {
    const time = timeOf(typed);
    return time === null || !newer.has(time);
  });
  return [...new Set([...kept, ...more])];
}

/** A search without one of its filters, or of the quotations in its words. */
export function withoutFilter(search: Search, filter: string): Search {
  const filters = search.filters.filter((each) => each !== filter);
  return { ...search, filters, text: withoutQuotation(search.text, filter) };
}

function timeOf(typed: string): string | null {
  const filter = filterOf(typed);
  return filter?.operator.kind === "time" ? `${filter.negative}${filter.operator.name}` : null;
}

/** A search as one line of text, as a person would type it. */
export function lineOf(search: Pick<Search, "text" | "filters">): string {
  return joinLine(search);
}

/** Words and filters of one line of text. */
export function searchOfLine(line: string): Pick<Search, "text" | "filters"> {
  const { text, filters } = splitLine(line);
  return { text: text.replace(/\s+/gu, " "), filters };
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
