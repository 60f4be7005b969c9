/** The answers that the service and its clients agreed on. */

import fs from "node:fs";
import path from "node:path";

const FOLDER = path.resolve(import.meta.dirname, "../../../../fixtures/api");

/** One agreed answer, as text. */
export function golden(name: string): string {
  return fs.readFileSync(path.join(FOLDER, `${name}.json`), "utf8");
}

/** The names of all agreed answers. */
export function goldenNames(): string[] {
  return fs.readdirSync(FOLDER).map((file) => file.replace(/\.json$/u, ""));
}
