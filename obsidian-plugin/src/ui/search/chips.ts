/** The filters of a search as chips; a click takes one away. */

import { setIcon, type Component } from "obsidian";

export class Chips {
  private readonly el: HTMLElement;
  private filters: readonly string[] = [];

  constructor(
    parent: HTMLElement,
    component: Component,
    private readonly removed: (filter: string) => void,
  ) {
    const attr = { role: "group", "aria-label": "Filters" };
    this.el = parent.createDiv({ cls: "khiip-chips", attr });
    component.registerDomEvent(this.el, "click", (event) => {
      const node = event.target as Node | null;
      const chip = node?.instanceOf(Element) ? node.closest<HTMLElement>("[data-filter]") : null;
      if (chip?.dataset.filter) this.removed(chip.dataset.filter);
    });
  }

  /** Show these filters. */
  set(filters: readonly string[]): void {
    if (filters.join("\n") === this.filters.join("\n")) return;
    this.filters = [...filters];
    this.el.empty();
    for (const filter of filters) this.draw(filter);
  }

  private draw(filter: string): void {
    const chip = this.el.createEl("button", {
      cls: "khiip-chip",
      attr: { "aria-label": `Remove ${filter}` },
    });
    chip.dataset.filter = filter;
    chip.toggleClass("is-negative", filter.startsWith("-"));
    chip.createSpan({ text: filter, attr: { dir: "auto" } });
    setIcon(chip.createSpan({ cls: "khiip-chip-remove", attr: { "aria-hidden": "true" } }), "x");
  }
}
