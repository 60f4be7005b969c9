/** Where the key and the program may be on a desktop; pure. */

import type { Desktop } from "./desktop";

type Where = Pick<Desktop, "env" | "home" | "windows">;

/** The file with the key: `$KHIIP_HOME/config`, else the XDG place, as the sidecar has it. */
export function keyFile({ env, home }: Where): string {
  if (env.KHIIP_HOME) return `${fromHome(env.KHIIP_HOME, home)}/config/auth.toml`;
  if (env.XDG_CONFIG_HOME) return `${env.XDG_CONFIG_HOME}/khiip/auth.toml`;
  return `${home}/.config/khiip/auth.toml`;
}

/** The key in that file's text; null when there is none. */
export function keyIn(file: string): string | null {
  const line = /^\s*api_key\s*=\s*(?:"([!-~]+?)"|'([!-~]+?)')\s*(?:#.*)?$/mu.exec(file);
  return line?.[1] ?? line?.[2] ?? null;
}

/**
 * Every place where `khiipd` may be, the likeliest first. A program that was started from a
 * desktop's menu has a short PATH, so the usual homes of user-installed programs are looked at too.
 */
export function programPlaces({ env, home, windows }: Where): string[] {
  const name = windows ? "khiipd.exe" : "khiipd";
  const onPath = (env.PATH ?? env.Path ?? "").split(windows ? ";" : ":");
  const usual = windows
    ? [`${home}/.local/bin`, `${env.LOCALAPPDATA ?? home}/Programs/Python/Scripts`]
    : [`${home}/.local/bin`, "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"];
  const folders = [...onPath, ...usual].filter((folder) => folder !== "");
  return [...new Set(folders.map((folder) => `${folder.replace(/[\\/]+$/u, "")}/${name}`))];
}

/** A path with a leading `~` written out. */
export function fromHome(path: string, home: string): string {
  return path.replace(/^~(?=[\\/]|$)/u, home);
}
