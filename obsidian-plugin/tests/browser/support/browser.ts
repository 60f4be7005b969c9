/** Which Chromium, and how it is started. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { PLUGIN } from "../server/house";

export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--force-color-profile=srgb",
];

/** The program, installed first where it is missing and that is possible. */
export function chromiumProgram(): string {
  return execFileSync(path.join(PLUGIN, "scripts/chromium.sh"), { encoding: "utf8" }).trim();
}
