/** What may be meant while a filter is typed; pure. */

import { filterText } from "./filters";
import { OPERATORS, operatorNamed } from "./operators";

/** What is known of the vault, for values of filters. */
export interface Known {
  tags: () => readonly string[];
  folders: () => readonly string[];
  entities: () => readonly string[];
}

/** One suggestion: what replaces the text from `start` to `end`; `whole` ones become a chip. */
export interface Suggestion {
  text: string;
  label: string;
  help: string;
  start: number;
  end: number;
  whole: boolean;
}

const MOST = 8;
const WORD = /(?:^|\s)(-?)([a-z]*)(?::("?)([^"]*))?$/iu;

/** Suggestions for the word before the cursor; none unless a filter may be meant. */
export function suggestions(text: string, cursor: number, known: Known): Suggestion[] {
  const before = lastWord(text.slice(0, cursor));
  const match = WORD.exec(before.word);
  if (!match) return [];
  const [, dash = "", name = "", , value] = match;
  const place = { start: before.start, end: cursor };
  if (value === undefined) return operatorsFor(dash, name, place);
  return valuesFor(dash === "-", name, value, known, place);
}

interface Place {
  start: number;
  end: number;
}

/** The word at the end of a text; a quote that is open belongs to it with its blanks. */
function lastWord(text: string): { word: string; start: number } {
  const match = /(?:^|\s)(-?[a-z]+:"[^"]*|\S+)$/iu.exec(text);
  const word = match?.[1] ?? "";
  return { word, start: text.length - word.length };
}

function operatorsFor(dash: string, typed: string, place: Place): Suggestion[] {
  if (typed.length < 2 && dash === "") return [];
  const fitting = OPERATORS.filter(
    (each) => each.name.startsWith(typed.toLowerCase()) && (dash === "" || each.kind !== "time"),
  );
  return fitting.slice(0, MOST).map((each) => {
    const text = `${dash}${each.name}:`;
    return { text, label: text, help: each.help, whole: false, ...place };
  });
}

function valuesFor(
  negative: boolean,
  name: string,
  typed: string,
  known: Known,
  place: Place,
): Suggestion[] {
  const operator = operatorNamed(name);
  if (!operator || (negative && operator.kind === "time")) return [];
  const wanted = typed.replace(/^#/u, "").toLowerCase();
  return bestFirst(valuesOf(operator.name, operator.values, known), wanted).map((value) => {
    const text = filterText({ negative, operator, value });
    return { text, label: text, help: "", whole: true, ...place };
  });
}

const TIMES = ["today", "yesterday", "7d", "30d", "last month", "this year"];

function valuesOf(name: string, values: readonly string[] | null, known: Known): readonly string[] {
  if (values) return values;
  if (name === "tag") return known.tags();
  if (name === "folder" || name === "path") return known.folders();
  if (name === "entity" || name === "author") return known.entities();
  return name === "since" || name === "until" ? TIMES : [];
}

/** Values that hold the text, those that begin with it first. */
function bestFirst(values: readonly string[], wanted: string): string[] {
  const begin: string[] = [];
  const hold: string[] = [];
  for (const value of values) {
    const place = value.toLowerCase().indexOf(wanted);
    if (place < 0) continue;
    (place === 0 ? begin : hold).push(value);
    if (begin.length >= MOST) break;
  }
  return [...begin, ...hold].slice(0, MOST);
}
