/** Asks the sidecar: one method for each thing, typed answers, faults of one kind. */

import { asFault, fault, faultOfAnswer, type Fault } from "../errors";
import { urlOf, type Params } from "./address";
import type { Check } from "./check";
import * as wire from "./wire";

/** One answer over HTTP, as text. */
export interface Answer {
  status: number;
  text: string;
}

/** Sends one request; rejects when nobody answers. */
export type Transport = (request: {
  url: string;
  method: string;
  headers: Record<string, string>;
}) => Promise<Answer>;

/** Where to ask, and with which key. */
export interface Target {
  address: string;
  key: string | null;
}

/** Runs something later; gives a function that calls it off. */
export type Later = (run: () => void, milliseconds: number) => () => void;

/**
 * What a client needs from outside. `target` rejects with a fault when there is nobody to ask;
 * `failed` is told of every fault.
 */
export interface ClientParts {
  send: Transport;
  target: () => Promise<Target>;
  failed: (fault: Fault) => void;
  later: Later;
}

const PATIENCE = 15_000;

/** The sidecar's verbs. */
export class Client {
  constructor(private readonly parts: ClientParts) {}

  /** Hits for a search. */
  recall(params: Params): Promise<wire.Hits> {
    return this.get(wire.PATHS.recall, params, wire.hits);
  }

  /** Notes near the note at a path. */
  related(path: string, limit: number): Promise<wire.Hits> {
    const params = { path, limit, view: "lean", excerpt_chars: 200 };
    return this.get(wire.PATHS.related, params, wire.hits);
  }

  /** A page of entities by momentum. */
  overview(limit: number, offset: number): Promise<wire.Overview> {
    return this.get(wire.PATHS.recall, { limit, offset }, wire.overview);
  }

  /** What the note at a path went through. */
  history(path: string): Promise<wire.History> {
    return this.get(wire.PATHS.recall, { path }, wire.history);
  }

  /** What indexing does, and the problems. */
  index(): Promise<wire.IndexState> {
    return this.get(wire.PATHS.index, {}, wire.indexState);
  }

  /** Version, vault and model. */
  meta(): Promise<wire.Meta> {
    return this.get(wire.PATHS.meta, {}, wire.meta);
  }

  /** One capture, by its id. */
  capture(id: string): Promise<wire.Capture> {
    return this.get(wire.capturePath(id), {}, wire.capture);
  }

  /** Have the vault read again in the background. */
  async reindex(): Promise<void> {
    await this.ask("POST", wire.PATHS.index, {});
  }

  /** Tell that a capture was opened. */
  async access(id: string): Promise<void> {
    await this.ask("POST", wire.accessPath(id), {});
  }

  private async get<T>(path: string, params: Params, check: Check<T>): Promise<T> {
    const body = await this.ask("GET", path, params);
    return parsed(body, check);
  }

  private async ask(method: string, path: string, params: Params): Promise<string> {
    try {
      return await this.send(method, path, params);
    } catch (thrown) {
      const failure = asFault(thrown);
      this.parts.failed(failure);
      throw failure;
    }
  }

  private async send(method: string, path: string, params: Params): Promise<string> {
    const target = await this.parts.target();
    const headers: Record<string, string> = { Accept: "application/json" };
    if (target.key !== null) headers.Authorization = `Bearer ${target.key}`;
    return successOf(
      await sendInTime(this.parts, { url: urlOf(target.address, path, params), method, headers }),
    );
  }
}

/** Health, which needs no key: who is there is known before any key is sent. */
export async function askHealth(
  parts: Pick<ClientParts, "send" | "later">,
  address: string,
): Promise<wire.Health> {
  const url = urlOf(address, wire.PATHS.health);
  const answer = await sendInTime(parts, { url, method: "GET", headers: {} });
  return parsed(successOf(answer), wire.health);
}

/** Text as JSON of an agreed form; throws a fault when it is not. */
export function parsed<T>(body: string, check: Check<T>): T {
  try {
    return check(JSON.parse(body), "");
  } catch {
    // Whatever is wrong with it, there is one thing to say.
    throw fault("garbled");
  }
}

function successOf(answer: Answer): string {
  if (answer.status >= 200 && answer.status < 300) return answer.text;
  throw faultOfAnswer(answer.status, errorIn(answer.text));
}

function errorIn(body: string): wire.ErrorBody | null {
  try {
    return wire.errorBody(JSON.parse(body), "");
  } catch {
    return null; // a proxy's page, or nothing: the status alone speaks
  }
}

function sendInTime(
  parts: Pick<ClientParts, "send" | "later">,
  request: Parameters<Transport>[0],
): Promise<Answer> {
  return new Promise((resolve, reject: (reason: Fault) => void) => {
    const stop = parts.later(() => {
      reject(fault("slow"));
    }, PATIENCE);
    parts.send(request).then(
      (answer) => {
        stop();
        resolve(answer);
      },
      () => {
        stop();
        reject(fault("offline"));
      },
    );
  });
}
