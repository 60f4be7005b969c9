/** The plugin's page in Obsidian's settings. */

import { PluginSettingTab, Setting, type Plugin, type SettingDefinitionItem } from "obsidian";
import type { Khiip } from "../khiip";
import { settingGroups, type Item } from "./items";

export class KhiipSettingTab extends PluginSettingTab {
  private cleanups: (() => void)[] = [];

  constructor(
    plugin: Plugin,
    private readonly khiip: Khiip,
  ) {
    super(plugin.app, plugin);
  }

  /** Since Obsidian 1.13 settings are declared, so that its search finds them. */
  override getSettingDefinitions(): SettingDefinitionItem[] {
    return settingGroups(this.khiip).map(({ heading, items }) => ({
      type: "group" as const,
      heading,
      items: items.map((item) => ({
        name: item.name,
        desc: item.desc,
        render: (setting: Setting) => item.render(setting),
      })),
    }));
  }

  /** For Obsidian before 1.13. */
  override display(): void {
    this.clean();
    this.containerEl.empty();
    for (const { heading, items } of settingGroups(this.khiip)) {
      new Setting(this.containerEl).setName(heading).setHeading();
      for (const item of items) this.draw(item);
    }
  }

  override hide(): void {
    this.clean();
    super.hide();
  }

  private draw(item: Item): void {
    const setting = new Setting(this.containerEl).setName(item.name).setDesc(item.desc);
    const cleanup = item.render(setting);
    if (cleanup) this.cleanups.push(cleanup);
  }

  private clean(): void {
    for (const cleanup of this.cleanups.splice(0)) cleanup();
  }
}
