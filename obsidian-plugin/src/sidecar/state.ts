/** What is known of the sidecar, in one value, and how it is said; pure. */

import type { Fault } from "../errors";
import type { Health, IndexState } from "../api/wire";
import { roughSeconds } from "../search/dates";

/** How much of the vault can be found. */
export interface Counts {
  notes: number;
  problems: number;
  generation: number;
}

/** The sidecar as seen last; `fault` says why it cannot be asked. */
export type SidecarState =
  | { kind: "unknown" }
  | { kind: "ready"; counts: Counts; reason: string | null }
  | { kind: "warming"; counts: Counts }
  | { kind: "suspect"; counts: Counts }
  | { kind: "indexing"; counts: Counts; percent: number | null; secondsLeft: number | null }
  | { kind: "fault"; fault: Fault };

/** The state that health tells. */
export function stateOfHealth(health: Health): SidecarState {
  const { notes, searchable_by_meaning: done } = health.index;
  return stateOf(health.state, health.index, share(done, notes), null, health.reason);
}

/** The state that an event, or the index itself, tells. */
export function stateOfIndex(index: IndexState): SidecarState {
  const { counts, done, total } = index;
  const percent =
    total > 0 ? share(done, total) : share(counts.searchable_by_meaning, counts.notes);
  return stateOf(index.state, counts, percent, index.seconds_left, index.error);
}

function stateOf(
  said: string,
  index: Counts,
  percent: number | null,
  secondsLeft: number | null,
  reason: string | null,
): SidecarState {
  const { notes, problems, generation } = index;
  const counts = { notes, problems, generation };
  if (said === "indexing") return { kind: "indexing", counts, percent, secondsLeft };
  if (said === "warming") return { kind: "warming", counts };
  if (said === "suspect") return { kind: "suspect", counts };
  return { kind: "ready", counts, reason };
}

function share(done: number, total: number): number | null {
  return total > 0 ? Math.floor((100 * Math.min(done, total)) / total) : null;
}

/** The counts in a state, null while nobody can be asked. */
export function countsOf(state: SidecarState): Counts | null {
  return "counts" in state ? state.counts : null;
}

/** How many problems there are, in words. */
export function problemsLabel(count: number): string {
  return count === 1 ? "1 problem" : `${count} problems`;
}

/** The few words of the status bar. */
export function shortLabel(state: SidecarState): string {
  switch (state.kind) {
    case "unknown":
      return "connecting";
    case "indexing":
      return state.percent === null ? "indexing" : `indexing ${state.percent}%`;
    case "warming":
      return "warming";
    case "suspect":
      return "check the vault";
    case "ready":
      return state.counts.problems > 0 ? problemsLabel(state.counts.problems) : "ready";
    case "fault":
      return faultLabel(state.fault);
  }
}

function faultLabel(fault: Fault): string {
  if (fault.kind === "other_vault") return "another vault";
  if (fault.kind === "unconfirmed") return "to be confirmed";
  if (fault.kind === "no_key" || fault.kind === "unauthorized") return "no key";
  return fault.kind === "offline" || fault.kind === "slow" ? "offline" : "error";
}

/** One line for the pane; empty when there is nothing to say. */
export function longLabel(state: SidecarState): string {
  switch (state.kind) {
    case "unknown":
    case "ready":
      return "";
    case "indexing":
      return indexingLabel(state.percent, state.secondsLeft);
    case "warming":
      return "Warming up: the model is being loaded";
    case "suspect":
      return "Many notes are gone at once. Nothing is removed from the index until you run khiipd reindex --accept-deletions";
    case "fault":
      return state.fault.message;
  }
}

function indexingLabel(percent: number | null, secondsLeft: number | null): string {
  const how = percent === null ? "Indexing" : `Indexing ${percent}%`;
  return secondsLeft === null ? how : `${how}, about ${roughSeconds(secondsLeft)} left`;
}

/** An icon for a state, by Lucide's name. */
export function stateIcon(state: SidecarState): string {
  if (state.kind === "fault") return state.fault.kind === "offline" ? "unplug" : "alert-circle";
  if (state.kind === "ready") return state.counts.problems > 0 ? "alert-triangle" : "check";
  return state.kind === "suspect" ? "alert-triangle" : "loader";
}
