/** Filters as a person types them, and as chips hold them; pure. */

import { choiceOf, mayGoOn } from "./allowed";
import { isOfProse, isQuotation, NOT_A_KEY, readQuery, without, type Term } from "./grammar";
import { PHRASE, PROPERTY, type Operator } from "./operators";

/** One filter, such as `-tag:draft` or `folder:"My Papers"`. */
export interface Filter {
  negative: boolean;
  operator: Operator;
  value: string;
}

/** A text taken apart: its words, and its filters as they are typed. */
export interface Line {
  text: string;
  filters: string[];
}

/** The filter that a whole text is, null when it is none: how a chip is read back. */
export function filterOf(text: string): Filter | null {
  const [found, more] = readQuery(text).terms;
  if (!found || more || found.start !== 0 || found.end !== text.length) return null;
  return filterOfTerm(found);
}

function filterOfTerm({ operator, value, negative }: Term): Filter {
  return { operator, negative, value: usual(operator, value) };
}

function usual(operator: Operator, value: string): string {
  if (operator.kind === "tag") return value.trim().replace(/^#+/u, "");
  return (operator.kind === "choice" ? choiceOf(operator, value) : null) ?? value;
}

/** A filter as it is typed, in the shortest form that is read back the same. */
export function filterText(filter: Filter): string {
  const { operator, value } = filter;
  const sign = filter.negative ? "-" : "";
  // The count of a sentence's words stops at a quotation mark within a quotation.
  if (value.includes('"')) return namedText(filter);
  if (operator === PHRASE) return `${sign}${quoted(value)}`;
  if (operator === PROPERTY) return `${sign}[${propertyText(value)}]`;
  return `${sign}${operator.name}:${PLAIN.test(value) ? value : quoted(value)}`;
}

const PLAIN = /^[^\s"“(\\,#-][^\s",]*$/u;

function propertyText(property: string): string {
  const colon = property.indexOf(":");
  const key = colon < 0 ? property : property.slice(0, colon);
  const name = NOT_A_KEY.test(key) || /[[\]]/u.test(key) ? quoted(key) : key;
  if (colon < 0) return name;
  const value = property.slice(colon + 1);
  return `${name}:${/[[\]]/u.test(value) ? quoted(value) : value}`;
}

/** A filter with its operator's name and in quotation marks: a filter whatever it stands beside. */
export function namedText({ negative, operator, value }: Filter): string {
  return `${negative ? "-" : ""}${operator.name}:${quoted(value)}`;
}

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/gu, "\\$&")}"`;
}

/** Whether a filter is asked for in the query's text: the service narrows times, and seeks phrases. */
export function isOfQuery({ operator }: Filter): boolean {
  return operator.kind === "time" || operator === PHRASE;
}

/** A filter's value as a parameter; one that begins with a dash is told from one left out. */
export function parameterText({ negative, value }: Filter): string {
  return `${negative ? "-" : ""}${/^\\*-/u.test(value) ? `\\${value}` : value}`;
}

/** Words and filters of a whole line; a quotation stays in the words, where the service reads it. */
export function splitLine(line: string): Line {
  const terms = readQuery(line).terms.filter((term) => !isOfProse(term));
  return { text: without(line, terms).trim(), filters: terms.map(termText) };
}

function termText(term: Term): string {
  return filterText(filterOfTerm(term));
}

/** The text with every filter that a blank ends taken out, and those filters as typed. */
export function takeFilters(text: string): { rest: string; taken: string[] } {
  const terms = readQuery(text).terms.filter(
    (term) => term.end < text.length && !isOfProse(term) && !isTyped(term, text),
  );
  let rest = text;
  for (const { start, end } of oncePerPlace(terms).reverse()) {
    rest = rest.slice(0, start) + rest.slice(end).replace(/^\s/u, "");
  }
  return { rest, taken: terms.map(termText) };
}

function isTyped({ operator, value, end }: Term, text: string): boolean {
  if (operator.kind !== "time" || text[end - 1] === '"') return false;
  return mayGoOn(value, text.slice(end));
}

function oncePerPlace(terms: readonly Term[]): Term[] {
  return terms.filter((term, index) => terms[index - 1]?.start !== term.start);
}

/** Quotations and words in brackets that are filters where they stand in a text, as typed. */
export function quotationsIn(text: string): string[] {
  const found = readQuery(text).terms.filter(isOfProse).map(termText);
  return [...new Set(found)];
}

/** The text without a quotation. */
export function withoutQuotation(text: string, filter: string): string {
  const terms = readQuery(text).terms;
  return without(
    text,
    terms.filter((term) => isOfProse(term) && termText(term) === filter),
  );
}

/** A line that is read back into these words and filters; what prose may hold bears its name. */
export function joinLine({ text, filters }: Line): string {
  const typed = filters.map((each) => {
    const filter = filterOf(each);
    return filter && isQuotation(filter) ? namedText(filter) : each;
  });
  return [...typed, text.trim()].filter((part) => part !== "").join(" ");
}
