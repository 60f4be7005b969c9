import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/api/latest";
import { meta, type Coming, type Meta } from "../../src/api/wire";
import { asFault, fault } from "../../src/errors";
import { ModelWatch } from "../../src/settings/model_watch";
import { comingLine, modelLine } from "../../src/settings/model_words";
import type { SidecarState } from "../../src/sidecar/state";
import { Clock } from "./support/clock";
import { golden } from "./support/golden";

const agreed = meta(JSON.parse(golden("meta")), "");
const COMING: Coming = { model: "e5", dimension: 768, done: 1234, total: 5678 };

function withComing(coming: Coming | null): Meta {
  return { ...agreed, embedder: { ...agreed.embedder, coming } };
}

describe("the model in words", () => {
  test("what answers is told with its dimensions", () => {
    const embedder = { model: "e5", dimension: 768, coming: null };
    expect(modelLine(embedder, "1.2.3")).toBe("e5, 768 dimensions (Khiip 1.2.3)");
  });

  test("no model is told as none, not as one of no dimension", () => {
    const line = modelLine({ model: "none", dimension: 0, coming: null }, "1.2.3");
    expect(line).toBe("None: notes are found by their words (Khiip 1.2.3)");
  });

  test.each([
    [1234, 5678, "1,234 of 5,678 texts are read, 21%."],
    [0, 5678, "0 of 5,678 texts are read, 0%."],
    [5677, 5678, "5,677 of 5,678 texts are read, 99%."],
    [0, 0, "The notes are being read for it."],
  ])("%d of %d: what is on its way is told with how far it is", (done, total, said) => {
    const line = comingLine({ ...COMING, done, total });
    expect(line).toBe(`On its way: e5, 768 dimensions. ${said}`);
  });
});

test("a service that says nothing of a model on its way has none", () => {
  const older = { ...agreed, embedder: { model: "e5", dimension: 768 } };
  expect(meta(older, "").embedder.coming).toBeNull();
});

const ready: SidecarState = {
  kind: "ready",
  counts: { notes: 1, problems: 0, generation: 1 },
  reason: null,
};

function indexing(percent: number): SidecarState {
  const counts = { notes: 1, problems: 0, generation: 1 };
  return { kind: "indexing", counts, percent, secondsLeft: null };
}

/** A watch whose questions are answered by `answers` in turn, the last one again and again. */
function desk(...answers: (Meta | Error)[]) {
  const clock = new Clock();
  const asked: number[] = [];
  const shown: string[] = [];
  let tell: ((state: SidecarState) => void) | null = null;
  const watch = new ModelWatch({
    meta: () => {
      const given = answers[Math.min(asked.length, answers.length - 1)] ?? agreed;
      asked.push(clock.now);
      return given instanceof Error ? Promise.reject(given) : Promise.resolve(given);
    },
    listen: (listener) => {
      tell = listener;
      listener(ready);
      return () => {
        tell = null;
      };
    },
    later: clock.later,
    show: (outcome: Outcome<Meta>) => {
      if (!outcome.ok) shown.push(asFault(outcome.error).kind);
      else shown.push(String(outcome.answer.embedder.coming?.done ?? "none"));
    },
  });
  return { clock, watch, asked, shown, tell: (state: SidecarState) => tell?.(state) };
}

describe("the model is asked for", () => {
  test("every two seconds while another is on its way, and then no more", async () => {
    const { clock, watch, asked, shown } = desk(
      withComing(COMING),
      withComing({ ...COMING, done: 2000 }),
      withComing(null),
    );
    watch.start();
    await clock.pass(60_000);
    expect(shown).toEqual(["1234", "2000", "none"]);
    expect(asked).toEqual([0, 2000, 4000]);
    expect(clock.pending).toBe(0);
    watch.stop();
  });

  test("when the state changes, but not with every event of a run", async () => {
    const { clock, watch, asked, tell } = desk(agreed);
    watch.start();
    await clock.pass(1000);
    for (let percent = 0; percent < 100; percent += 1) {
      tell(indexing(percent));
      await clock.pass(250);
    }
    expect(asked).toHaveLength(2);
    tell({ ...ready, counts: { notes: 1, problems: 0, generation: 2 } });
    await clock.pass(0);
    expect(asked).toHaveLength(3);
    watch.stop();
  });

  test("again a while after it could not be told", async () => {
    const { clock, watch, asked, shown } = desk(fault("offline"), withComing(null));
    watch.start();
    await clock.pass(9000);
    expect(asked).toHaveLength(1);
    await clock.pass(60_000);
    expect(shown).toEqual(["offline", "none"]);
    watch.stop();
  });

  test("no more once the page is gone, whatever is in flight", async () => {
    const { clock, watch, asked, shown, tell } = desk(withComing(COMING));
    watch.start();
    watch.stop();
    tell(indexing(1));
    await clock.pass(60_000);
    expect(asked).toHaveLength(1);
    expect(shown).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
