// Builds src/main.ts into main.js, the one script that Obsidian loads.
import esbuild from "esbuild";
import { builtinModules } from "node:module";

const watch = process.argv.includes("--watch");

const context = await esbuild.context({
  entryPoints: ["src/main.ts"],
  outfile: "main.js",
  bundle: true,
  format: "cjs",
  target: "es2021",
  // Obsidian's window knows Node's modules by require, not by import.
  supported: { "dynamic-import": false },
  // Obsidian hands these to plugins itself; Node's modules are there on desktop only.
  external: [
    "obsidian",
    "electron",
    ...builtinModules,
    ...builtinModules.map((name) => `node:${name}`),
  ],
  minify: !watch,
  sourcemap: watch ? "inline" : false,
  treeShaking: true,
  legalComments: "none",
  logLevel: "warning",
});

if (watch) {
  await context.watch();
} else {
  await context.rebuild();
  await context.dispose();
}
