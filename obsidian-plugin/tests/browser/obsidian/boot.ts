/** Starts the stand-in, loads the plugin, and gives the tests a hand on both. */
import type * as O from "obsidian";
import { App } from "./app";
import type { Boot } from "./app";
import { installDom } from "./dom";
import type { Plugin } from "./plugin";
import { published } from "./events";
import { CapacitorAdapter, FileSystemAdapter } from "./files";
import type { DataAdapter } from "./files";
import { askedIcons } from "./icons";
import { obsidian } from "./index";
import { becomeOld, becomePhone } from "./misc";
import { makeProcess, nodeModule } from "./node";
import { MarkdownView } from "./views";

interface Start extends Boot {
  mobile: boolean;
  base: string;
  env: Record<string, string>;
  manifest: O.PluginManifest;
  main: string;
  secrets: Record<string, string>;
}

type PluginClass = new (app: O.App, manifest: O.PluginManifest) => O.Plugin;

function adapterFor(start: Start): DataAdapter {
  if (start.mobile) return new CapacitorAdapter();
  const adapter = new FileSystemAdapter();
  adapter.base = start.base;
  return adapter;
}

function requireFor(start: Start): (name: string) => object {
  return (name) => {
    if (name === "obsidian") return obsidian;
    const found = start.mobile ? null : nodeModule(name, start);
    if (!found) throw new Error(`Cannot find module '${name}'`);
    return found;
  };
}

function loadMain(start: Start): PluginClass {
  const module = { exports: {} as { default?: PluginClass } };
  const code = `${start.main}\n//# sourceURL=plugin:khiip`;
  const run = new Function("require", "module", "exports", code) as (...given: unknown[]) => void;
  run(requireFor(start), module, module.exports);
  if (!module.exports.default) throw new Error("main.js exports no plugin");
  return module.exports.default;
}

/** What the tests call in the page. */
class Desk {
  onloadMs = 0;
  plugin: O.Plugin | null = null;

  constructor(
    readonly app: App,
    private readonly start: Start,
  ) {}

  async load(): Promise<void> {
    const PluginClass = loadMain(this.start);
    const plugin = new PluginClass(published(this.app), this.start.manifest);
    const began = performance.now();
    await published<Plugin>(plugin).load();
    this.onloadMs = performance.now() - began;
    this.plugin = plugin;
  }

  unload(): void {
    this.plugin?.unload();
    for (const type of this.app.workspace.creators.keys()) {
      throw new Error(`the view ${type} is still registered`);
    }
  }

  run(id: string): boolean {
    return this.app.commands.executeCommandById(id);
  }

  async openNote(path: string, mode: "source" | "preview" = "source"): Promise<void> {
    const file = this.app.vault.getFileByPath(path);
    if (!file) throw new Error(`no such note: ${path}`);
    await this.app.workspace.getLeaf(false).openFile(file, { state: { mode }, active: true });
  }

  openSettings(): void {
    this.app.setting.open();
    this.app.setting.openTabById(this.start.manifest.id);
  }

  /** What the main area shows: the note, the cursor's line, how many tabs, how it was opened. */
  seen(): object {
    const leaf = this.app.workspace.getMostRecentLeaf();
    const view: unknown = leaf?.view;
    const note = view instanceof MarkdownView ? view : null;
    let tabs = 0;
    this.app.workspace.iterateRootLeaves(() => tabs++);
    return {
      path: note?.file?.path ?? null,
      line: note ? note.editor.getCursor().line : null,
      text: note?.editor.getValue() ?? null,
      tabs,
      made: this.app.workspace.madeByLink,
      listeners: this.app.workspace.listeners + this.app.vault.listeners,
    };
  }

  icons(): string[] {
    return [...askedIcons];
  }
}

async function begin(): Promise<void> {
  installDom();
  const start = (await (await fetch("/boot")).json()) as Start;
  if (start.mobile) becomePhone();
  else Object.assign(window, { require: requireFor(start), process: makeProcess(start) });
  if (start.noSecrets) becomeOld(start.manifest.minAppVersion);
  const app = new App(start, adapterFor(start));
  for (const [id, secret] of Object.entries(start.secrets))
    app.secretStorage?.setSecret(id, secret);
  const desk = new Desk(app, start);
  Object.assign(window, { app, desk });
  await desk.load();
  await app.workspace.start();
  document.body.setAttr("data-started", "yes");
}

void begin();

export type { Desk };
