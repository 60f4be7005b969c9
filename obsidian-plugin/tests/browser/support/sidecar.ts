/** A real sidecar on a copy of the sample vault, with a home of its own. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { PLUGIN } from "../server/house";

const SAMPLE = path.resolve(PLUGIN, "../fixtures/vaults/sample");

/** `khiipd`: the one that is named, else the one of this repository. */
export function program(): string {
  const named = process.env.KHIIP_PROGRAM;
  const found = named ?? path.resolve(PLUGIN, "../.venv/bin/khiipd");
  if (!fs.existsSync(found)) {
    throw new Error(`There is no ${found}: run \`make run\` first, or name one in KHIIP_PROGRAM.`);
  }
  return found;
}

/** A port that is free just now. */
export function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const server = net.createServer();
    server.on("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => {
        done(port);
      });
    });
  });
}

export interface Place {
  folder: string;
  vault: string;
  home: string;
}

/** A copy of the sample vault in a new folder, under git with one commit. */
export function newPlace(): Place {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "khiip-browser-"));
  const vault = path.join(folder, "Sample");
  fs.cpSync(SAMPLE, vault, {
    recursive: true,
    preserveTimestamps: true,
    filter: (from) => !from.split(path.sep).includes(".khiip"),
  });
  const home = path.join(folder, "home");
  fs.mkdirSync(home);
  commit(vault);
  return { folder, vault, home };
}

function commit(vault: string): void {
  const who = ["-c", "user.name=Sample", "-c", "user.email=sample@example.org"];
  const git = (...args: string[]): void => {
    execFileSync("git", ["-C", vault, ...who, ...args], { stdio: "ignore" });
  };
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "--no-gpg-sign", "-m", "The vault as it was found");
}

/** The environment of a program of this place. */
export function environment(place: Place): Record<string, string> {
  return { KHIIP_HOME: place.home, HOME: place.folder, PATH: process.env.PATH ?? "" };
}

export class Sidecar {
  private child: ChildProcess | null = null;
  private said = "";

  constructor(
    readonly place: Place,
    readonly port: number,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get key(): string {
    const text = fs.readFileSync(path.join(this.place.home, "config/auth.toml"), "utf8");
    return /api_key = "([^"]+)"/.exec(text)?.[1] ?? "";
  }

  /** Start it, and wait until every note is found by meaning. */
  async start(seconds = 100): Promise<void> {
    // It ends by itself, too, should this process be killed before it can end it.
    const serve = ["serve", "--port", String(this.port), "--idle-exit", "300"];
    const args = ["--vault", this.place.vault, ...serve];
    const env = { ...process.env, ...environment(this.place) };
    this.child = spawn(program(), args, { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (data) => (this.said = (this.said + String(data)).slice(-4000)));
    }
    const patience = Date.now() + seconds * 1000;
    while (!(await this.isReady())) {
      if (this.child.exitCode !== null) throw new Error(`khiipd ended at once: ${this.said}`);
      if (Date.now() > patience) throw new Error(`khiipd was not ready in time: ${this.said}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }

  private async isReady(): Promise<boolean> {
    try {
      const health = (await (await fetch(`${this.url}/health`)).json()) as Health;
      const { notes, pending } = health.index;
      return health.state === "ready" && notes > 0 && pending === 0;
    } catch {
      return false; // not listening yet
    }
  }

  /** End it, and see that it is gone. */
  async stop(): Promise<void> {
    const { child } = this;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
    await gone;
    clearTimeout(timer);
  }
}

interface Health {
  state: string;
  index: { notes: number; pending: number };
}
