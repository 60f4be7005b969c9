/** The operators of a query text, as Obsidian's own search has taught them; pure. */

import { ALTITUDES, BANDS, LAYERS, MEM_STATES, MEM_TYPES, SOURCES } from "../api/wire";

/** One operator: the parameter it stands for, its allowed values where they are few, its help. */
export interface Operator {
  name: string;
  parameter: string;
  values: readonly string[] | null;
  help: string;
  /** There can be one such filter only, and none that says the opposite. */
  single: boolean;
}

function operator(
  name: string,
  parameter: string,
  help: string,
  values: readonly string[] | null = null,
  single = false,
): Operator {
  return { name, parameter, values, help, single };
}

export const OPERATORS: readonly Operator[] = [
  operator("source", "source", "Where it came from", SOURCES),
  operator("tag", "tag", "A tag, and those below it"),
  operator("folder", "folder", "A folder, and all below it"),
  operator("author", "author", "Who wrote it"),
  operator("since", "since", "From then on: 2025-01, 7d, last month", null, true),
  operator("until", "until", "Up to then: 2025, yesterday", null, true),
  operator("path", "in_path", "Text in the path"),
  operator("file", "file", "Text in the file name"),
  operator("entity", "entity_name", "A person, project or thing it is about"),
  operator("layer", "layer", "Goal, context, caveat and so on", LAYERS),
  operator("type", "mem_type", "Decision, question and so on", MEM_TYPES),
  operator("state", "mem_state", "Open, done and so on", MEM_STATES),
  operator("altitude", "altitude", "From mission to implementation", ALTITUDES),
  operator("thread", "thread_id", "A thread"),
  operator("band", "band", "How warm the memory is", BANDS),
];

const BY_NAME = new Map(OPERATORS.map((each) => [each.name, each]));

/** The operator of a name as typed, whatever its case. */
export function operatorNamed(name: string): Operator | undefined {
  return BY_NAME.get(name.toLowerCase());
}

/** One filter as a person types it, such as `-tag:draft` or `folder:"My Papers"`. */
export interface Filter {
  negative: boolean;
  operator: Operator;
  value: string;
}

/** A filter found in a text, and where: `start` and `end` are offsets in UTF-16. */
export interface FoundFilter extends Filter {
  start: number;
  end: number;
}

// A dash, a name, a colon, and a value that is quoted or has no blank. Only after a blank: the
// `http:` of an address and the `b:` of `a-b:c` are prose.
const FILTER = /(^|\s)(-?)([a-z]+):(?:"([^"]+)"|([^\s"]+))(?=\s|$)/giu;

/** Every whole filter in a text; what is no filter, or has a value that is not allowed, is prose. */
export function filtersIn(text: string): FoundFilter[] {
  const found: FoundFilter[] = [];
  for (const match of text.matchAll(FILTER)) {
    const [whole, before = "", dash, name = "", quoted, bare = ""] = match;
    const filter = makeFilter(dash === "-", name, quoted ?? bare);
    const start = match.index + before.length;
    if (filter) found.push({ ...filter, start, end: match.index + whole.length });
  }
  return found;
}

/** The filter that a whole text is, null when it is none: how a chip is read back. */
export function filterOf(text: string): Filter | null {
  const [found] = filtersIn(text);
  if (found?.start !== 0 || found.end !== text.length) return null;
  return { negative: found.negative, operator: found.operator, value: found.value };
}

/** A filter as it is typed; a value with blanks is quoted. */
export function filterText(filter: Filter): string {
  const value = /\s/u.test(filter.value) ? `"${filter.value}"` : filter.value;
  return `${filter.negative ? "-" : ""}${filter.operator.name}:${value}`;
}

function makeFilter(negative: boolean, name: string, typed: string): Filter | null {
  const known = operatorNamed(name);
  const value = known?.parameter === "tag" ? typed.replace(/^#/u, "") : typed;
  if (!known || value.trim() === "" || (negative && known.single)) return null;
  if (known.values && !known.values.includes(value.toLowerCase())) return null;
  return { negative, operator: known, value: known.values ? value.toLowerCase() : value };
}

/** The text with every filter that a blank ends taken out, and those filters as typed. */
export function takeFilters(text: string): { rest: string; taken: string[] } {
  const whole = filtersIn(text).filter((each) => each.end < text.length);
  let rest = text;
  for (const each of [...whole].reverse()) {
    rest = rest.slice(0, each.start) + rest.slice(each.end).replace(/^\s/u, "");
  }
  return { rest, taken: whole.map(filterText) };
}
