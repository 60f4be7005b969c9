/** The page's server: the stand-in, the plugin, the vault's files, and `requestUrl`. */
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { buildStandIn } from "./build";
import { Processes } from "./processes";

export const PLUGIN = path.resolve(import.meta.dirname, "../../..");

export interface HouseParts {
  vault: string;
  /** The plugin's `data.json` as it is found, null for a new install. */
  data: unknown;
  /** Files of the vault that are not as on disk; null: not there. */
  overlay: Record<string, string | null>;
  mobile: boolean;
  noSecrets: boolean;
  secrets: Record<string, string>;
  env: Record<string, string>;
  /** Folders that the plugin may read by Node, beside the vault. */
  readable: string[];
  theme: "light" | "dark";
  /** Another script in place of the built plugin. */
  main: string | null;
}

interface Proxied {
  url: string;
  method?: string;
  body?: string;
  headers?: Record<string, string>;
  contentType?: string;
}

interface Listed {
  path: string;
  ctime: number;
  mtime: number;
  size: number;
}

function listed(vault: string): Listed[] {
  const entries = fs.readdirSync(vault, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => {
    const full = path.join(entry.parentPath, entry.name);
    const relative = path.relative(vault, full);
    const hidden = relative.split(path.sep).some((part) => part.startsWith("."));
    if (hidden || !entry.isFile()) return [];
    const { ctimeMs, mtimeMs, size } = fs.statSync(full);
    return [{ path: relative, ctime: ctimeMs, mtime: mtimeMs, size }];
  });
}

/** Notes that are in the overlay alone. */
function laidOver(overlay: Record<string, string | null>, known: Listed[]): Listed[] {
  const paths = new Set(known.map((each) => each.path));
  return Object.entries(overlay).flatMap(([name, text]) =>
    text === null || paths.has(name) || name.startsWith(".")
      ? []
      : [{ path: name, ctime: 0, mtime: 0, size: text.length }],
  );
}

async function bodyOf(request: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

/** One request as Obsidian sends it: no Origin, no cookies, nothing of a browser's. */
function proxied(ask: Proxied): Promise<object> {
  return new Promise((done) => {
    const headers = {
      ...(ask.contentType ? { "content-type": ask.contentType } : {}),
      ...ask.headers,
    };
    const request = http.request(ask.url, { method: ask.method ?? "GET", headers }, (response) => {
      void bodyOf(response).then(
        (text) => {
          done({ status: response.statusCode, headers: response.headers, text });
        },
        () => {
          done({ error: "net::ERR_CONNECTION_RESET" });
        },
      );
    });
    request.on("error", () => {
      done({ error: "net::ERR_CONNECTION_REFUSED" });
    });
    request.end(ask.body);
  });
}

const PAGE = (theme: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sample - Obsidian</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/theme.css">
<link rel="stylesheet" href="/styles.css"></head>
<body class="theme-${theme} mod-linux"><script src="/stand-in.js"></script></body></html>`;

export class House {
  /** Every `data.json` that was written. */
  readonly saved: unknown[] = [];
  /** Every path of the vault that was written or deleted. */
  readonly written: string[] = [];
  /** URLs that went out through requestUrl. */
  readonly requested: Proxied[] = [];
  readonly processes: Processes;
  private data: unknown;
  private port = 0;
  private readonly server = http.createServer((request, response) => {
    void this.serve(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });

  constructor(readonly parts: HouseParts) {
    this.data = parts.data;
    this.processes = new Processes([parts.vault, ...parts.readable], parts.env);
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  async open(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await this.processes.end();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  private async serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://house");
    const page = await this.page(url.pathname);
    if (page) {
      response.writeHead(200, { "content-type": page.type, "cache-control": "no-store" });
      response.end(page.text);
      return;
    }
    const answer = await this.answer(request, url);
    const found = answer !== undefined;
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(found ? answer : null));
  }

  private async page(name: string): Promise<{ type: string; text: string } | null> {
    const css = (file: string): { type: string; text: string } => ({
      type: "text/css; charset=utf-8",
      text: fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "",
    });
    if (name === "/") return { type: "text/html; charset=utf-8", text: PAGE(this.parts.theme) };
    if (name === "/theme.css") return css(path.join(import.meta.dirname, "theme.css"));
    if (name === "/styles.css") return css(path.join(PLUGIN, "styles.css"));
    if (name === "/stand-in.js") return { type: "text/javascript", text: await buildStandIn() };
    return null;
  }

  private async answer(request: http.IncomingMessage, url: URL): Promise<unknown> {
    const route = url.pathname;
    if (route === "/boot") return this.boot();
    if (route === "/data.json") return this.dataFile(request);
    if (route === "/vault/file") return this.file(request, url);
    if (route === "/vault/folder") return this.folder(url.searchParams.get("path") ?? "");
    const body = JSON.parse((await bodyOf(request)) || "{}") as Record<string, unknown>;
    if (route === "/proxy") {
      this.requested.push(body as unknown as Proxied);
      return proxied(body as unknown as Proxied);
    }
    if (route.startsWith("/node/")) return this.processes.handle(route.slice(6), body);
    return undefined;
  }

  private boot(): object {
    const { vault, mobile, noSecrets, secrets, env } = this.parts;
    const read = (file: string): string => fs.readFileSync(file, "utf8");
    const config = path.join(vault, ".obsidian/app.json");
    const onDisk = listed(vault);
    return {
      vaultName: path.basename(vault),
      listed: [...onDisk, ...laidOver(this.parts.overlay, onDisk)],
      config: fs.existsSync(config) ? (JSON.parse(read(config)) as object) : {},
      manifest: JSON.parse(read(path.join(PLUGIN, "manifest.json"))) as object,
      main: this.parts.main ?? read(path.join(PLUGIN, "main.js")),
      base: vault,
      ...{ mobile, noSecrets, secrets, env },
    };
  }

  private async dataFile(request: http.IncomingMessage): Promise<unknown> {
    if (request.method === "PUT") {
      this.data = JSON.parse(await bodyOf(request)) as unknown;
      this.saved.push(this.data);
    }
    return this.data;
  }

  private async file(request: http.IncomingMessage, url: URL): Promise<unknown> {
    const name = url.searchParams.get("path") ?? "";
    if (request.method === "PUT" || request.method === "DELETE") {
      this.written.push(name);
      this.parts.overlay[name] = request.method === "PUT" ? await bodyOf(request) : null;
      return {};
    }
    const text = this.textOf(name);
    if (url.searchParams.has("probe")) return { there: text !== null };
    if (!url.searchParams.has("stat")) return { text };
    return text === null ? null : { type: "file", ctime: 0, mtime: 0, size: text.length };
  }

  private textOf(name: string): string | null {
    const over = this.parts.overlay[name];
    if (over !== undefined) return over;
    const full = path.join(this.parts.vault, name);
    const inside = full.startsWith(`${this.parts.vault}/`);
    const there = inside && fs.statSync(full, { throwIfNoEntry: false })?.isFile();
    return there ? fs.readFileSync(full, "utf8") : null;
  }

  private folder(name: string): object {
    const full = path.join(this.parts.vault, name);
    const entries = fs.existsSync(full) ? fs.readdirSync(full, { withFileTypes: true }) : [];
    const under = (entry: fs.Dirent): string => path.join(name, entry.name);
    return {
      files: entries.filter((entry) => entry.isFile()).map(under),
      folders: entries.filter((entry) => entry.isDirectory()).map(under),
    };
  }
}
