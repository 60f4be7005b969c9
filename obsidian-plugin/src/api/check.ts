/** Small checks that turn unknown JSON into typed values, or say what is wrong where. */

/** The answer is not what was agreed on; `at` is the place in it, such as `results.3.score`. */
export class NotAsAgreed extends Error {
  constructor(at: string, wanted: string) {
    super(`${at || "the answer"} is not ${wanted}`);
    this.name = "NotAsAgreed";
  }
}

/** Gives the value back with its type, or throws NotAsAgreed. */
export type Check<T> = (value: unknown, at: string) => T;

/** What a check gives. */
export type Checked<C> = C extends Check<infer T> ? T : never;

export const text: Check<string> = (value, at) => {
  if (typeof value !== "string") throw new NotAsAgreed(at, "text");
  return value;
};

export const number: Check<number> = (value, at) => {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new NotAsAgreed(at, "a number");
  return value;
};

export const flag: Check<boolean> = (value, at) => {
  if (typeof value !== "boolean") throw new NotAsAgreed(at, "true or false");
  return value;
};

/** A value that may be null; one that is missing counts as null, as older services leave it out. */
export function perhaps<T>(check: Check<T>): Check<T | null> {
  return (value, at) => (value === null || value === undefined ? null : check(value, at));
}

/** A value with a stand-in for when it is missing or null. */
export function orElse<T>(check: Check<T>, otherwise: T): Check<T> {
  return (value, at) => (value === null || value === undefined ? otherwise : check(value, at));
}

/** A list of which every item passes. */
export function list<T>(check: Check<T>): Check<T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw new NotAsAgreed(at, "a list");
    return value.map((item: unknown, index) => check(item, under(at, String(index))));
  };
}

/** An object with these fields; more may be there, since the service's lists are append-only. */
export function record<F extends Record<string, Check<unknown>>>(
  fields: F,
): Check<{ [K in keyof F]: Checked<F[K]> }> {
  const checks = Object.entries(fields) as [keyof F, Check<unknown>][];
  return (value, at) => {
    if (!isObject(value)) throw new NotAsAgreed(at, "an object");
    const found = checks.map(([name, check]) => [
      name,
      check(value[String(name)], under(at, String(name))),
    ]);
    return Object.fromEntries(found) as { [K in keyof F]: Checked<F[K]> };
  };
}

/** Two values in their order, such as the start and end of a range. */
export function pair<A, B>(first: Check<A>, second: Check<B>): Check<[A, B]> {
  return (value, at) => {
    if (!Array.isArray(value) || value.length !== 2) throw new NotAsAgreed(at, "a pair");
    return [first(value[0], under(at, "0")), second(value[1], under(at, "1"))];
  };
}

/** Whether a value is an object with names. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function under(at: string, name: string): string {
  return at ? `${at}.${name}` : name;
}
