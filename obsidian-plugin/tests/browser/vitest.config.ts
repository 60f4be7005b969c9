import path from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: path.resolve(import.meta.dirname, "../.."),
    include: ["tests/browser/**/*.test.ts"],
    globalSetup: ["tests/browser/support/global.ts"],
    environment: "node",
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    isolate: false,
    // Most of the time goes by in waiting for pauses: three desks at a time stand side by side.
    sequence: { concurrent: true },
    maxConcurrency: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
