/** Server-sent events, read by fetch: EventSource cannot send a key, requestUrl cannot stream. */

import { messageOf } from "../errors";

/** One event of a stream. */
export interface StreamEvent {
  name: string;
  data: string;
}

/** Puts events together from pieces of text; pure but for what it waits for. */
export class EventParser {
  private rest = "";

  /** The events that are whole after one more piece. */
  push(piece: string): StreamEvent[] {
    const text = this.rest + piece;
    // The second half of a line end may be in the next piece.
    const held = text.endsWith("\r") ? "\r" : "";
    const whole = held ? text.slice(0, -1) : text;
    const blocks = whole.replace(/\r\n?/gu, "\n").split("\n\n");
    this.rest = (blocks.pop() ?? "") + held;
    return blocks.map(eventOf).filter((event) => event !== null);
  }
}

function eventOf(block: string): StreamEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [field, value] = fieldOf(line);
    if (field === "event") name = value;
    if (field === "data") data.push(value);
  }
  return data.length > 0 ? { name, data: data.join("\n") } : null;
}

function fieldOf(line: string): [field: string, value: string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /u, "")];
}

/** A stream that cannot be followed here: polling has to do. */
export class NoStream extends Error {}

/**
 * Tells every event of a stream until it ends or `signal` ends it. `alive` is called with every
 * piece, comments too. Throws NoStream when it cannot begin.
 */
export async function followEvents(
  url: string,
  key: string,
  signal: AbortSignal,
  heard: { event: (event: StreamEvent) => void; alive: () => void },
): Promise<void> {
  const reader = await openStream(url, key, signal);
  const parser = new EventParser();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard.alive();
    parser.push(decoder.decode(value, { stream: true })).forEach(heard.event);
  }
}

async function openStream(
  url: string,
  key: string,
  signal: AbortSignal,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const headers = { Authorization: `Bearer ${key}`, Accept: "text/event-stream" };
  let answer: Response;
  try {
    answer = await window.fetch(url, { headers, signal, redirect: "error" });
  } catch (error) {
    throw new NoStream(messageOf(error));
  }
  if (!answer.ok || !answer.body) throw new NoStream(`the stream answered ${answer.status}`);
  return answer.body.getReader();
}
