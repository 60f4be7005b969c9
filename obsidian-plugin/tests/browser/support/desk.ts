/** One Obsidian on a screen, with everything around it that a test may want to turn. */
import fs from "node:fs";
import path from "node:path";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from "playwright-core";
import { inject } from "vitest";
import { expect } from "./expect";
import { Gateway, type Fake } from "../server/gateway";
import { House, PLUGIN, type HouseParts } from "../server/house";
import type { Desk as PageDesk } from "../obsidian/boot";
import { axeProblems } from "./axe";
import { environment } from "./sidecar";

export const SHOTS = path.join(PLUGIN, ".shots");

/** A little more than the pause after which typing is taken as a question, in milliseconds. */
const PAUSE = 230;

export interface DeskParts extends Partial<Omit<HouseParts, "vault" | "theme">> {
  theme?: "light" | "dark";
  /** Of the side pane, in pixels. */
  side?: number;
  width?: number;
  height?: number;
  /** The first to be asked; what they leave goes to the real sidecar. */
  fakes?: Fake[];
  /** Ask no real sidecar at all. */
  alone?: boolean;
  vault?: string;
  /** Leave `.khiip/sidecar.json` as it is, and not name the gateway there. */
  direct?: boolean;
  /** Nothing in the vault names a sidecar; the gateway's address is in the settings. */
  unannounced?: boolean;
  reducedMotion?: boolean;
  /** Dots of the screen for each pixel. */
  scale?: number;
}

export interface Seen {
  path: string | null;
  line: number | null;
  text: string | null;
  tabs: number;
  made: string[];
  listeners: number;
}

declare global {
  interface Window {
    desk: PageDesk;
  }
}

let browser: Promise<Browser> | null = null;

function connect(): Promise<Browser> {
  browser ??= chromium.connect(inject("shared").browser);
  return browser;
}

const SIDECAR_FILE = ".khiip/sidecar.json";

/** What `serve` would have left in the vault, but for the gateway's address. */
function announcement(vault: string, url: string): string | null {
  const file = path.join(vault, ".khiip/sidecar.json");
  if (!fs.existsSync(file)) return null;
  const said = JSON.parse(fs.readFileSync(file, "utf8")) as object;
  return JSON.stringify({ ...said, url });
}

function announcedTo(parts: DeskParts, vault: string, url: string): HouseParts["overlay"] {
  if (parts.direct) return {};
  return { [SIDECAR_FILE]: parts.unannounced ? null : announcement(vault, url) };
}

export class Desk {
  /** Errors of the console and of promises; empty at the end, or the test fails. */
  readonly faults: string[] = [];

  private constructor(
    readonly house: House,
    readonly gateway: Gateway,
    private readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async open(parts: DeskParts = {}): Promise<Desk> {
    const shared = inject("shared");
    const vault = parts.vault ?? shared.place.vault;
    const gateway = new Gateway(parts.alone ? null : shared.sidecar);
    gateway.fakes = [...(parts.fakes ?? [])];
    await gateway.up();
    const house = new House({
      data: parts.unannounced ? { address: gateway.url } : null,
      mobile: false,
      noSecrets: false,
      secrets: {},
      env: environment(shared.place),
      readable: [shared.place.folder, path.dirname(shared.program)],
      theme: "light",
      main: null,
      ...parts,
      vault,
      overlay: { ...announcedTo(parts, vault, gateway.url), ...parts.overlay },
    });
    await house.open();
    const size = { width: parts.width ?? 1100, height: parts.height ?? 760 };
    const context = await (
      await connect()
    ).newContext({
      viewport: size,
      deviceScaleFactor: parts.scale ?? 1,
      hasTouch: parts.mobile ?? false,
      reducedMotion: parts.reducedMotion ? "reduce" : "no-preference",
      colorScheme: parts.theme ?? "light",
      locale: "en-GB",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const desk = new Desk(house, gateway, context, await context.newPage());
    desk.page.setDefaultTimeout(6000);
    desk.listen();
    await desk.start(parts.side);
    return desk;
  }

  private listen(): void {
    this.page.on("pageerror", (error) =>
      this.faults.push(`thrown: ${error.stack ?? error.message}`),
    );
    this.page.on("console", (message) => {
      if (message.type() !== "error" && message.type() !== "warning") return;
      // Chromium itself notes each request that fails; the gateway does so on purpose.
      const own = message.text().startsWith("Failed to load resource");
      if (own && message.location().url.startsWith(this.gateway.url)) return;
      this.faults.push(`console: ${message.text()} (${message.location().url})`);
    });
  }

  private async start(side = 400): Promise<void> {
    await this.page.goto(this.house.url);
    await this.page.evaluate((width) => {
      document.body.style.setProperty("--side-width", `${String(width)}px`);
    }, side);
    await this.page
      .locator("body[data-started]")
      .waitFor()
      .catch(() => {
        throw new Error(`Obsidian did not start: ${this.faults.join("; ")}`);
      });
  }

  /** Close Obsidian and open it again: settings, layout and local storage stay. */
  async restart(): Promise<void> {
    await this.page.waitForTimeout(250); // the layout is kept a moment after it changed
    await this.start();
  }

  /** Run a command by its id, without the plugin's prefix. */
  async command(id: string): Promise<void> {
    const ran = await this.page.evaluate((name) => window.desk.run(name), `khiip:${id}`);
    expect(ran, `the command ${id} can run`).toBe(true);
  }

  get box(): Locator {
    return this.page.getByRole("searchbox", { name: "Search your notes" });
  }

  get results(): Locator {
    return this.page.getByRole("listbox", { name: "Results" });
  }

  get hits(): Locator {
    return this.results.getByRole("option");
  }

  get chosen(): Locator {
    return this.results.locator('[role=option][aria-selected="true"]');
  }

  /** The pane, open and with the focus in its box. */
  async pane(): Promise<void> {
    await this.command("open-search");
    await this.box.waitFor();
    await this.box.focus();
  }

  /** Search as a person does, and wait for the first hit. */
  async search(text: string): Promise<void> {
    await this.box.fill("");
    await this.box.pressSequentially(text);
    await this.hits.first().waitFor();
    // On a machine that is busy elsewhere the pause after the last key may be a long one.
    await expect
      .poll(() => this.results.getAttribute("aria-busy"), { timeout: 6000 })
      .toBe("false");
    await this.quiet();
  }

  /** Wait over the pause after the last key, then until every question has its answer. */
  async quiet(): Promise<void> {
    await this.page.waitForTimeout(PAUSE);
    await expect.poll(() => this.gateway.open(), { timeout: 6000, interval: 20 }).toBe(0);
    await this.page.waitForTimeout(50);
  }

  async openNote(note: string, mode: "source" | "preview" = "source"): Promise<void> {
    await this.page.evaluate(([name, how]) => window.desk.openNote(name, how), [
      note,
      mode,
    ] as const);
  }

  seen(): Promise<Seen> {
    return this.page.evaluate(() => window.desk.seen() as Seen);
  }

  async settings(): Promise<Locator> {
    await this.page.evaluate(() => {
      window.desk.openSettings();
    });
    return this.page.locator(".vertical-tab-content");
  }

  /** The row of a setting. */
  setting(name: string): Locator {
    const title = this.page.locator(".setting-item-name", { hasText: new RegExp(`^${name}$`) });
    return this.page.locator(".setting-item", { has: title });
  }

  get status(): Locator {
    return this.page.locator(".status-bar .plugin-khiip").first();
  }

  /** Everything that is said aloud or stands as a state: alerts and status lines. */
  get said(): Locator {
    return this.page.locator("[role=alert], [role=status]");
  }

  /** Nothing that axe minds within the plugin's own markup. */
  async accessible(within = ".workspace-leaf-content[data-type^=khiip]"): Promise<void> {
    // The scrolling part of a prompt is Obsidian's own, and none of a plugin's.
    const notOurs = within === ".prompt" ? ["scrollable-region-focusable"] : [];
    expect(await axeProblems(this.page, within, notOurs)).toEqual([]);
  }

  /** Change the theme, and the width of the side pane in pixels. */
  async wear(theme: "light" | "dark", side: number): Promise<void> {
    await this.page.evaluate(
      ([name, width]) => {
        document.body.toggleClass("theme-dark", name === "dark");
        document.body.toggleClass("theme-light", name === "light");
        document.body.style.setProperty("--side-width", `${String(width)}px`);
        window.desk.app.workspace.trigger("css-change");
        window.desk.app.workspace.trigger("resize");
      },
      [theme, side] as const,
    );
    await this.page.waitForTimeout(60);
  }

  async shot(name: string): Promise<void> {
    fs.mkdirSync(SHOTS, { recursive: true });
    await this.page.screenshot({ path: path.join(SHOTS, `${name}.png`) });
  }

  /** Queries that were searched for, in order. */
  queries(): string[] {
    const lines = this.gateway.asked("/api/v1/recall");
    return lines.map((line) => line.params.get("query") ?? line.params.get("q") ?? "");
  }

  /** Close everything; what went wrong meanwhile fails the test. */
  async close(): Promise<void> {
    await this.context.close();
    await this.house.close();
    await this.gateway.down();
    expect(this.faults).toEqual([]);
    expect(this.house.written).toEqual([]);
  }
}

/** Run a test at a desk that is cleared afterwards, whatever happened. */
export async function at(parts: DeskParts, run: (desk: Desk) => Promise<void>): Promise<void> {
  const desk = await Desk.open(parts);
  let failure: unknown = null;
  try {
    await run(desk);
  } catch (error) {
    failure = error;
    await desk.shot(`failed-${slug(expect.testName())}`).catch(() => null);
  }
  if (failure === null) await desk.close();
  else {
    await desk.close().catch(() => null);
    throw withFaults(failure, desk.faults);
  }
}

function withFaults(failure: unknown, faults: string[]): unknown {
  if (failure instanceof Error && faults.length) failure.message += `\n${faults.join("\n")}`;
  return failure;
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 80);
}
