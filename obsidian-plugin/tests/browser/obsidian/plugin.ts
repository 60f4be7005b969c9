/** Plugin: what a plugin registers is taken back when it is unloaded. */
import type * as O from "obsidian";
import { Component, published } from "./events";
import { addCodeBlock } from "./markdown";
import { setIcon } from "./icons";
import type { App } from "./app";
import type { SettingTab } from "./settings";

export abstract class Plugin extends Component {
  constructor(
    public app: O.App,
    public manifest: O.PluginManifest,
  ) {
    super();
  }

  private get house(): App {
    return published<App>(this.app);
  }

  addRibbonIcon(icon: string, title: string, callback: (evt: MouseEvent) => unknown): HTMLElement {
    const cls = "clickable-icon side-dock-ribbon-action";
    const el = this.house.ribbonEl.createDiv({ cls, attr: { role: "button", tabindex: 0 } });
    el.setAttr("aria-label", title);
    setIcon(el, icon);
    el.addEventListener("click", callback);
    this.register(() => {
      el.detach();
    });
    return el;
  }

  addStatusBarItem(): HTMLElement {
    const el = this.house.statusEl.createDiv(`status-bar-item plugin-${this.manifest.id}`);
    this.register(() => {
      el.detach();
    });
    return el;
  }

  addCommand(command: O.Command): O.Command {
    command.id = `${this.manifest.id}:${command.id}`;
    command.name = `${this.manifest.name}: ${command.name}`;
    this.house.commands.addCommand(command);
    this.register(() => {
      this.house.commands.removeCommand(command.id);
    });
    return command;
  }

  removeCommand(commandId: string): void {
    this.house.commands.removeCommand(`${this.manifest.id}:${commandId}`);
  }

  addSettingTab(settingTab: O.PluginSettingTab): void {
    const tab = published<SettingTab>(settingTab);
    this.house.setting.pluginTabs.push({ id: this.manifest.id, tab });
  }

  registerView(type: string, viewCreator: O.ViewCreator): void {
    const { creators } = this.house.workspace;
    if (creators.has(type))
      throw new Error(`Attempting to register an existing view type "${type}"`);
    creators.set(type, viewCreator);
    this.register(() => creators.delete(type));
  }

  registerHoverLinkSource(id: string, info: O.HoverLinkSource): void {
    const { hoverSources } = this.house.workspace;
    hoverSources.set(id, info);
    this.register(() => hoverSources.delete(id));
  }

  registerMarkdownCodeBlockProcessor(
    language: string,
    handler: (
      source: string,
      el: HTMLElement,
      ctx: O.MarkdownPostProcessorContext,
    ) => Promise<unknown> | void,
  ): O.MarkdownPostProcessor {
    this.register(addCodeBlock(language, handler));
    return () => undefined;
  }

  registerObsidianProtocolHandler(action: string, handler: O.ObsidianProtocolHandler): void {
    this.house.protocols.set(action, handler);
    this.register(() => this.house.protocols.delete(action));
  }

  registerEditorExtension(_extension: unknown): void {
    // the editor here is a text area
  }

  async loadData(): Promise<unknown> {
    return (await fetch("/data.json")).json();
  }

  async saveData(data: unknown): Promise<void> {
    await fetch("/data.json", { method: "PUT", body: JSON.stringify(data) });
  }

  onUserEnable(): void {
    // for those who have something to do then
  }
}
