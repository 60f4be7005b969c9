/** What every view and command is given: the plugin's parts, and nothing of its insides. */

import type { App } from "obsidian";
import type { Client, Later } from "./api/client";
import type { Settings } from "./settings/settings";
import type { Connection } from "./sidecar/connection";
import type { KeyStore } from "./sidecar/keys";
import type { Monitor } from "./sidecar/monitor";
import type { Starter } from "./sidecar/starter";

export interface Khiip {
  app: App;
  client: Client;
  connection: Connection;
  monitor: Monitor;
  keys: KeyStore;
  starter: Starter;
  later: Later;
  settings: () => Settings;
  /** Keep what a person changed. */
  change: (changes: Partial<Settings>) => Promise<void>;
  /** Run something that a person asked for; what goes wrong is said once. */
  run: (work: () => unknown) => void;
  /** Told when settings have changed; gives a function that ends it. */
  onSettings: (listener: () => void) => () => void;
  /** Open the search pane, with a search in it where one is given. */
  openSearch: (line?: string) => Promise<void>;
  /** What was looked for last in an open pane, as one line; empty when nothing was. */
  lastSearch: () => string;
  openView: (type: string) => Promise<void>;
  /** Open this plugin's page in Obsidian's settings. */
  openSettings: () => void;
  /** A name for an element that no other has. */
  uniqueId: () => string;
}

export const VIEWS = {
  search: "khiip-search",
  related: "khiip-related",
  entities: "khiip-entities",
  history: "khiip-history",
  problems: "khiip-problems",
} as const;
