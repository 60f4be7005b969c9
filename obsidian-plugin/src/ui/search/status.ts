/** What the pane says of a search and of the sidecar: one line, and which card; pure. */

import type { Fault } from "../../errors";
import { degradedLabel, notesLabel } from "../../search/labels";
import { countsOf, longLabel, type SidecarState } from "../../sidecar/state";

/** What became of the last search. */
export type Outcome =
  | { kind: "none" }
  | { kind: "hits"; total: number; shown: number; degraded: string | null; stale: boolean }
  | { kind: "fault"; fault: Fault };

/** The fault to show: of the search itself, else why the sidecar cannot be asked. */
export function faultOf(outcome: Outcome, state: SidecarState): Fault | null {
  if (outcome.kind === "fault") return outcome.fault;
  return state.kind === "fault" ? state.fault : null;
}

/** The one line; empty when there is nothing to say. */
export function statusLine(outcome: Outcome, state: SidecarState): string {
  const fault = faultOf(outcome, state);
  if (fault) return fault.message;
  if (outcome.kind !== "hits") return longLabel(state);
  const said = outcome.total === 0 ? "No notes found" : countLine(outcome.shown, outcome.total);
  const more = [degradedLabel(outcome.degraded), outcome.stale ? "some changed since" : null];
  return [said, longLabel(state), ...more].filter((part) => part).join(" · ");
}

function countLine(shown: number, total: number): string {
  return shown < total ? `${notesLabel(total)}, best first` : notesLabel(total);
}

/** Whether the sidecar's new state is a reason to look again for what is in the box. */
export function isNews(before: SidecarState, now: SidecarState, outcome: Outcome): boolean {
  if (now.kind === "fault" || now.kind === "unknown") return false;
  if (before.kind === "fault") return true;
  if (now.kind === "ready" && before.kind === "indexing") return true;
  const more = countsOf(before)?.generation !== now.counts.generation;
  return more && outcome.kind === "fault" && outcome.fault.kind !== "refused";
}

/** Whether a change of the line is only progress, which a screen reader need not hear each time. */
export function isProgress(before: string, after: string): boolean {
  return withoutFigures(before) === withoutFigures(after);
}

function withoutFigures(line: string): string {
  return line.replace(/Indexing.*?(?= · |$)/u, "Indexing");
}
