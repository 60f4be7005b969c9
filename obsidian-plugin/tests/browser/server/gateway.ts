/** Stands before the sidecar: passes on, writes down, and goes wrong when it is told to. */
import http from "node:http";
import type { AddressInfo } from "node:net";

export interface Ask {
  method: string;
  path: string;
  params: URLSearchParams;
  headers: http.IncomingHttpHeaders;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown;
  /** Milliseconds to wait before the answer. */
  delay?: number;
  /** Close the connection with no answer. */
  drop?: boolean;
  /** Parts of a stream that stays open. */
  stream?: string[];
}

export interface Line extends Ask {
  began: number;
  ended: number | null;
  status: number | null;
}

/** Answers in the sidecar's place; undefined leaves it to the next, or to the sidecar. */
export type Fake = (ask: Ask) => Answer | undefined;

const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export class Gateway {
  readonly log: Line[] = [];
  fakes: Fake[] = [];
  private readonly server = http.createServer((request, response) => {
    void this.serve(request, response);
  });
  private readonly streams = new Set<http.ServerResponse>();
  private port = 0;

  /** `target` is the real sidecar's address; without one, what no fake answers is a 404. */
  constructor(public target: string | null) {}

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  /** Listen, on the same port as before if there was one. */
  async up(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(this.port, "127.0.0.1", done));
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Be gone, as a process that died. */
  async down(): Promise<void> {
    if (!this.server.listening) return;
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** Put a fake in front of the others. */
  fake(fake: Fake): void {
    this.fakes.unshift(fake);
  }

  /** Send a part to every open stream that a fake began. */
  tell(part: string): void {
    for (const response of this.streams) response.write(part);
  }

  asked(path: string): Line[] {
    return this.log.filter((line) => line.path === path);
  }

  /** How many questions wait for their answer; streams do not count. */
  open(): number {
    return this.log.filter((line) => line.ended === null && !line.path.endsWith("/events")).length;
  }

  /** The most requests to a path that were under way at one time. */
  mostAtOnce(path: string): number {
    const lines = this.asked(path);
    const during = (at: number): number =>
      lines.filter((line) => line.began <= at && (line.ended ?? Infinity) > at).length;
    return Math.max(0, ...lines.map((line) => during(line.began)));
  }

  private async serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://gateway");
    const ask: Ask = {
      method: request.method ?? "GET",
      path: url.pathname,
      params: url.searchParams,
      headers: request.headers,
    };
    const line: Line = { ...ask, began: performance.now(), ended: null, status: null };
    this.log.push(line);
    response.on("close", () => {
      line.ended = performance.now();
      line.status = response.headersSent ? response.statusCode : null;
    });
    const answer = this.answerOf(ask);
    if (answer) await this.send(answer, ask, response);
    else if (this.target) this.pass(request, response, this.target);
    else
      this.write(response, ask, { status: 404, body: { detail: "Not here.", error: "not_found" } });
  }

  private answerOf(ask: Ask): Answer | undefined {
    for (const fake of this.fakes) {
      const answer = fake(ask);
      if (answer) return answer;
    }
    return undefined;
  }

  private async send(answer: Answer, ask: Ask, response: http.ServerResponse): Promise<void> {
    if (answer.delay) await wait(answer.delay);
    if (answer.drop) {
      response.socket?.destroy();
      return;
    }
    const passOn = answer.status === undefined && answer.body === undefined && !answer.stream;
    if (passOn && this.target) this.pass(response.req, response, this.target);
    else this.write(response, ask, answer);
  }

  private write(response: http.ServerResponse, ask: Ask, answer: Answer): void {
    const origin = ask.headers.origin;
    const cors = origin ? { "access-control-allow-origin": origin, vary: "Origin" } : {};
    const preflight = ask.method === "OPTIONS";
    const allow = { "access-control-allow-headers": "Authorization, Content-Type" };
    const type = answer.stream ? "text/event-stream" : "application/json";
    response.writeHead(preflight ? 204 : (answer.status ?? 200), {
      "content-type": type,
      ...cors,
      ...(preflight ? allow : {}),
      ...answer.headers,
    });
    if (answer.stream && !preflight) {
      for (const part of answer.stream) response.write(part);
      this.streams.add(response);
      response.on("close", () => this.streams.delete(response));
      return;
    }
    const { body } = answer;
    response.end(
      preflight || body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body),
    );
  }

  private pass(request: http.IncomingMessage, response: http.ServerResponse, target: string): void {
    const { host, port } = new URL(target);
    const headers = { ...request.headers, host };
    const onward = http.request(
      { host: "127.0.0.1", port, method: request.method, path: request.url, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        response.on("close", () => answer.destroy());
      },
    );
    onward.on("error", () => response.socket?.destroy());
    request.pipe(onward);
  }
}
