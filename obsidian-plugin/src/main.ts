/** The plugin: makes its parts, registers its views, and follows the sidecar. */

import { FileSystemAdapter, Notice, Platform, Plugin } from "obsidian";
import { followEvents } from "./api/events";
import { requestTransport } from "./api/transport";
import { Client } from "./api/client";
import { addCommands } from "./commands/commands";
import { asFault, type Fault } from "./errors";
import { VIEWS, type Khiip } from "./khiip";
import { readSettings, type Settings } from "./settings/settings";
import { KhiipSettingTab } from "./settings/tab";
import { Connection } from "./sidecar/connection";
import { findDesktop, type Desktop } from "./sidecar/desktop";
import { KeyStore } from "./sidecar/keys";
import { Monitor } from "./sidecar/monitor";
import { readSidecarFile } from "./sidecar/sidecar_file";
import { Starter } from "./sidecar/starter";
import { BlockView } from "./ui/block";
import { EntitiesView } from "./ui/entities_view";
import { HistoryView } from "./ui/history_view";
import { ProblemsView } from "./ui/problems_view";
import { RelatedView } from "./ui/related_view";
import { SearchView } from "./ui/search/view";
import { drawStatusBar } from "./ui/status_bar";

const TRUSTED = "khiip-vault-id";

/** Whoever fails with one of these may be somebody else by now. */
const UNSETTLING = new Set(["offline", "slow", "unauthorized", "garbled"]);

export default class KhiipPlugin extends Plugin {
  private settingsNow: Settings = readSettings(null);
  private readonly settingsListeners = new Set<() => void>();
  private desktop: Promise<Desktop | null> | null = null;
  private ids = 0;
  private toldLast = { line: "", time: 0 };

  override async onload(): Promise<void> {
    this.settingsNow = readSettings(await this.loadData());
    const khiip = this.makeParts();
    this.registerView(VIEWS.search, (leaf) => new SearchView(leaf, khiip));
    this.registerView(VIEWS.related, (leaf) => new RelatedView(leaf, khiip));
    this.registerView(VIEWS.entities, (leaf) => new EntitiesView(leaf, khiip));
    this.registerView(VIEWS.history, (leaf) => new HistoryView(leaf, khiip));
    this.registerView(VIEWS.problems, (leaf) => new ProblemsView(leaf, khiip));
    for (const type of [VIEWS.search, VIEWS.related]) {
      this.registerHoverLinkSource(type, { display: "Khiip", defaultMod: true });
    }
    this.registerMarkdownCodeBlockProcessor("khiip", (source, el, context) => {
      context.addChild(new BlockView(el, khiip, source));
    });
    addCommands(this, khiip);
    this.addSettingTab(new KhiipSettingTab(this, khiip));
    this.addRibbonIcon("text-search", "Search your notes", () => {
      khiip.run(() => khiip.openSearch());
    });
    if (!Platform.isMobile) drawStatusBar(this.addStatusBarItem(), khiip, this);
    // Nothing is asked of anybody before Obsidian is there for its user.
    this.app.workspace.onLayoutReady(() => {
      khiip.monitor.start();
    });
  }

  /** Settings were changed by a sync or another window. */
  override async onExternalSettingsChange(): Promise<void> {
    this.settingsNow = readSettings(await this.loadData());
    for (const listener of this.settingsListeners) listener();
  }

  private makeParts(): Khiip {
    const keys = new KeyStore(this.app, () => this.findDesktop());
    const connection = this.makeConnection(keys);
    const client = new Client({
      send: requestTransport,
      later: this.later,
      target: () => connection.target(),
      failed: (fault) => {
        if (!UNSETTLING.has(fault.kind)) return;
        connection.reset();
        monitor.wake();
      },
    });
    const monitor = new Monitor({ connection, client, follow: followEvents, later: this.later });
    const starter = this.makeStarter(connection, monitor);
    let asked = this.settingsNow.address;
    this.settingsListeners.add(() => {
      if (asked === this.settingsNow.address) return;
      asked = this.settingsNow.address;
      monitor.restart();
    });
    this.register(() => {
      monitor.stop();
      starter.close();
    });
    return { ...this.actions(), client, connection, monitor, keys, starter, later: this.later };
  }

  private makeConnection(keys: KeyStore): Connection {
    const { app } = this;
    return new Connection({
      send: requestTransport,
      later: this.later,
      address: () => this.settingsNow.address,
      sidecarFile: () => readSidecarFile(app.vault.adapter),
      pastedKey: () => keys.pasted(),
      foundKey: () => keys.found(),
      trusted: {
        get: () => {
          const kept: unknown = app.loadLocalStorage(TRUSTED);
          return typeof kept === "string" ? kept : null;
        },
        set: (id) => {
          app.saveLocalStorage(TRUSTED, id);
        },
      },
    });
  }

  private makeStarter(connection: Connection, monitor: Monitor): Starter {
    return new Starter({
      desktop: () => this.findDesktop(),
      folder: this.vaultFolder(),
      program: () => this.settingsNow.program,
      address: () => connection.address(),
      monitor,
      later: this.later,
    });
  }

  private actions(): Pick<
    Khiip,
    | "app"
    | "settings"
    | "change"
    | "run"
    | "onSettings"
    | "openSearch"
    | "lastSearch"
    | "openView"
    | "openSettings"
    | "uniqueId"
  > {
    return {
      app: this.app,
      settings: () => this.settingsNow,
      change: (changes) => this.change(changes),
      run: (work) => {
        void this.runNow(work);
      },
      onSettings: (listener) => {
        this.settingsListeners.add(listener);
        return () => this.settingsListeners.delete(listener);
      },
      openSearch: (line) => this.openSearch(line),
      lastSearch: () => this.searchView()?.line ?? "",
      openView: (type) => this.openView(type),
      openSettings: () => {
        openSettingsOf(this.app, this.manifest.id);
      },
      uniqueId: () => `khiip-${(this.ids += 1)}`,
    };
  }

  private findDesktop(): Promise<Desktop | null> {
    this.desktop ??= findDesktop();
    return this.desktop;
  }

  private vaultFolder(): string | null {
    const { adapter } = this.app.vault;
    return adapter instanceof FileSystemAdapter ? adapter.getBasePath() : null;
  }

  private readonly later = (run: () => void, milliseconds: number): (() => void) => {
    const timer = window.setTimeout(run, milliseconds);
    return () => {
      window.clearTimeout(timer);
    };
  };

  private async change(changes: Partial<Settings>): Promise<void> {
    const before = this.settingsNow;
    this.settingsNow = { ...before, ...changes };
    if (JSON.stringify(before) === JSON.stringify(this.settingsNow)) return;
    for (const listener of this.settingsListeners) listener();
    await this.saveData(this.settingsNow);
  }

  private async runNow(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      this.tell(asFault(thrown));
    }
  }

  /** The one place where a failed action is told; the same line is not told twice in a row. */
  private tell(fault: Fault): void {
    const now = Date.now();
    if (fault.message === this.toldLast.line && now - this.toldLast.time < 5000) return;
    this.toldLast = { line: fault.message, time: now };
    new Notice([fault.message, fault.help].filter((part) => part).join(" "));
  }

  private async openSearch(line?: string): Promise<void> {
    await this.openView(VIEWS.search);
    const view = this.searchView();
    if (line !== undefined) view?.searchFor(line);
    view?.focus();
  }

  private searchView(): SearchView | null {
    const [leaf] = this.app.workspace.getLeavesOfType(VIEWS.search);
    return leaf?.view instanceof SearchView ? leaf.view : null;
  }

  private async openView(type: string): Promise<void> {
    await this.app.workspace.ensureSideLeaf(type, "right", { active: true, reveal: true });
  }
}

/** Obsidian's settings at a plugin's page; it has no published way to open them. */
function openSettingsOf(app: object, id: string): void {
  const { setting } = app as {
    setting?: { open: () => void; openTabById: (id: string) => void };
  };
  setting?.open();
  setting?.openTabById(id);
}
