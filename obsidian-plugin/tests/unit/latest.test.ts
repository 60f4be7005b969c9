import { expect, test } from "vitest";
import { Latest, type Outcome } from "../../src/api/latest";
import { turns } from "./support/clock";

function desk() {
  const asked: { question: string; answer: (text: string) => void; fail: () => void }[] = [];
  const told: [string, Outcome<string>][] = [];
  const latest = new Latest<string, string>(
    (question) =>
      new Promise((resolve, reject) => {
        const fail = (): void => {
          reject(new Error("gone"));
        };
        asked.push({ question, answer: resolve, fail });
      }),
    (question, outcome) => told.push([question, outcome]),
  );
  return { asked, told, latest };
}

test("one question is in flight, and of those that wait the newest is asked", async () => {
  const { asked, told, latest } = desk();
  for (const question of ["a", "ab", "abc"]) latest.want(question);
  expect(asked.map((each) => each.question)).toEqual(["a"]);
  asked[0]?.answer("old");
  await turns();
  expect(asked.map((each) => each.question)).toEqual(["a", "abc"]);
  asked[1]?.answer("new");
  await turns();
  expect(told).toEqual([["abc", { ok: true, answer: "new" }]]);
});

test("what is forgotten is never told, and what is wanted after it is", async () => {
  const { asked, told, latest } = desk();
  latest.want("a");
  latest.forget();
  asked[0]?.answer("late");
  await turns();
  expect(told).toEqual([]);
  latest.want("b");
  asked[1]?.answer("answer");
  await turns();
  expect(told.map(([question]) => question)).toEqual(["b"]);
  expect(latest.busy).toBe(false);
});

test("a failure is told like an answer, and does not stop what comes after", async () => {
  const { asked, told, latest } = desk();
  latest.want("a");
  asked[0]?.fail();
  await turns();
  expect(told[0]?.[1].ok).toBe(false);
  latest.want("b");
  asked[1]?.answer("fine");
  await turns();
  expect(told[1]?.[1]).toEqual({ ok: true, answer: "fine" });
});
