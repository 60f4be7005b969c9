/** The key: pasted by a person and kept on this device, or found in this machine's own config. */

import { requireApiVersion, type App } from "obsidian";
import type { Desktop } from "./desktop";
import { keyFile, keyIn } from "./places";

const SECRET = "khiip-key";

/** Keeps a pasted key where Obsidian keeps secrets; never in `data.json`, which may be synced. */
export class KeyStore {
  constructor(
    private readonly app: App,
    private readonly desktop: () => Promise<Desktop | null>,
  ) {}

  /** The key that a person pasted; null when none was. */
  pasted(): string | null {
    const kept: unknown = requireApiVersion("1.11.4")
      ? this.app.secretStorage.getSecret(SECRET)
      : this.app.loadLocalStorage(SECRET);
    return typeof kept === "string" && kept !== "" ? kept : null;
  }

  /** Keep a pasted key; an empty one is taken away. */
  paste(key: string): void {
    if (requireApiVersion("1.11.4")) this.app.secretStorage.setSecret(SECRET, key.trim());
    else this.app.saveLocalStorage(SECRET, key.trim() === "" ? null : key.trim());
  }

  /** The key in this machine's own config; null where there is none, or no desktop. */
  async found(): Promise<string | null> {
    const desktop = await this.desktop();
    const file = desktop && (await desktop.read(keyFile(desktop)));
    return file ? keyIn(file) : null;
  }
}
