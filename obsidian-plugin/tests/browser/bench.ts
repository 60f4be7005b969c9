/**
 * Figures of the plugin in a browser, as JSON rows on stdout.
 *
 * Usage: node scripts/bench.mjs ADDRESS KEY VAULT [QUERY…]; a sidecar runs there on that vault.
 */
import fs from "node:fs";
import path from "node:path";
import { chromium, type Page } from "playwright-core";
import { House, PLUGIN } from "./server/house";
import { chromiumProgram, FLAGS } from "./support/browser";

const QUERIES = [
  "how did people count with knots",
  "what we decided about the release",
  "packing list for the mountains",
  "why the model forgets",
  "meeting notes about money",
  "bread that does not rise",
  "how light travels over the sea",
  "notes on sleep",
];

interface Row {
  name: string;
  value: number;
  unit: string;
  samples?: number;
}

function at(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** From the last key to the frame in which hits for the new query stand, in milliseconds. */
async function keystroke(page: Page, query: string): Promise<number> {
  const box = page.getByRole("searchbox", { name: "Search your notes" });
  await box.fill("");
  await page.waitForTimeout(400);
  await box.pressSequentially(query.slice(0, -1), { delay: 5 });
  await page.evaluate(watch);
  await page.keyboard.type(query.slice(-1));
  await page.waitForFunction(() => typeof window.painted === "number");
  return page.evaluate(() => window.painted ?? NaN);
}

declare global {
  interface Window {
    painted: number | null;
  }
}

/** In the page: note the time from the next key to the frame after the list changed. */
function watch(): void {
  window.painted = null;
  let pressed = 0;
  const list = document.querySelector("[role=listbox][aria-label=Results]");
  if (!list) throw new Error("no results");
  document.addEventListener("keydown", () => (pressed = performance.now()), {
    once: true,
    capture: true,
  });
  const seen = new MutationObserver(() => {
    if (!pressed || !list.querySelector("[role=option]")) return;
    seen.disconnect();
    window.requestAnimationFrame(() => {
      setTimeout(() => {
        window.painted = performance.now() - pressed;
      });
    });
  });
  seen.observe(list, { childList: true, subtree: true });
}

async function openPage(house: House, page: Page): Promise<number> {
  await page.goto(house.url);
  await page.locator("body[data-started]").waitFor();
  return page.evaluate(() => window.desk.onloadMs);
}

async function measure(house: House, page: Page, queries: string[]): Promise<Row[]> {
  const loads: number[] = [];
  for (let turn = 0; turn < 9; turn++) loads.push(await openPage(house, page));
  loads.sort((a, b) => a - b);
  await page.evaluate(() => window.desk.run("khiip:open-search"));
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    for (const query of queries) times.push(await keystroke(page, query));
  }
  const warm = times.slice(queries.length).sort((a, b) => a - b);
  const ms = { unit: "ms", samples: warm.length };
  return [
    { name: "plugin: onload, median", value: at(loads, 0.5), unit: "ms", samples: loads.length },
    { name: "plugin: keystroke to painted results, median", value: at(warm, 0.5), ...ms },
    { name: "plugin: keystroke to painted results, 95th percentile", value: at(warm, 0.95), ...ms },
    {
      name: "plugin: main.js",
      value: fs.statSync(path.join(PLUGIN, "main.js")).size,
      unit: "bytes",
    },
  ];
}

async function main(given: string[]): Promise<void> {
  const [address, key, vault, ...queries] = given;
  if (!address || !key || !vault) throw new Error("usage: bench ADDRESS KEY VAULT [QUERY…]");
  const house = new House({
    ...{ vault: path.resolve(vault), data: { address }, overlay: {}, mobile: false },
    ...{ noSecrets: false, secrets: { "khiip-key": key }, theme: "light", main: null },
    ...{ env: { PATH: "", HOME: "/nowhere" }, readable: [] },
  });
  await house.open();
  const browser = await chromium.launch({ executablePath: chromiumProgram(), args: FLAGS });
  try {
    const page = await browser.newPage();
    const rows = await measure(house, page, queries.length ? queries : QUERIES);
    for (const row of rows)
      process.stdout.write(
        `${JSON.stringify({ ...row, value: Math.round(row.value * 10) / 10 })}\n`,
      );
  } finally {
    await browser.close();
    await house.close();
  }
}

await main(process.argv.slice(2));
