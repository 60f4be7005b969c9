/** `fs` and `child_process` for the page: reads within bounds, programs that are always ended. */
import { spawn, type ChildProcess } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

type Event = { name: "stdout" | "stderr"; text: string } | { name: "exit"; code: number | null };

interface Running {
  child: ChildProcess;
  events: Event[];
  wake: (() => void) | null;
}

export interface Spawned {
  program: string;
  args: string[];
  pid: number | undefined;
}

export class Processes {
  readonly spawned: Spawned[] = [];
  readonly killed: { pid: number; signal: string }[] = [];
  private readonly running = new Map<number, Running>();

  /** Only below these folders is anything there; `env` is what programs get. */
  constructor(
    private readonly folders: string[],
    private readonly env: Record<string, string>,
  ) {}

  async handle(route: string, body: Record<string, unknown>): Promise<unknown> {
    if (route === "read") return this.read(String(body.path));
    if (route === "spawn") return this.spawn(String(body.program), body.args as string[]);
    if (route === "events") return this.events(Number(body.pid));
    if (route === "kill") return this.kill(Number(body.pid), String(body.signal));
    throw new Error(`no such route: ${route}`);
  }

  private read(asked: string): object {
    const full = path.resolve(asked);
    const inside = this.folders.some((folder) => full === folder || full.startsWith(`${folder}/`));
    const stat = inside ? fs.statSync(full, { throwIfNoEntry: false }) : undefined;
    if (!stat) return {};
    const kind = stat.isDirectory() ? "folder" : "file";
    const executable = (stat.mode & 0o111) !== 0;
    const text = kind === "file" && stat.size < 100_000 ? fs.readFileSync(full, "utf8") : undefined;
    return { kind, executable, mode: stat.mode, text };
  }

  private async spawn(program: string, args: string[]): Promise<object> {
    const child = spawn(program, args, { env: { ...process.env, ...this.env }, stdio: "pipe" });
    const running: Running = { child, events: [], wake: null };
    const add = (event: Event): void => {
      running.events.push(event);
      running.wake?.();
    };
    child.stdout.on("data", (data) => {
      add({ name: "stdout", text: String(data) });
    });
    child.stderr.on("data", (data) => {
      add({ name: "stderr", text: String(data) });
    });
    const failed = new Promise<boolean>((done) => {
      child.on("error", () => {
        done(true);
      });
      child.on("spawn", () => {
        done(false);
      });
    });
    child.on("exit", (code) => {
      add({ name: "exit", code });
    });
    this.spawned.push({ program, args, pid: child.pid });
    if ((await failed) || child.pid === undefined) return { error: "ENOENT" };
    this.running.set(child.pid, running);
    return { pid: child.pid };
  }

  private async events(pid: number): Promise<Event[]> {
    const running = this.running.get(pid);
    if (!running) return [{ name: "exit", code: null }];
    if (!running.events.length) {
      await new Promise<void>((done) => {
        running.wake = done;
        setTimeout(done, 500);
      });
    }
    return running.events.splice(0);
  }

  private kill(pid: number, signal: string): object {
    const found = this.running.get(pid)?.child;
    this.killed.push({ pid, signal });
    if (found?.exitCode !== null) return { found: false };
    if (signal !== "0") found.kill(signal as NodeJS.Signals);
    return { found: true };
  }

  /** End what was started and still runs. */
  async end(): Promise<void> {
    for (const { child } of this.running.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((done) => child.once("exit", done));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await gone;
      clearTimeout(timer);
    }
  }
}
