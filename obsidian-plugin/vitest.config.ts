import path from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Obsidian is there at run time only; the few things that pure parts need of it are stood in for.
  resolve: {
    alias: { obsidian: path.resolve(import.meta.dirname, "tests/unit/support/obsidian.ts") },
  },
  test: {
    include: ["tests/unit/**/*.test.ts"],
    environment: "node",
    pool: "threads",
    maxWorkers: 1,
    isolate: false,
  },
});
