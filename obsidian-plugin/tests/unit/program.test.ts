import { expect, test } from "vitest";
import type { Child, Desktop } from "../../src/sidecar/desktop";
import { findProgram, Program } from "../../src/sidecar/program";
import { Starter } from "../../src/sidecar/starter";
import type { SidecarState } from "../../src/sidecar/state";
import { Clock, turns } from "./support/clock";

class FakeChild implements Child {
  killed = 0;
  say: (piece: string) => void = () => undefined;
  exit: (code: number | null) => void = () => undefined;
  fail: (error: Error) => void = () => undefined;
  stderr = {
    on: (_event: "data", heard: (piece: unknown) => void) => {
      this.say = heard;
    },
  };

  on(event: "exit" | "error", heard: (value: never) => void): void {
    if (event === "exit") this.exit = heard as (code: number | null) => void;
    else this.fail = heard as (error: Error) => void;
  }

  kill(): boolean {
    this.killed += 1;
    return true;
  }
}

function desktop(files: string[] = ["/usr/bin/khiipd"]) {
  const children: FakeChild[] = [];
  const spawned: string[][] = [];
  const fake: Desktop = {
    env: { PATH: "/usr/bin" },
    windows: false,
    home: "/home/ada",
    read: () => Promise.resolve(null),
    isFile: (path) => Promise.resolve(files.includes(path)),
    spawn: (program, args) => {
      spawned.push([program, ...args]);
      const child = new FakeChild();
      children.push(child);
      return child;
    },
  };
  return { fake, children, spawned };
}

const never = new Promise<void>(() => undefined);

test("the set path counts alone, with the home written out", async () => {
  const { fake } = desktop(["/home/ada/bin/khiipd", "/usr/bin/khiipd"]);
  expect(await findProgram(fake, "~/bin/khiipd")).toBe("/home/ada/bin/khiipd");
  expect(await findProgram(fake, "/nowhere/khiipd")).toBeNull();
  expect(await findProgram(fake, "")).toBe("/usr/bin/khiipd");
});

test.each([
  [6, /port is in use/u],
  [5, /another process/iu],
  [1, /ended at once/u],
])("exit %i says why", async (code, line) => {
  const { fake, children } = desktop();
  const ended: number[] = [];
  const program = new Program(fake, () => ended.push(1));
  const start = program.start("khiipd", [], never);
  children[0]?.say("one\nthe last words\n");
  children[0]?.exit(code);
  await expect(start).rejects.toThrow(line);
  expect(program.running).toBe(false);
  expect(ended).toEqual([1]);
});

test("a program that cannot be started is told", async () => {
  const { fake, children } = desktop();
  const start = new Program(fake, () => undefined).start("khiipd", [], never);
  children[0]?.fail(new Error("EACCES"));
  await expect(start).rejects.toMatchObject({ help: "EACCES" });
});

test("only what was started here is stopped, and a late end is no unhandled failure", async () => {
  const { fake, children } = desktop();
  const program = new Program(fake, () => undefined);
  program.stop();
  await program.start("khiipd", [], Promise.resolve());
  expect(program.running).toBe(true);
  await program.start("khiipd", [], Promise.resolve());
  expect(children).toHaveLength(1);
  program.stop();
  expect(children[0]?.killed).toBe(1);
  children[0]?.exit(0);
  expect(program.running).toBe(false);
});

function starter(files?: string[], first: SidecarState = { kind: "unknown" }) {
  const clock = new Clock();
  const { fake, children, spawned } = desktop(files);
  const listeners = new Set<(state: SidecarState) => void>();
  const made = new Starter({
    desktop: () => Promise.resolve(fake),
    folder: "/vaults/Notes",
    program: () => "",
    address: () => Promise.resolve("http://127.0.0.1:9000"),
    monitor: {
      listen: (listener) => {
        listeners.add(listener);
        listener(first);
        return () => listeners.delete(listener);
      },
      restart: () => undefined,
      wake: () => undefined,
    },
    later: clock.later,
  });
  const become = (state: SidecarState): void => {
    for (const listener of listeners) listener(state);
  };
  return { clock, children, spawned, made, become, listeners };
}

test("a start is done when somebody answers, and leaves nothing behind", async () => {
  const { clock, spawned, made, become, listeners } = starter();
  const start = made.start();
  await turns();
  expect(spawned[0]?.slice(0, 4)).toEqual(["/usr/bin/khiipd", "--vault", "/vaults/Notes", "serve"]);
  become({ kind: "warming", counts: { notes: 0, problems: 0, generation: 0 } });
  await start;
  expect(made.running).toBe(true);
  expect(clock.pending).toBe(0);
  expect(listeners.size).toBe(0);
});

test("where somebody answers already, nothing is waited for", async () => {
  const counts = { notes: 0, problems: 0, generation: 0 };
  const { clock, made, listeners } = starter(undefined, { kind: "ready", counts, reason: null });
  await made.start();
  expect(clock.pending).toBe(0);
  expect(listeners.size).toBe(0);
});

test("a start that nobody answers is given up after a minute", async () => {
  const { clock, made } = starter();
  const start = made.start();
  start.catch(() => undefined);
  await clock.pass(61_000);
  await expect(start).rejects.toMatchObject({ kind: "slow" });
});

test("without the program nothing is started, and it is said what to do", async () => {
  const { made, spawned } = starter([]);
  expect(await made.canStart()).toBe(false);
  await expect(made.start()).rejects.toThrow(/not found/u);
  expect(spawned).toEqual([]);
  expect(() => {
    made.stop();
  }).toThrow(/started from here/u);
});
