// Runs tests/browser/bench.ts: it is bundled first, as Node runs no TypeScript.
import esbuild from "esbuild";
import fs from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const outfile = path.join(root, "tests/browser/server/.bench.mjs");
await esbuild.build({
  entryPoints: [path.join(root, "tests/browser/bench.ts")],
  outfile,
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  logLevel: "warning",
});
try {
  await import("../tests/browser/server/.bench.mjs");
} finally {
  fs.rmSync(outfile, { force: true });
}
