/** Once per run: build the plugin, start the sidecar and Chromium; end both whatever happens. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { chromium, type BrowserServer } from "playwright-core";
import type { TestProject } from "vitest/node";
import { PLUGIN } from "../server/house";
import { chromiumProgram, FLAGS } from "./browser";
import { freePort, newPlace, program, Sidecar, type Place } from "./sidecar";

/** What test files are told. */
export interface Shared {
  browser: string;
  place: Place;
  sidecar: string;
  key: string;
  pid: number;
  program: string;
}

declare module "vitest" {
  interface ProvidedContext {
    shared: Shared;
  }
}

/** Chromium, headless, with a fresh profile. */
export function launchServer(): Promise<BrowserServer> {
  return chromium.launchServer({ executablePath: chromiumProgram(), headless: true, args: FLAGS });
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  fs.rmSync(path.join(PLUGIN, ".shots"), { recursive: true, force: true });
  const place = newPlace();
  const sidecar = new Sidecar(place, await freePort());
  let browser: BrowserServer | null = null;
  const end = async (): Promise<void> => {
    await browser?.close();
    await sidecar.stop();
    fs.rmSync(place.folder, { recursive: true, force: true });
  };
  endWithUs(sidecar);
  try {
    execFileSync("node", ["esbuild.config.mjs"], { cwd: PLUGIN, stdio: "inherit" });
    [browser] = await Promise.all([launchServer(), sidecar.start()]);
    const { url, key, pid = 0 } = sidecar;
    project.provide("shared", {
      ...{ browser: browser.wsEndpoint(), sidecar: url },
      ...{ place, key, pid, program: program() },
    });
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

/** A run that is broken off, by whatever signal can be heard, leaves neither process nor folder. */
function endWithUs(sidecar: Sidecar): void {
  process.once("exit", () => {
    if (sidecar.pid) killQuietly(sidecar.pid);
    fs.rmSync(sidecar.place.folder, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => process.exit(1));
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // it is gone already, as it should be
  }
}
