/** Suggestions under the search box while a filter is typed. */

import type { Component } from "obsidian";
import type { Suggestion } from "../../search/suggest";

export class SuggestionList {
  private readonly el: HTMLElement;
  private items: readonly Suggestion[] = [];
  private options: HTMLElement[] = [];
  private chosen = -1;

  constructor(
    parent: HTMLElement,
    component: Component,
    private readonly focusEl: HTMLElement,
    private readonly id: string,
    private readonly tell: { picked: (suggestion: Suggestion) => void; closed: () => void },
  ) {
    const attr = { role: "listbox", "aria-label": "Suggestions", id };
    this.el = parent.createDiv({ cls: "khiip-suggestions", attr });
    this.el.hide();
    component.registerDomEvent(this.el, "mousedown", (event) => {
      event.preventDefault(); // the box keeps the focus
      const index = this.options.findIndex((each) => each.contains(event.target as Node | null));
      this.pick(index);
    });
  }

  get open(): boolean {
    return this.items.length > 0;
  }

  /** Show these, or nothing when there are none. */
  show(items: readonly Suggestion[]): void {
    const before = this.open;
    this.items = items;
    this.el.empty();
    this.el.toggle(items.length > 0);
    this.options = items.map((item, index) => this.draw(item, index));
    // A value is being typed: Enter takes the best one. A name is only offered.
    this.choose(items[0]?.whole ? 0 : -1);
    if (before && items.length === 0) this.tell.closed();
  }

  /** Do what a key means here; says whether it meant something. */
  key(event: KeyboardEvent): boolean {
    if (!this.open || event.altKey || event.metaKey || event.ctrlKey) return false;
    if (event.key === "Escape") this.show([]);
    else if (event.key === "ArrowDown") this.choose((this.chosen + 1) % this.items.length);
    else if (event.key === "ArrowUp") this.choose(Math.max(this.chosen, 1) - 1);
    else if (event.key === "Tab" && !event.shiftKey) this.pick(Math.max(0, this.chosen));
    else if (event.key === "Enter" && this.chosen >= 0) this.pick(this.chosen);
    else return false;
    return true;
  }

  private draw(item: Suggestion, index: number): HTMLElement {
    const attr = { role: "option", id: `${this.id}-${index}`, "aria-selected": "false" };
    const option = this.el.createDiv({ cls: "khiip-suggestion", attr });
    option.createSpan({ cls: "khiip-suggestion-text", text: item.label, attr: { dir: "auto" } });
    if (item.help) option.createSpan({ cls: "khiip-suggestion-help", text: item.help });
    return option;
  }

  private choose(index: number): void {
    this.options[this.chosen]?.setAttr("aria-selected", "false");
    this.chosen = index;
    const option = this.options[index];
    option?.setAttr("aria-selected", "true");
    if (option) this.focusEl.setAttr("aria-activedescendant", option.id);
  }

  private pick(index: number): void {
    const item = this.items[index];
    if (item) this.tell.picked(item);
  }
}
