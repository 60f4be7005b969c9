/** Which values an operator takes: what is not allowed is text, to the service as well; pure. */

import type { Operator } from "./operators";

const UNSEEN = "\\s\\u0000-\\u0020\\u007f-\\u00a0\\ufeff";
const VISIBLE = new RegExp(`[^${UNSEEN}]`, "u");

// Relative, no drive, no step out, no hidden folder.
const STEP = "(?:\\.(?=[\\\\/]|$)|(?!\\.|\\s*(?:\\.|%2[eE]){1,2}\\s*(?:[\\\\/]|$))[^\\\\/]*)";
const IN_VAULT = new RegExp(
  `^(?=[\\s\\S]*[^${UNSEEN}])(?![\\\\/]|[A-Za-z]:(?:[\\\\/]|$))${STEP}(?:[\\\\/]${STEP})*$`,
  "u",
);

/** Whether an operator takes a value. */
export function isAllowed(operator: Operator, value: string): boolean {
  switch (operator.kind) {
    case "time":
      return isTime(value);
    case "choice":
      return choiceOf(operator, value) !== null;
    case "folder":
      return VISIBLE.test(value) && IN_VAULT.test(value);
    case "tag":
      return VISIBLE.test(value.replace(/#/gu, ""));
    case "text":
      return VISIBLE.test(value);
  }
}

/** A value as the service spells it; null when it is none of a list. */
export function choiceOf({ values, words }: Operator, typed: string): string | null {
  const chosen = typed.trim().toLowerCase();
  if (values?.includes(chosen)) return chosen;
  const plain = chosen.replace(/'/gu, "").replace(/-/gu, " ").trim().split(/\s+/u).join("_");
  const meant = words[plain] ?? plain;
  return values?.includes(meant) ? meant : null;
}

const AGE =
  /^(?:\d{1,5} ?(?:h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:(?:ee)?ks?)?)|\d{1,4} ?m(?:o(?:nths?)?)?|\d{1,3} ?y(?:(?:ea)?rs?)?)(?: ago)?$/iu;
const CALENDAR = /^(?!0000)\d{4}(?:-(?:0[1-9]|1[0-2]|w(?:0[1-9]|[1-4]\d|5[0-2])|q[1-4]))?$/iu;
const DAY = /^(?!0000)(\d{4}-\d{2}-\d{2})(?:$|[t ])/iu;
const CLOCK =
  /^(?:[t ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/iu;
const WORDS = /^(?:now|today|yesterday|(?:this|last)[ _-](?:week|month|quarter|year))$/iu;

/** Whether a text is a time: `2025-01`, `7d`, `3 months ago`, `last month`, a day with a clock. */
export function isTime(typed: string): boolean {
  const value = typed.trim();
  return [AGE, CALENDAR, WORDS].some((form) => form.test(value)) || isDay(value);
}

function isDay(value: string): boolean {
  const day = DAY.exec(value)?.[1];
  if (day === undefined || !CLOCK.test(value.slice(10))) return false;
  const time = Date.parse(`${day}T00:00:00Z`);
  // 2025-02-30 is a day in March to some, and none to the service.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

/** Whether a time that is being typed may yet go on with what follows: `7d` with ` ago`. */
export function mayGoOn(value: string, after: string): boolean {
  if (AGE.test(value) && !/ago$/iu.test(value)) return /^ ?(?:a|ag)?$/iu.test(after);
  return DAY.test(value) && value.length === 10 && /^ ?[\d:]*$/u.test(after);
}
