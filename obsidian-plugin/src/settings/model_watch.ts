/** Asks which model answers, and again whenever that may have changed; draws nothing. */

import type { Later } from "../api/client";
import { Latest, type Outcome } from "../api/latest";
import type { Meta } from "../api/wire";
import { countsOf, type SidecarState } from "../sidecar/state";

/** What the watch needs from outside. */
export interface ModelWatchParts {
  meta: () => Promise<Meta>;
  /** Tells the state of the sidecar now and when it changes; gives a function that ends it. */
  listen: (listener: (state: SidecarState) => void) => () => void;
  later: Later;
  show: (outcome: Outcome<Meta>) => void;
}

const PAUSE_COMING = 2000;
const PAUSE_FAULT = 10_000;

export class ModelWatch {
  private readonly latest: Latest<null, Meta>;
  private seen = "";
  private unlisten: (() => void) | null = null;
  private callOff: (() => void) | null = null;

  constructor(private readonly parts: ModelWatchParts) {
    this.latest = new Latest(parts.meta, (_, outcome) => {
      this.hear(outcome);
    });
  }

  /** Ask now, and from then on. */
  start(): void {
    this.unlisten = this.parts.listen((state) => {
      this.notice(state);
    });
  }

  /** Ask nothing any more. */
  stop(): void {
    this.unlisten?.();
    this.callOff?.();
    this.latest.forget();
  }

  /** While notes are read the state changes several times a second: that is no reason to ask. */
  private notice(state: SidecarState): void {
    const mark = `${state.kind} ${countsOf(state)?.generation ?? ""}`;
    if (mark === this.seen) return;
    this.seen = mark;
    this.ask();
  }

  private ask(): void {
    this.callOff?.();
    this.callOff = null;
    this.latest.want(null);
  }

  private hear(outcome: Outcome<Meta>): void {
    this.parts.show(outcome);
    this.callOff?.();
    const pause = pauseAfter(outcome);
    if (pause === null) return;
    this.callOff = this.parts.later(() => {
      this.ask();
    }, pause);
  }
}

/** How long until it is worth asking again; null when a change of the state will tell. */
function pauseAfter(outcome: Outcome<Meta>): number | null {
  if (!outcome.ok) return PAUSE_FAULT;
  return outcome.answer.embedder.coming ? PAUSE_COMING : null;
}
