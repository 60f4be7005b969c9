/** A switch between a few values: a group of radios, of which one can be reached by Tab. */

import type { Component } from "obsidian";

export class Segments<T extends string> {
  readonly el: HTMLElement;
  private readonly radios: HTMLElement[];

  constructor(
    parent: HTMLElement,
    component: Component,
    label: string,
    private readonly values: readonly (readonly [value: T, label: string])[],
    private readonly chosen: (value: T) => void,
  ) {
    const attr = { role: "radiogroup", "aria-label": label };
    this.el = parent.createDiv({ cls: "khiip-segments", attr });
    this.radios = values.map(([, name]) =>
      this.el.createEl("button", { cls: "khiip-segment", text: name, attr: { role: "radio" } }),
    );
    component.registerDomEvent(this.el, "click", (event) => {
      this.pick(this.radios.indexOf(event.target as HTMLElement));
    });
    component.registerDomEvent(this.el, "keydown", (event) => {
      this.key(event);
    });
  }

  /** Show which value is chosen, without telling anybody. */
  set(value: T): void {
    for (const [index, radio] of this.radios.entries()) {
      const on = this.values[index]?.[0] === value;
      radio.setAttr("aria-checked", String(on));
      radio.tabIndex = on ? 0 : -1;
    }
  }

  private key(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = this.radios.indexOf(event.target as HTMLElement);
    const next = (at + step + this.radios.length) % this.radios.length;
    this.radios[next]?.focus();
    this.pick(next);
  }

  private pick(index: number): void {
    const value = this.values[index]?.[0];
    if (value === undefined) return;
    this.set(value);
    this.chosen(value);
  }
}

const STEPS: Record<string, number> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
};
