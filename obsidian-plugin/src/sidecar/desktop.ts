/** The few things that need a desktop: files outside the vault, and programs. */

import { Platform } from "obsidian";

/** A program that was started. */
export interface Child {
  stderr: { on: (event: "data", heard: (piece: unknown) => void) => unknown } | null;
  on: ((event: "exit", heard: (code: number | null) => void) => unknown) &
    ((event: "error", heard: (error: Error) => void) => unknown);
  kill: (signal: "SIGTERM") => boolean;
}

/** What the rest of the plugin may do on a desktop. */
export interface Desktop {
  env: Record<string, string | undefined>;
  windows: boolean;
  home: string;
  /** A file's text; null when it cannot be read. */
  read: (path: string) => Promise<string | null>;
  isFile: (path: string) => Promise<boolean>;
  spawn: (program: string, args: string[]) => Child;
}

/** The desktop, null where there is none; Node's modules are loaded when first wanted. */
export async function findDesktop(): Promise<Desktop | null> {
  if (!Platform.isDesktop) return null;
  const fs = await import("node:fs");
  const os = await import("node:os");
  const children = await import("node:child_process");
  return {
    env: process.env,
    windows: Platform.isWin,
    home: os.homedir(),
    read: (path) => fs.promises.readFile(path, "utf8").catch(() => null),
    isFile: (path) =>
      fs.promises.stat(path).then(
        (found) => found.isFile(),
        () => false,
      ),
    spawn: (program, args) =>
      children.spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], windowsHide: true }),
  };
}
