/** The stand-in as one script, built once. */
import esbuild from "esbuild";
import path from "node:path";

let built: Promise<string> | null = null;

async function build(): Promise<string> {
  const result = await esbuild.build({
    entryPoints: [path.resolve(import.meta.dirname, "../obsidian/boot.ts")],
    bundle: true,
    format: "iife",
    target: "es2022",
    write: false,
    logLevel: "warning",
  });
  return result.outputFiles[0]?.text ?? "";
}

/** Its text; the first call builds it. */
export function buildStandIn(): Promise<string> {
  built ??= build();
  return built;
}
