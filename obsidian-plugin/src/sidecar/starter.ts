/** Starts and stops the sidecar for a person, where there is a desktop. */

import { isLoopback } from "../api/address";
import type { Later } from "../api/client";
import { fault } from "../errors";
import type { Desktop } from "./desktop";
import type { Monitor } from "./monitor";
import { findProgram, Program, serveArguments } from "./program";

/** What a starter needs from outside. */
export interface StarterParts {
  desktop: () => Promise<Desktop | null>;
  /** Where the vault is on this disk; null where it is on none. */
  folder: string | null;
  /** The path to `khiipd` as it was set; empty: it is looked for. */
  program: () => string;
  address: () => Promise<string>;
  monitor: Pick<Monitor, "listen" | "restart" | "wake">;
  later: Later;
}

const PATIENCE = 60_000;
const LOOK_EVERY = 500;

export class Starter {
  private program: Program | null = null;

  constructor(private readonly parts: StarterParts) {}

  /** Where the vault is on this disk; null where it is on none. */
  get folder(): string | null {
    return this.parts.folder;
  }

  /** Whether a sidecar could be started here. */
  async canStart(): Promise<boolean> {
    const desktop = await this.parts.desktop();
    if (!desktop || this.parts.folder === null) return false;
    if (!isLoopback(await this.parts.address())) return false;
    return (await findProgram(desktop, this.parts.program())) !== null;
  }

  /** Whether one that was started here runs. */
  get running(): boolean {
    return this.program?.running ?? false;
  }

  /** Start the sidecar and wait until it answers; rejects with a fault that says why not. */
  async start(): Promise<void> {
    const desktop = await this.parts.desktop();
    const { folder } = this.parts;
    if (!desktop || folder === null) throw fault("refused", "This needs a desktop.", "");
    const found = await findProgram(desktop, this.parts.program());
    if (!found) throw notFound();
    this.program ??= new Program(desktop, () => {
      this.parts.monitor.restart();
    });
    const address = await this.parts.address();
    await this.program.start(found, serveArguments(folder, address), this.answers());
  }

  /** Stop what was started here; a sidecar that somebody else started is left alone. */
  stop(): void {
    if (!this.running) throw fault("refused", "No sidecar was started from here.", "");
    this.program?.stop();
  }

  /** The plugin ends, and with it what it started. */
  close(): void {
    this.program?.stop();
  }

  /** Resolves when somebody answers. */
  private answers(): Promise<void> {
    const { monitor, later } = this.parts;
    return new Promise((resolve, reject) => {
      const wait = { on: true };
      const ends: (() => void)[] = [];
      const end = (): void => {
        wait.on = false;
        for (const each of ends.splice(0)) each();
      };
      const look = (): void => {
        if (!wait.on) return;
        monitor.wake();
        ends.push(later(look, LOOK_EVERY));
      };
      const giveUp = (): void => {
        end();
        reject(fault("slow", "khiipd was started and does not answer."));
      };
      const stopListening = monitor.listen((state) => {
        if (state.kind === "unknown" || state.kind === "fault") return;
        end();
        resolve();
      });
      // It may have answered at once: then there is nothing to wait for.
      if (wait.on) ends.push(stopListening, later(giveUp, PATIENCE));
      else stopListening();
      look();
    });
  }
}

function notFound(): Error {
  return fault(
    "refused",
    "khiipd was not found.",
    "Install it, or set the path to khiipd in the settings.",
  );
}
