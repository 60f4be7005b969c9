/** App: everything a plugin reaches through `this.app`. */
import type * as O from "obsidian";
import { Events, published } from "./events";
import { DataAdapter, Vault } from "./files";
import type { Listed } from "./files";
import { Keymap, Scope } from "./keymap";
import { FileManager, MetadataCache } from "./metadata";
import { SettingModal } from "./settings";
import { MarkdownView } from "./views";
import type { View } from "./views";
import { Workspace } from "./workspace";

export class SecretStorage extends Events {
  private readonly secrets = new Map<string, string>();

  setSecret(id: string, secret: string): void {
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id)) throw new Error(`Invalid secret ID: ${id}`);
    this.secrets.set(id, secret);
  }

  getSecret(id: string): string | null {
    return this.secrets.get(id) ?? null;
  }

  listSecrets(): string[] {
    return [...this.secrets.keys()];
  }
}

export class Commands {
  readonly commands: Record<string, O.Command> = {};

  constructor(
    private readonly app: () => App,
    private readonly scope: Scope,
  ) {}

  addCommand(command: O.Command): void {
    this.commands[command.id] = command;
    for (const { modifiers, key } of command.hotkeys ?? []) {
      this.scope.register(modifiers, key, () => {
        this.executeCommandById(command.id);
        return false;
      });
    }
  }

  removeCommand(id: string): void {
    Reflect.deleteProperty(this.commands, id);
  }

  /** True when the command could run. */
  executeCommandById(id: string): boolean {
    const command = this.commands[id];
    if (!command) return false;
    const view = this.app().workspace.activeLeaf?.view;
    const editing = view instanceof MarkdownView ? published<O.MarkdownView>(view) : null;
    if (command.editorCheckCallback || command.editorCallback) {
      return editing !== null && this.edit(command, editing);
    }
    if (command.checkCallback) {
      if (command.checkCallback(true) === false) return false;
      command.checkCallback(false);
      return true;
    }
    command.callback?.();
    return command.callback !== undefined;
  }

  private edit(command: O.Command, view: O.MarkdownView): boolean {
    if (command.editorCheckCallback) {
      if (command.editorCheckCallback(true, view.editor, view) === false) return false;
      command.editorCheckCallback(false, view.editor, view);
      return true;
    }
    command.editorCallback?.(view.editor, view);
    return true;
  }
}

export interface Boot {
  vaultName: string;
  listed: Listed[];
  config: Record<string, unknown>;
  noSecrets: boolean;
}

export class App {
  readonly root = new Scope();
  readonly scope: O.Scope = published(this.root);
  readonly keymap: Keymap;
  readonly workspace: Workspace;
  readonly vault: Vault;
  readonly metadataCache: MetadataCache;
  readonly fileManager: FileManager;
  readonly commands: Commands;
  readonly setting: SettingModal;
  readonly secretStorage?: SecretStorage;
  readonly protocols = new Map<string, O.ObsidianProtocolHandler>();
  readonly ribbonEl: HTMLElement;
  readonly statusEl: HTMLElement;
  lastEvent: O.UserEvent | null = null;

  constructor(boot: Boot, adapter: DataAdapter) {
    const house = document.body.createDiv("app-container");
    const main = house.createDiv("horizontal-main-container");
    this.ribbonEl = main.createDiv("workspace-ribbon mod-left");
    this.vault = new Vault(adapter, boot.config, boot.listed, boot.vaultName);
    this.metadataCache = new MetadataCache(this.vault);
    this.fileManager = new FileManager(this.vault, this.metadataCache);
    this.workspace = new Workspace(published(this));
    main.appendChild(this.workspace.containerEl);
    this.statusEl = house.createDiv("status-bar");
    this.keymap = new Keymap(this.root, () => this.viewScope());
    this.commands = new Commands(() => this, this.root);
    this.setting = new SettingModal(published(this));
    if (!boot.noSecrets) this.secretStorage = new SecretStorage();
  }

  private viewScope(): Scope | null {
    const view = published<View | undefined>(this.workspace.activeLeaf?.view);
    return view?.scope ? published<Scope>(view.scope) : null;
  }

  isDarkMode(): boolean {
    return document.body.hasClass("theme-dark");
  }

  loadLocalStorage(key: string): unknown {
    const text = localStorage.getItem(`app-${key}`);
    return text === null ? null : JSON.parse(text);
  }

  saveLocalStorage(key: string, data: unknown): void {
    if (data === null || data === undefined) localStorage.removeItem(`app-${key}`);
    else localStorage.setItem(`app-${key}`, JSON.stringify(data));
  }
}
