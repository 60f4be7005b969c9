import { expect, test } from "vitest";
import { EventParser, NoStream, type StreamEvent } from "../../src/api/events";
import { health, indexState } from "../../src/api/wire";
import { fault } from "../../src/errors";
import { Monitor, type MonitorParts } from "../../src/sidecar/monitor";
import { shortLabel } from "../../src/sidecar/state";
import { Clock } from "./support/clock";
import { golden } from "./support/golden";

const well = health(JSON.parse(golden("health")), "");
const index = indexState(JSON.parse(golden("index")), "");
const target = { address: "http://127.0.0.1:8478", key: "k" };

function desk(parts: Partial<MonitorParts> = {}) {
  const clock = new Clock();
  let heard: ((event: StreamEvent) => void) | null = null;
  let end: ((error?: Error) => void) | null = null;
  const looks: number[] = [];
  const monitor = new Monitor({
    connection: {
      look: () => {
        looks.push(clock.now);
        return Promise.resolve({ health: well, target });
      },
      reset: () => undefined,
    },
    client: { index: () => Promise.resolve(index) },
    follow: (_url, _key, signal, { event }) => {
      heard = event;
      return new Promise((resolve, reject) => {
        end = (error) => {
          if (error) reject(error);
          else resolve();
        };
        signal.addEventListener("abort", () => {
          reject(new Error("aborted"));
        });
      });
    },
    later: clock.later,
    ...parts,
  });
  const labels: string[] = [];
  monitor.listen((state) => labels.push(shortLabel(state)));
  const tell = (data: object): void => {
    heard?.({ name: "progress", data: JSON.stringify({ ...index, ...data }) });
  };
  return { clock, monitor, labels, looks, tell, end: () => end?.(), raw: () => heard };
}

test("events move the state, and one that is not understood is passed over", async () => {
  const { clock, monitor, labels, tell, raw } = desk();
  monitor.start();
  await clock.pass(10);
  tell({ state: "indexing", done: 40, total: 100 });
  raw()?.({ name: "progress", data: "{not json" });
  raw()?.({ name: "error", data: "{}" });
  tell({ state: "ready" });
  expect(labels).toEqual(["connecting", "ready", "indexing 40%", "ready"]);
  monitor.stop();
});

test("a stream that ends is looked after at once, a silent one is given up", async () => {
  const { clock, monitor, looks, end } = desk();
  monitor.start();
  await clock.pass(10);
  end();
  await clock.pass(400);
  expect(looks).toHaveLength(2);
  await clock.pass(46_000);
  expect(looks).toHaveLength(3);
  monitor.stop();
});

test("where there is no stream, the state is polled, faster while it moves", async () => {
  const asked: number[] = [];
  const { clock, monitor } = desk({
    follow: () => Promise.reject(new NoStream("no")),
    client: {
      index: () => {
        asked.push(1);
        const state = asked.length < 3 ? "indexing" : "ready";
        return Promise.resolve({ ...index, state, done: 1, total: 2 });
      },
    },
  });
  monitor.start();
  await clock.pass(4000);
  expect(asked).toHaveLength(3);
  await clock.pass(9000);
  expect(asked).toHaveLength(4);
  monitor.stop();
});

test("while nobody answers it is tried ever more rarely, at once when a person waits", async () => {
  const looks: number[] = [];
  const { clock, monitor, labels } = desk({
    connection: {
      look: () => {
        looks.push(1);
        return Promise.reject(fault("offline"));
      },
      reset: () => undefined,
    },
  });
  monitor.start();
  await clock.pass(60_000);
  expect(looks.length).toBeGreaterThan(4);
  expect(looks.length).toBeLessThan(9);
  const before = looks.length;
  monitor.wake();
  await clock.pass(0);
  expect(looks).toHaveLength(before + 1);
  expect(labels).toEqual(["connecting", "offline"]);
  monitor.stop();
  await clock.pass(100_000);
  expect(clock.pending).toBe(0);
});

test("events that come in pieces are put together", () => {
  const parser = new EventParser();
  const text = ': still here\n\nevent: progress\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: last\n\n';
  const found: StreamEvent[] = [];
  for (const piece of text.match(/[\s\S]{1,5}/gu) ?? []) found.push(...parser.push(piece));
  expect(found).toEqual([
    { name: "progress", data: '{"a":\n1}' },
    { name: "message", data: "last" },
  ]);
});
