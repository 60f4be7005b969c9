/** `expect`, with a `poll` that works where tests stand side by side, and waits longer. */
import { expect as plain } from "vitest";

type Poll = typeof plain.poll;
type Matchers = ReturnType<Poll>;
interface Patience {
  timeout?: number;
  interval?: number;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function until(check: () => Promise<void>, patience: Patience): Promise<void> {
  const end = Date.now() + (patience.timeout ?? 5000);
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause(patience.interval ?? 50);
    }
  }
}

function poll(look: () => unknown, patience: Patience = {}, not = false): Matchers {
  const matcher =
    (name: string) =>
    (...wanted: unknown[]) =>
      until(async () => {
        const value = plain(await look());
        const side = (not ? value.not : value) as unknown as Record<string, Matcher>;
        side[name]?.(...wanted);
      }, patience);
  return new Proxy({} as Matchers, {
    get: (_target, name) => (name === "not" ? poll(look, patience, true) : matcher(String(name))),
  });
}

type Matcher = (...wanted: unknown[]) => void;

const call = <T>(value: T, message?: string) => plain(value, message);

export const expect = Object.assign(call, {
  poll: poll as Poll,
  testName: () => plain.getState().currentTestName ?? "test",
});
