/** Edits a day as bars of a chart; pure. */

import type { History } from "../api/wire";

/** One bar: a day, a week or a month, its edits, and a label for it. */
export interface Bar {
  label: string;
  edits: number;
}

const DAY = 86_400_000;
const STEPS = [1, 7, 30, 90, 365];
const MOST = 60;

/**
 * Bars from the first edit to the last, each a day, or more where there would be over 60 of them;
 * days without an edit count. `step` is how many days a bar is.
 */
export function barsOf(days: History["daily_breakdown"]): { step: number; bars: Bar[] } {
  const edits = new Map<number, number>();
  for (const { day, edits: count } of days) {
    const time = Date.parse(`${day.slice(0, 10)}T00:00:00Z`);
    if (!Number.isNaN(time)) edits.set(time / DAY, (edits.get(time / DAY) ?? 0) + count);
  }
  if (edits.size === 0) return { step: 1, bars: [] };
  const known = [...edits.keys()];
  const last = Math.max(...known);
  const span = last - Math.min(...known) + 1;
  const step = STEPS.find((each) => span / each <= MOST) ?? Math.ceil(span / MOST);
  const count = Math.ceil(span / step);
  const bars = Array.from({ length: count }, (_, index) => {
    const from = last - (count - index) * step + 1;
    return { label: labelOf(from, step), edits: sum(edits, from, step) };
  });
  return { step, bars };
}

function sum(edits: ReadonlyMap<number, number>, from: number, step: number): number {
  let total = 0;
  for (let day = from; day < from + step; day += 1) total += edits.get(day) ?? 0;
  return total;
}

function labelOf(from: number, step: number): string {
  const first = dayOf(from);
  return step === 1 ? first : `${first} to ${dayOf(from + step - 1)}`;
}

function dayOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

/** The chart in words, for who cannot see it. */
export function chartLabel(history: History, step: number): string {
  const each = step === 1 ? "a day" : `in ${step} days each`;
  const from = history.first_edit?.slice(0, 10) ?? "";
  const to = history.last_edit?.slice(0, 10) ?? "";
  const edits = history.total_edits === 1 ? "1 edit" : `${history.total_edits} edits`;
  const when = from === to ? `on ${from}` : `from ${from} to ${to}`;
  return step === 1 ? `Edits a day: ${edits} ${when}` : `Edits a day, ${each}: ${edits} ${when}`;
}

/** Where a history comes from, in words. */
export function historyFrom(state: string): string {
  if (state === "git") return "From git";
  if (state === "journal") return "From the journal of this machine: the vault is not in git";
  const reason = /^git_unavailable:\s*(.*)$/u.exec(state)?.[1];
  return reason ? `From the journal, as git could not answer: ${reason}` : state;
}

/** The history in one line. */
export function summary(history: History): string {
  const { total_edits: edits, sessions_involved: sessions } = history;
  if (edits === 0) return "No edits are known yet.";
  const said = [edits === 1 ? "1 edit" : `${edits} edits`];
  if (sessions > 0) said.push(sessions === 1 ? "1 session" : `${sessions} sessions`);
  return said.join(" in ");
}
