/** Everything that can go wrong, as one plain line with what to do: the only table of it. */

import { NotAsAgreed } from "./api/check";
import type { ErrorBody } from "./api/wire";

export type FaultKind =
  | "offline"
  | "slow"
  | "no_key"
  | "unauthorized"
  | "other_vault"
  | "unconfirmed"
  | "indexing"
  | "refused"
  | "server"
  | "garbled";

/** A failure that a person can be told of. */
export class Fault extends Error {
  constructor(
    readonly kind: FaultKind,
    line: string,
    readonly help: string,
  ) {
    super(line);
    this.name = "Fault";
  }
}

const TABLE: Record<FaultKind, readonly [line: string, help: string]> = {
  offline: ["Khiip is not running.", "Start the sidecar, then try again."],
  slow: ["Khiip does not answer.", "It may be busy; try again in a moment."],
  no_key: ["The key is missing.", "Paste it in the settings; khiipd auth show prints it."],
  unauthorized: [
    "The key is not the right one.",
    "Paste it in the settings; khiipd auth show prints it.",
  ],
  other_vault: [
    "Another vault's sidecar answers at this address.",
    "Start one for this vault on another port, and set its address.",
  ],
  unconfirmed: [
    "Is this the sidecar of this vault?",
    "It answers, and nothing in the vault names it. Until you say so it is sent no key, and not searched.",
  ],
  indexing: ["Khiip is still indexing.", "Results come as soon as the first notes are read."],
  refused: ["Khiip cannot do this.", "Change the search and try again."],
  server: [
    "Something went wrong in Khiip.",
    "Its log says more; khiipd doctor may find the cause.",
  ],
  garbled: [
    "The answer was not understood.",
    "Something else may be using this address, or the versions do not fit.",
  ],
};

const NOT_READY = new Set(["index_warming", "index_missing", "index_of_other_model"]);

/** A fault of a kind, with its own line and help where it has better ones. */
export function fault(kind: FaultKind, line?: string | null, help?: string | null): Fault {
  const [usual, advice] = TABLE[kind];
  return new Fault(kind, line ?? usual, help ?? advice);
}

/** The fault behind an answer that is not a success; `body` is null when it was no error of ours. */
export function faultOfAnswer(status: number, body: ErrorBody | null): Fault {
  if (status === 401) return fault("unauthorized");
  if (body && status === 503 && NOT_READY.has(body.error)) return fault("indexing");
  // What cannot be done just now (a drive that is away, a full disk) is no fault of Khiip's.
  if (body && status === 503) return fault("server", body.detail, body.hint);
  if (body && status >= 500 && status !== 501) {
    return fault("server", `Something went wrong in Khiip: ${body.detail}`, body.hint);
  }
  if (body) return fault("refused", body.detail, body.hint);
  return fault(status >= 500 ? "server" : "garbled");
}

/** Any thrown thing as a fault. */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  if (thrown instanceof NotAsAgreed || thrown instanceof SyntaxError) return fault("garbled");
  return fault("server", "Something went wrong in the plugin.", messageOf(thrown));
}

/** The message of a thrown thing. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Whether two faults say the same, so that one is told once. */
export function sameFault(one: Fault | null, other: Fault | null): boolean {
  return one?.kind === other?.kind && one?.message === other?.message;
}
