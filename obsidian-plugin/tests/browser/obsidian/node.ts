/** The few Node modules that a desktop plugin may use, played by the test server. */
import { Emitter } from "./emitter";

function now<T>(route: string, body: unknown): T {
  const request = new XMLHttpRequest();
  request.open("POST", `/node/${route}`, false);
  request.send(JSON.stringify(body));
  return JSON.parse(request.responseText) as T;
}

async function soon<T>(route: string, body: unknown): Promise<T> {
  const response = await fetch(`/node/${route}`, { method: "POST", body: JSON.stringify(body) });
  return (await response.json()) as T;
}

interface Read {
  text?: string;
  kind?: "file" | "folder";
  executable?: boolean;
  mode?: number;
}

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), {
    code: "ENOENT",
  });
}

function textOf(path: string, answer: Read): string {
  if (answer.text === undefined) throw missing(path);
  return answer.text;
}

function stats(path: string, answer: Read): object {
  if (!answer.kind) throw missing(path);
  return {
    isFile: () => answer.kind === "file",
    isDirectory: () => answer.kind === "folder",
    mode: answer.mode,
  };
}

function allowed(path: string, answer: Read, mode = 0): void {
  if (!answer.kind || (mode === 1 && !answer.executable)) throw missing(path);
}

const constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 };

const promises = {
  constants,
  readFile: async (path: string) => textOf(path, await soon<Read>("read", { path })),
  stat: async (path: string) => stats(path, await soon<Read>("read", { path })),
  access: async (path: string, mode?: number) => {
    allowed(path, await soon<Read>("read", { path }), mode);
  },
};

const fs = {
  constants,
  promises,
  readFileSync: (path: string) => textOf(path, now<Read>("read", { path })),
  statSync: (path: string) => stats(path, now<Read>("read", { path })),
  accessSync: (path: string, mode?: number) => {
    allowed(path, now<Read>("read", { path }), mode);
  },
  existsSync: (path: string) => now<Read>("read", { path }).kind !== undefined,
};

function tidy(path: string): string {
  const absolute = path.startsWith("/");
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return (absolute ? "/" : "") + parts.join("/");
}

const path = {
  sep: "/",
  delimiter: ":",
  join: (...parts: string[]) => tidy(parts.filter(Boolean).join("/")),
  resolve: (...parts: string[]) => tidy(`/${parts.filter(Boolean).join("/")}`),
  normalize: tidy,
  dirname: (of: string) => of.slice(0, Math.max(1, of.lastIndexOf("/"))),
  basename: (of: string) => of.slice(of.lastIndexOf("/") + 1),
  isAbsolute: (of: string) => of.startsWith("/"),
};

type Event = { name: "stdout" | "stderr"; text: string } | { name: "exit"; code: number | null };

interface Started {
  pid?: number;
  error?: string;
}

class Child extends Emitter {
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: string | null = null;
  killed = false;
  readonly stdout = new Emitter();
  readonly stderr = new Emitter();
  readonly stdin = null;

  constructor(program: string, args: readonly string[], options: object) {
    super();
    const started = now<Started>("spawn", { program, args, options });
    this.pid = started.pid;
    if (started.pid === undefined) {
      window.setTimeout(() => this.emit("error", Object.assign(missing(program), { errno: -2 })));
    } else {
      window.setTimeout(() => this.emit("spawn"));
      void this.follow(started.pid);
    }
  }

  private async follow(pid: number): Promise<void> {
    while (this.exitCode === null && this.signalCode === null) {
      for (const event of await soon<Event[]>("events", { pid })) this.take(event);
    }
  }

  private take(event: Event): void {
    if (event.name === "exit") {
      this.exitCode = event.code;
      if (event.code === null) this.signalCode = "SIGTERM";
      this.emit("exit", event.code, this.signalCode);
      this.emit("close", event.code, this.signalCode);
    } else {
      this[event.name].emit("data", event.text);
    }
  }

  kill(signal = "SIGTERM"): boolean {
    this.killed = true;
    void soon("kill", { pid: this.pid, signal });
    return true;
  }
}

interface ProcessParts {
  env: Record<string, string>;
}

/** `process` as a desktop plugin sees it. */
export function makeProcess(parts: ProcessParts): object {
  return {
    env: parts.env,
    platform: "linux",
    cwd: () => "/",
    kill: (pid: number, signal: string | number = "SIGTERM") => {
      const { found } = now<{ found: boolean }>("kill", { pid, signal });
      if (!found) throw Object.assign(new Error("kill ESRCH"), { code: "ESRCH" });
      return true;
    },
  };
}

/** Modules by name; null for one that is not played. */
export function nodeModule(name: string, parts: ProcessParts): object | null {
  const modules: Record<string, object> = {
    fs,
    "fs/promises": promises,
    path,
    os: { homedir: () => parts.env.HOME ?? "/", platform: () => "linux", EOL: "\n" },
    child_process: {
      spawn: (program: string, args: readonly string[] = [], options: object = {}) =>
        new Child(program, args, options),
    },
    process: makeProcess(parts),
  };
  return modules[name.replace(/^node:/, "")] ?? null;
}
