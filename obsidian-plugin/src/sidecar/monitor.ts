/** Follows the sidecar's state: by its event stream, by polling where there is none. */

import { urlOf } from "../api/address";
import { parsed, type Client, type Later, type Target } from "../api/client";
import { NoStream, type StreamEvent } from "../api/events";
import { indexState, PATHS } from "../api/wire";
import { asFault, sameFault } from "../errors";
import type { Connection } from "./connection";
import { stateOfHealth, stateOfIndex, type SidecarState } from "./state";

/** What a monitor needs from outside. */
export interface MonitorParts {
  connection: Pick<Connection, "look" | "reset">;
  client: Pick<Client, "index">;
  follow: (
    url: string,
    key: string,
    signal: AbortSignal,
    heard: { event: (event: StreamEvent) => void; alive: () => void },
  ) => Promise<void>;
  later: Later;
}

const POLL = 10_000;
const POLL_INDEXING = 1500;
const AFTER_STREAM = 300;
const SILENCE = 45_000; // three times the pause between the stream's comments
const RETRIES = [1000, 2000, 4000, 8000, 15_000, 30_000];
const POLLS_BEFORE_STREAM = 6;

/** Knows the state now, and tells of changes. */
export class Monitor {
  state: SidecarState = { kind: "unknown" };
  private readonly listeners = new Set<(state: SidecarState) => void>();
  private callOff: (() => void) | null = null;
  private stream: AbortController | null = null;
  private failures = 0;
  private polls = 0;
  private looking = false;
  private stopped = true;

  constructor(private readonly parts: MonitorParts) {}

  /** Tell of every change from now on, and of the state now; gives a function that ends it. */
  listen(listener: (state: SidecarState) => void): () => void {
    this.listeners.add(listener);
    listener(this.state);
    return () => this.listeners.delete(listener);
  }

  /** Begin to follow. */
  start(): void {
    this.stopped = false;
    this.look();
  }

  /** Follow no more. */
  stop(): void {
    this.stopped = true;
    this.callOff?.();
    this.stream?.abort();
  }

  /** Look again at once, as a person waits for it. */
  wake(): void {
    this.failures = 0;
    if (this.state.kind === "fault" || this.state.kind === "unknown") this.look();
  }

  /** Settings changed: whoever was followed may be the wrong one. */
  restart(): void {
    this.failures = 0;
    this.parts.connection.reset();
    this.stream?.abort();
    this.look();
  }

  private look(): void {
    this.callOff?.();
    if (this.stopped || this.looking) return;
    this.looking = true;
    void this.follow().then((pause) => {
      this.looking = false;
      if (!this.stopped) this.again(pause);
    });
  }

  private again(pause: number): void {
    this.callOff = this.parts.later(() => {
      this.look();
    }, pause);
  }

  /** One look, and the stream for as long as it lasts; gives the pause until the next look. */
  private async follow(): Promise<number> {
    try {
      const { health, target } = await this.parts.connection.look();
      this.failures = 0;
      this.become(stateOfHealth(health));
      return await this.readOn(target);
    } catch (thrown) {
      this.become({ kind: "fault", fault: asFault(thrown) });
      const pause = RETRIES[Math.min(this.failures, RETRIES.length - 1)] ?? POLL;
      this.failures += 1;
      return pause;
    }
  }

  private async readOn(target: Target): Promise<number> {
    if (this.polls % POLLS_BEFORE_STREAM === 0) {
      try {
        await this.readStream(target);
        this.parts.connection.reset();
        return AFTER_STREAM;
      } catch (error) {
        if (!(error instanceof NoStream)) return AFTER_STREAM; // it broke off: look who is there
      }
    }
    this.polls += 1;
    this.become(stateOfIndex(await this.parts.client.index()));
    return this.state.kind === "ready" ? POLL : POLL_INDEXING;
  }

  private async readStream(target: Target): Promise<void> {
    const stream = new AbortController();
    this.stream = stream;
    let callOff = this.endWhenSilent(stream);
    const heard = {
      event: (event: StreamEvent) => {
        this.hear(event);
      },
      alive: () => {
        callOff();
        callOff = this.endWhenSilent(stream);
      },
    };
    try {
      const url = urlOf(target.address, PATHS.events);
      await this.parts.follow(url, target.key ?? "", stream.signal, heard);
    } finally {
      callOff();
    }
  }

  private endWhenSilent(stream: AbortController): () => void {
    return this.parts.later(() => {
      stream.abort();
    }, SILENCE);
  }

  private hear(event: StreamEvent): void {
    // An `error` event says that the state could not be read just now; the next one may.
    if (event.name !== "progress") return;
    this.polls = 0;
    try {
      this.become(stateOfIndex(parsed(event.data, indexState)));
    } catch {
      // One event that is not understood is no reason to let the stream go: the next one counts.
    }
  }

  private become(state: SidecarState): void {
    if (sameState(this.state, state)) return;
    this.state = state;
    for (const listener of this.listeners) listener(state);
  }
}

function sameState(one: SidecarState, other: SidecarState): boolean {
  if (one.kind === "fault" && other.kind === "fault") return sameFault(one.fault, other.fault);
  return one.kind !== "fault" && JSON.stringify(one) === JSON.stringify(other);
}
