/**
 * What a query says beside its words, read exactly as the service reads it; pure. The examples of
 * `fixtures/operators.json` hold both to the same.
 */

import { isAllowed, isTime } from "./allowed";
import { OPERATORS, operatorNamed, PHRASE, PROPERTY, type Operator } from "./operators";

/** One value that an operator gives; `start` and `end` are where it stands, in UTF-16. */
export interface Term {
  operator: Operator;
  value: string;
  negative: boolean;
  /** Written with its operator's name, and not as a quotation or in brackets. */
  named: boolean;
  start: number;
  end: number;
}

/** A query taken apart: what is left of it, and its operators. */
export interface ReadQuery {
  text: string;
  terms: Term[];
}

const LONGEST = 1000;
const MOST_VALUES = 50;
const LETTER = "[\\p{L}\\p{N}_]";
// Phones make the quotation marks round that were typed straight.
const QUOTED = `(?:"(?:[^"\\\\]|\\\\.){0,${LONGEST}}"|“[^“”]{0,${LONGEST}}”)`;
const PHRASES = `(?<phrase>${QUOTED})(?!${LETTER})`;
const KEY = `(?<key>${QUOTED}|[^\\[\\]":\\n]{1,${LONGEST}})`;
const VALUE = `(?::[ ]?(?<property>${QUOTED}|[^\\[\\]"\\n]{1,${LONGEST}}))?`;
const NAMES = OPERATORS.map(({ name }) => name).join("|");
const NAMED = `(?<name>${NAMES}):(?<value>(?:${QUOTED}|[^\\s"(][^\\s"]*)(?!\\S))`;
const TERM = `(?<before>^|\\s)(?<sign>-?)(?:${PHRASES}|\\[${KEY}${VALUE}\\](?!\\S)|${NAMED})`;

// Beside so many words a quotation or a word in brackets belongs to a sentence.
const SENTENCE_WORDS = 8;
const ASIDE = /-?(?:[a-z_]+:)?(?:"[^"]*"|“[^“”]*”)|-?\[[^\]]*\]|-?[a-z_]+:\S+/giu;
const WORD = new RegExp(`${LETTER}+`, "gu");
// A task, a footnote, a number in brackets: what prose has.
export const NOT_A_KEY = /^\s*(?:x|[!^].*|(?:[\p{Nd}_]|[^\p{L}\p{N}])*)\s*$/isu;

/** Whether a text is a sentence, in which a quotation is a part of what is said. */
export function isSentence(text: string): boolean {
  return (text.replace(ASIDE, " ").match(WORD)?.length ?? 0) > SENTENCE_WORDS;
}

/** Whether prose may hold it too; what has a name was meant. */
export function isOfProse(term: Term): boolean {
  return !term.named && isQuotation(term);
}

/** Whether it is written as prose may be too; what has a value or a dash is not. */
export function isQuotation({
  operator,
  value,
  negative,
}: Pick<Term, "operator" | "value" | "negative">): boolean {
  if (negative) return false;
  return operator === PHRASE || (operator === PROPERTY && !value.includes(":"));
}

/** Take a query apart; one without any operator is left as it is. */
export function readQuery(query: string): ReadQuery {
  const pattern = new RegExp(TERM, "gisu");
  const sentence = isSentence(query);
  const terms: Term[] = [];
  for (;;) {
    const match = pattern.exec(query);
    if (!match) return { text: without(query, terms), terms };
    const start = match.index + (match.groups?.before ?? "").length;
    const found = withRoom(termsOf(match, start, query), terms).filter(
      (term) => !(sentence && isOfProse(term)),
    );
    terms.push(...found);
    const whole = found.length > 0 || match.groups?.name !== undefined;
    // A quotation that is no phrase may hold an operator.
    pattern.lastIndex = whole ? Math.max(pattern.lastIndex, found[0]?.end ?? 0) : start + 1;
  }
}

/** A text without some of its terms: one blank stands where two parts meet. */
export function without(text: string, terms: readonly Pick<Term, "start" | "end">[]): string {
  if (terms.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of terms) {
    parts.push(text.slice(at, Math.max(at, start)).trim());
    at = end;
  }
  return [...parts, text.slice(at).trim()].filter((part) => part !== "").join(" ");
}

function withRoom(found: Term[], terms: readonly Term[]): Term[] {
  const taken = terms.filter(({ operator }) => operator === found[0]?.operator).length;
  return taken + found.length <= MOST_VALUES ? found : [];
}

/** What a match means, as one term for each value; none where it is text after all. */
function termsOf(match: RegExpExecArray, start: number, query: string): Term[] {
  const { sign, phrase, key, property, name, value } = match.groups ?? {};
  const end = match.index + match[0].length;
  const place = { negative: sign === "-", named: name !== undefined, start, end };
  if (phrase !== undefined) {
    return allowed([{ ...place, operator: PHRASE, value: unquoted(phrase) }]);
  }
  if (key !== undefined) return inBrackets(key, property, place);
  const operator = operatorNamed(name ?? "");
  if (!operator || value === undefined) return [];
  if (operator.kind === "time") return timed({ ...place, operator, value }, query);
  return valued({ ...place, operator, value });
}

function inBrackets(
  key: string,
  property: string | undefined,
  place: Omit<Term, "operator" | "value">,
): Term[] {
  if (!isQuoted(key) && NOT_A_KEY.test(key)) return [];
  const name = unquoted(key).trim();
  if (name.includes(":") || name === "") return [];
  const text = property === undefined ? "" : unquoted(property).trim();
  return allowed([{ ...place, operator: PROPERTY, value: text ? `${name}:${text}` : name }]);
}

function valued(term: Term): Term[] {
  const quoted = isQuoted(term.value);
  const value = unquoted(term.value);
  const parts = term.operator.commas ? value.split(",").map((part) => part.trim()) : [value];
  return allowed(
    parts.map((part) => {
      const signed = quoted ? { value: part, dashed: false } : splitSign(part);
      return { ...term, value: signed.value, negative: term.negative !== signed.dashed };
    }),
  );
}

/** The longest time that begins here; a quoted one ends with its quotation mark. */
function timed(term: Term, query: string): Term[] {
  const from = term.end - term.value.length;
  const ends = [term.end];
  while (!isQuoted(term.value) && ends.length < 3) {
    const more = /^ [^\s"]+/u.exec(query.slice(ends.at(-1)));
    if (!more) break;
    ends.push((ends.at(-1) ?? 0) + more[0].length);
  }
  for (const end of ends.reverse()) {
    const value = unquoted(query.slice(from, end));
    if (isTime(value)) return [{ ...term, value, end }];
  }
  return [];
}

/** All of the terms, or none when a value is not allowed. */
function allowed(terms: Term[]): Term[] {
  return terms.every(({ operator, value }) => isAllowed(operator, value)) ? terms : [];
}

/** A value and whether a dash leaves it out; behind a `\` the dash is the value's own. */
function splitSign(text: string): { value: string; dashed: boolean } {
  const dashed = text.startsWith("-");
  const rest = dashed ? text.slice(1) : text;
  return { value: /^\\+-/u.test(rest) ? rest.slice(1) : rest, dashed };
}

function isQuoted(text: string): boolean {
  return text.startsWith('"') || (text.startsWith("“") && text.endsWith("”"));
}

function unquoted(text: string): string {
  if (text.startsWith('"')) return text.slice(1, -1).replace(/\\(["\\])/gu, "$1");
  return isQuoted(text) ? text.slice(1, -1) : text;
}
