/** Dates as people say them; pure: the time now is always given. */

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 365.25 * 86_400],
  ["month", 30.44 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

const WORDS = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** How long ago something was, such as `3 months ago`; empty when it is no date. */
export function relativeDate(date: string, now: number): string {
  const seconds = (Date.parse(date) - now) / 1000;
  if (Number.isNaN(seconds)) return "";
  const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
  return step ? WORDS.format(Math.trunc(seconds / step[1]), step[0]) : "now";
}

/** A date to the day, for tooltips; empty when it is no date. */
export function fullDate(date: string): string {
  const time = Date.parse(date);
  return Number.isNaN(time) ? "" : new Date(time).toISOString().slice(0, 10);
}

/** Seconds that are left, as one rough step: `2 min`, `40 s`. */
export function roughSeconds(seconds: number): string {
  return seconds >= 90
    ? `${Math.round(seconds / 60)} min`
    : `${Math.max(1, Math.round(seconds))} s`;
}
