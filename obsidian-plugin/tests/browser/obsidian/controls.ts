/** The controls of settings: text, toggle, list, slider, buttons. */
import type * as O from "obsidian";
import { published } from "./events";
import { setIcon } from "./icons";

export abstract class BaseComponent {
  disabled = false;

  then(cb: (component: this) => unknown): this {
    cb(this);
    return this;
  }

  setDisabled(disabled: boolean): this {
    this.disabled = disabled;
    return this;
  }
}

export abstract class ValueComponent<T> extends BaseComponent {
  abstract getValue(): T;
  abstract setValue(value: T): this;
}

export class AbstractTextComponent<
  T extends HTMLInputElement | HTMLTextAreaElement,
> extends ValueComponent<string> {
  private changed: ((value: string) => unknown) | null = null;

  constructor(public inputEl: T) {
    super();
    inputEl.addEventListener("input", () => {
      this.onChanged();
    });
  }

  override setDisabled(disabled: boolean): this {
    this.inputEl.disabled = disabled;
    return super.setDisabled(disabled);
  }

  getValue(): string {
    return this.inputEl.value;
  }

  setValue(value: string): this {
    this.inputEl.value = value;
    return this;
  }

  setPlaceholder(placeholder: string): this {
    this.inputEl.placeholder = placeholder;
    return this;
  }

  onChanged(): void {
    this.changed?.(this.inputEl.value);
  }

  onChange(callback: (value: string) => unknown): this {
    this.changed = callback;
    return this;
  }
}

export class TextComponent extends AbstractTextComponent<HTMLInputElement> {
  constructor(containerEl: HTMLElement) {
    super(containerEl.createEl("input", { type: "text", attr: { spellcheck: "false" } }));
  }
}

export class TextAreaComponent extends AbstractTextComponent<HTMLTextAreaElement> {
  constructor(containerEl: HTMLElement) {
    super(containerEl.createEl("textarea", { attr: { spellcheck: "false" } }));
  }
}

export class SearchComponent extends AbstractTextComponent<HTMLInputElement> {
  clearButtonEl: HTMLElement;

  constructor(containerEl: HTMLElement) {
    const holder = containerEl.createDiv("search-input-container");
    super(holder.createEl("input", { type: "search", attr: { spellcheck: "false" } }));
    this.clearButtonEl = holder.createDiv({
      cls: "search-input-clear-button",
      attr: { "aria-label": "Clear search" },
    });
    this.clearButtonEl.addEventListener("click", () => {
      this.setValue("");
      this.onChanged();
      this.inputEl.focus();
    });
  }
}

export class DropdownComponent extends ValueComponent<string> {
  selectEl: HTMLSelectElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.selectEl = containerEl.createEl("select", { cls: "dropdown" });
  }

  override setDisabled(disabled: boolean): this {
    this.selectEl.disabled = disabled;
    return super.setDisabled(disabled);
  }

  addOption(value: string, display: string): this {
    this.selectEl.createEl("option", { value, text: display });
    return this;
  }

  addOptions(options: Record<string, string>): this {
    for (const [value, display] of Object.entries(options)) this.addOption(value, display);
    return this;
  }

  getValue(): string {
    return this.selectEl.value;
  }

  setValue(value: string): this {
    this.selectEl.value = value;
    return this;
  }

  onChange(callback: (value: string) => unknown): this {
    this.selectEl.addEventListener("change", () => {
      callback(this.selectEl.value);
    });
    return this;
  }
}

export class SliderComponent extends ValueComponent<number> {
  sliderEl: HTMLInputElement;
  private instant = false;

  constructor(containerEl: HTMLElement) {
    super();
    this.sliderEl = containerEl.createEl("input", { cls: "slider", type: "range" });
  }

  override setDisabled(disabled: boolean): this {
    this.sliderEl.disabled = disabled;
    return super.setDisabled(disabled);
  }

  setInstant(instant: boolean): this {
    this.instant = instant;
    return this;
  }

  setLimits(min: number | null, max: number | null, step: number | "any"): this {
    this.sliderEl.setAttrs({ min, max, step });
    return this;
  }

  getValue(): number {
    return Number(this.sliderEl.value);
  }

  setValue(value: number): this {
    this.sliderEl.value = String(value);
    return this;
  }

  getValuePretty(): string {
    return this.sliderEl.value;
  }

  setDynamicTooltip(): this {
    return this;
  }

  setDisplayFormat(format: (value: number) => string): this {
    this.sliderEl.setAttr("aria-valuetext", format(this.getValue()));
    return this;
  }

  onChange(callback: (value: number) => unknown): this {
    const tell = (): void => {
      callback(this.getValue());
    };
    this.sliderEl.addEventListener("change", tell);
    this.sliderEl.addEventListener("input", () => {
      if (this.instant) tell();
    });
    return this;
  }
}

export class ToggleComponent extends ValueComponent<boolean> {
  toggleEl: HTMLElement;
  private changed: ((value: boolean) => unknown) | null = null;
  private readonly box: HTMLInputElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.toggleEl = containerEl.createDiv("checkbox-container");
    this.box = this.toggleEl.createEl("input", { type: "checkbox", attr: { tabindex: 0 } });
    this.toggleEl.addEventListener("click", (evt) => {
      if (evt.target !== this.box) this.onClick();
    });
    this.box.addEventListener("change", () => {
      this.setValue(this.box.checked);
      this.changed?.(this.box.checked);
    });
  }

  override setDisabled(disabled: boolean): this {
    this.box.disabled = disabled;
    return super.setDisabled(disabled);
  }

  getValue(): boolean {
    return this.box.checked;
  }

  setValue(on: boolean): this {
    this.box.checked = on;
    this.toggleEl.toggleClass("is-enabled", on);
    return this;
  }

  setTooltip(tooltip: string): this {
    this.toggleEl.setAttr("aria-label", tooltip);
    return this;
  }

  onClick(): void {
    this.setValue(!this.getValue());
    this.changed?.(this.getValue());
  }

  onChange(callback: (value: boolean) => unknown): this {
    this.changed = callback;
    return this;
  }
}

export class ButtonComponent extends BaseComponent {
  buttonEl: HTMLButtonElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.buttonEl = containerEl.createEl("button");
  }

  override setDisabled(disabled: boolean): this {
    this.buttonEl.disabled = disabled;
    return super.setDisabled(disabled);
  }

  setCta(): this {
    this.buttonEl.addClass("mod-cta");
    return this;
  }

  removeCta(): this {
    this.buttonEl.removeClass("mod-cta");
    return this;
  }

  setWarning(): this {
    this.buttonEl.addClass("mod-warning");
    return this;
  }

  setDestructive(): this {
    return this.setWarning();
  }

  setTooltip(tooltip: string): this {
    this.buttonEl.setAttr("aria-label", tooltip);
    return this;
  }

  setButtonText(name: string): this {
    this.buttonEl.setText(name);
    return this;
  }

  setIcon(icon: string): this {
    setIcon(this.buttonEl, icon);
    return this;
  }

  setClass(cls: string): this {
    this.buttonEl.addClass(cls);
    return this;
  }

  onClick(callback: (evt: MouseEvent) => unknown): this {
    this.buttonEl.addEventListener("click", callback);
    return this;
  }
}

export class ExtraButtonComponent extends BaseComponent {
  extraSettingsEl: HTMLElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.extraSettingsEl = containerEl.createEl("button", "clickable-icon extra-setting-button");
  }

  setTooltip(tooltip: string): this {
    this.extraSettingsEl.setAttr("aria-label", tooltip);
    return this;
  }

  setIcon(icon: string): this {
    setIcon(this.extraSettingsEl, icon);
    return this;
  }

  onClick(callback: () => unknown): this {
    this.extraSettingsEl.addEventListener("click", callback);
    return this;
  }
}

/** A text whose value the user never sees again; kept in the secret storage by its name. */
export class SecretComponent extends BaseComponent {
  private readonly inputEl: HTMLInputElement;

  constructor(_app: O.App, containerEl: HTMLElement) {
    super();
    this.inputEl = containerEl.createEl("input", { type: "password" });
  }

  setValue(value: string): this {
    this.inputEl.value = value;
    return this;
  }

  onChange(cb: (value: string) => unknown): this {
    this.inputEl.addEventListener("input", () => {
      cb(this.inputEl.value);
    });
    return this;
  }
}

/** A component as the published types see it. */
export function component<T>(mine: BaseComponent): T {
  return published(mine);
}
