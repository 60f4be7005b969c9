/** Starts the sidecar for this vault, and stops only what it started. */

import { fault } from "../errors";
import type { Child, Desktop } from "./desktop";
import { fromHome, programPlaces } from "./places";

/** How long a sidecar that was started here lives after the last request. */
const IDLE_SECONDS = 900;

const EXITS: Record<number, readonly [line: string, help: string]> = {
  4: ["The index was made by another model.", "Run khiipd reindex --full."],
  5: ["Another process holds this vault.", "A khiipd may be running already; end it first."],
  6: ["The port is in use.", "Set another address, such as 127.0.0.1:8479."],
};

/** Arguments of `khiipd` for a vault and an address. */
export function serveArguments(vault: string, address: string): string[] {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/gu, "");
  const port = url.port || "80";
  const idle = String(IDLE_SECONDS);
  return ["--vault", vault, "serve", "--host", host, "--port", port, "--idle-exit", idle];
}

/** The program: the one that was set, else the first in the usual places; null when none is there. */
export async function findProgram(desktop: Desktop, set: string): Promise<string | null> {
  const places = set ? [fromHome(set, desktop.home)] : programPlaces(desktop);
  for (const place of places) if (await desktop.isFile(place)) return place;
  return null;
}

/** One sidecar at a time, started from here. */
export class Program {
  private child: Child | null = null;
  private lastWords = "";

  constructor(
    private readonly desktop: Desktop,
    private readonly ended: () => void,
  ) {}

  /** Whether a sidecar that was started here still runs. */
  get running(): boolean {
    return this.child !== null;
  }

  /** Start it; rejects with a fault when it ends again before `ready` resolves. */
  async start(program: string, args: string[], ready: Promise<void>): Promise<void> {
    if (this.child) return;
    const child = this.desktop.spawn(program, args);
    this.child = child;
    child.stderr?.on("data", (piece: unknown) => {
      this.lastWords = lastLine(String(piece)) || this.lastWords;
    });
    await Promise.race([ready, this.end(child)]);
  }

  /** Stop it, if it was started here. */
  stop(): void {
    this.child?.kill("SIGTERM");
    this.child = null;
  }

  /** Rejects when the child ends, whatever the reason; never resolves. */
  private end(child: Child): Promise<never> {
    const gone = (): void => {
      if (this.child === child) this.child = null;
      this.ended();
    };
    const end = new Promise<never>((_resolve, reject) => {
      child.on("error", (error) => {
        gone();
        reject(fault("refused", "khiipd could not be started.", error.message));
      });
      child.on("exit", (code) => {
        gone();
        const [line, help] = EXITS[code ?? -1] ?? ["khiipd ended at once.", this.lastWords];
        reject(fault("refused", line, help));
      });
    });
    end.catch(() => undefined); // after the start nobody waits for it; `ended` has told
    return end;
  }
}

function lastLine(words: string): string {
  return words.trim().split("\n").at(-1)?.trim() ?? "";
}
