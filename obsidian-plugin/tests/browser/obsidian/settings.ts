/** Setting, groups and tabs; tabs may draw themselves or give a list of definitions. */
import type * as O from "obsidian";
import {
  BaseComponent,
  ButtonComponent,
  component,
  DropdownComponent,
  ExtraButtonComponent,
  SearchComponent,
  SliderComponent,
  TextAreaComponent,
  TextComponent,
  ToggleComponent,
} from "./controls";
import { Modal } from "./modal";
import { published } from "./events";

let named = 0;

/** Obsidian owns this markup, so it is here that a control gets its setting's name. */
function label(control: Element, nameEl: HTMLElement): void {
  nameEl.id ||= `setting-name-${String(++named)}`;
  const taken = control.hasAttribute("aria-label") || control.hasAttribute("aria-labelledby");
  if (!taken) control.setAttr("aria-labelledby", nameEl.id);
}

export class Setting {
  settingEl: HTMLElement;
  infoEl: HTMLElement;
  nameEl: HTMLElement;
  descEl: HTMLElement;
  controlEl: HTMLElement;
  components: O.BaseComponent[] = [];
  errorEl: HTMLElement | null = null;

  constructor(containerEl: HTMLElement) {
    this.settingEl = containerEl.createDiv("setting-item");
    this.infoEl = this.settingEl.createDiv("setting-item-info");
    this.nameEl = this.infoEl.createDiv("setting-item-name");
    this.descEl = this.infoEl.createDiv("setting-item-description");
    this.controlEl = this.settingEl.createDiv("setting-item-control");
  }

  setName(name: string | DocumentFragment): this {
    this.nameEl.setText(name);
    return this;
  }

  setDesc(desc: string | DocumentFragment): this {
    this.descEl.setText(desc);
    return this;
  }

  setClass(cls: string): this {
    this.settingEl.addClass(cls);
    return this;
  }

  setTooltip(tooltip: string): this {
    this.nameEl.title = tooltip;
    return this;
  }

  setHeading(): this {
    this.settingEl.addClass("setting-item-heading");
    this.nameEl.setAttrs({ role: "heading", "aria-level": 3 });
    return this;
  }

  setDisabled(disabled: boolean): this {
    this.settingEl.toggleClass("is-disabled", disabled);
    for (const one of this.components) one.setDisabled(disabled);
    return this;
  }

  setErrorMessage(message: string | null): this {
    this.errorEl?.detach();
    this.errorEl = message
      ? this.infoEl.createDiv({ cls: "setting-item-error", text: message })
      : null;
    return this;
  }

  private add<T>(made: BaseComponent, cb: (component: T) => unknown): this {
    this.components.push(component(made));
    for (const el of this.controlEl.querySelectorAll("input, select, textarea")) {
      label(el, this.nameEl);
    }
    cb(component<T>(made));
    return this;
  }

  addButton(cb: (component: O.ButtonComponent) => unknown): this {
    return this.add(new ButtonComponent(this.controlEl), cb);
  }

  addExtraButton(cb: (component: O.ExtraButtonComponent) => unknown): this {
    return this.add(new ExtraButtonComponent(this.controlEl), cb);
  }

  addToggle(cb: (component: O.ToggleComponent) => unknown): this {
    return this.add(new ToggleComponent(this.controlEl), cb);
  }

  addText(cb: (component: O.TextComponent) => unknown): this {
    return this.add(new TextComponent(this.controlEl), cb);
  }

  addSearch(cb: (component: O.SearchComponent) => unknown): this {
    return this.add(new SearchComponent(this.controlEl), cb);
  }

  addTextArea(cb: (component: O.TextAreaComponent) => unknown): this {
    return this.add(new TextAreaComponent(this.controlEl), cb);
  }

  addDropdown(cb: (component: O.DropdownComponent) => unknown): this {
    return this.add(new DropdownComponent(this.controlEl), cb);
  }

  addSlider(cb: (component: O.SliderComponent) => unknown): this {
    return this.add(new SliderComponent(this.controlEl), cb);
  }

  addComponent<T extends O.BaseComponent>(cb: (el: HTMLElement) => T): this {
    const made = cb(this.controlEl);
    return this.add(published<BaseComponent>(made), () => undefined);
  }

  then(cb: (setting: this) => unknown): this {
    cb(this);
    return this;
  }

  clear(): this {
    this.controlEl.empty();
    this.components = [];
    return this;
  }
}

export class SettingGroup {
  listEl: HTMLElement;
  private readonly headingEl: HTMLElement;

  constructor(containerEl: HTMLElement) {
    const el = containerEl.createDiv("setting-group");
    this.headingEl = el.createDiv("setting-item setting-item-heading");
    this.listEl = el.createDiv("setting-items");
  }

  setHeading(text: string | DocumentFragment): this {
    this.headingEl.setText(text);
    this.headingEl.setAttrs({ role: "heading", "aria-level": 3 });
    return this;
  }

  addClass(...classes: string[]): this {
    this.listEl.parentElement?.addClass(...classes);
    return this;
  }

  addSetting(cb: (setting: O.Setting) => void): this {
    cb(published(new Setting(this.listEl)));
    return this;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function wanted(flag: boolean | (() => boolean) | undefined, otherwise: boolean): boolean {
  return typeof flag === "function" ? flag() : (flag ?? otherwise);
}

export abstract class SettingTab {
  icon = "settings";
  containerEl = createDiv("vertical-tab-content");
  settingItems: O.SettingDefinitionItem[] = [];

  constructor(public app: O.App) {}

  getSettingDefinitions(): O.SettingDefinitionItem[] {
    return [];
  }

  getControlValue(_key: string): unknown {
    return undefined;
  }

  setControlValue(_key: string, _value: unknown): void | Promise<void> {
    // for tabs that keep something
  }

  display(): void {
    this.containerEl.empty();
    this.settingItems = this.getSettingDefinitions();
    for (const item of this.settingItems) this.draw(item, this.containerEl);
  }

  update(): void {
    this.display();
  }

  refreshDomState(): void {
    this.display();
  }

  hide(): void {
    this.containerEl.empty();
  }

  private draw(item: O.SettingDefinitionItem, into: HTMLElement): void {
    if (!wanted(item.visible, true)) return;
    if ("type" in item) {
      if (item.type !== "group" && item.type !== "list")
        throw new Error("pages are not drawn here");
      const group = new SettingGroup(into);
      if (item.heading) group.setHeading(item.heading);
      for (const one of item.items ?? []) this.draw(one, group.listEl);
      return;
    }
    const setting = new Setting(into).setName(item.name);
    if (item.desc) setting.setDesc(item.desc);
    if (item.render) item.render(published(setting), published(new SettingGroup(createDiv())));
    else if (item.action) {
      const run = item.action;
      setting.settingEl.addEventListener("click", () => {
        run(setting.settingEl, 0);
      });
    } else if (item.control) this.control(setting, item.control);
  }

  private control(setting: Setting, control: O.SettingControl): void {
    const value = this.getControlValue(control.key) ?? control.defaultValue;
    const save = (next: unknown): void => {
      void this.setControlValue(control.key, next);
    };
    switch (control.type) {
      case "toggle":
        setting.addToggle((one) => one.setValue(value === true).onChange(save));
        break;
      case "dropdown":
        setting.addDropdown((one) =>
          one.addOptions(control.options).setValue(textOf(value)).onChange(save),
        );
        break;
      case "slider":
        setting.addSlider((one) =>
          one
            .setLimits(control.min, control.max, control.step)
            .setValue(Number(value))
            .onChange(save),
        );
        break;
      default:
        setting.addText((one) => one.setValue(textOf(value)).onChange(save));
    }
  }
}

export abstract class PluginSettingTab extends SettingTab {
  constructor(
    app: O.App,
    public plugin: O.Plugin,
  ) {
    super(app);
  }
}

/** `app.setting`: not published, and the only way to open a tab. */
export class SettingModal extends Modal {
  readonly pluginTabs: { id: string; tab: SettingTab }[] = [];
  private active: SettingTab | null = null;

  override onOpen(): void {
    this.modalEl.addClass("mod-settings");
    this.setTitle("Settings");
  }

  openTabById(id: string): SettingTab | null {
    const tab = this.pluginTabs.find((entry) => entry.id === id)?.tab ?? null;
    this.active?.hide();
    this.active = tab;
    if (!tab) return null;
    this.contentEl.empty();
    this.contentEl.appendChild(tab.containerEl);
    tab.display();
    return tab;
  }

  override onClose(): void {
    this.active?.hide();
    this.active = null;
  }
}
