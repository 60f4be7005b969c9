/** A list of hits: one is chosen by arrows, and opened, linked, dragged or previewed. */

import { Keymap, type Component, type HoverParent } from "obsidian";
import type { Hit } from "../api/wire";
import type { Khiip } from "../khiip";
import { drawHit, type Drawing } from "./hit";
import { insertLink, linkTo, openPlace, paneOf, placeMenu, preview, type Place } from "./open";

/** What a list is told at its making. */
export interface HitListParts {
  khiip: Khiip;
  /** Its accessible name. */
  label: string;
  /** Who shows previews: the view's type. */
  source: string;
  hoverParent: HoverParent;
  /** Has the focus while hits are chosen; null: the list itself. */
  focusEl: HTMLElement | null;
}

const PAGE = 6;

export class HitList {
  readonly el: HTMLElement;
  private readonly focusEl: HTMLElement;
  private readonly prefix: string;
  private hits: Hit[] = [];
  private options: HTMLElement[] = [];
  private chosen = -1;

  constructor(
    parent: HTMLElement,
    component: Component,
    private readonly parts: HitListParts,
  ) {
    this.prefix = parts.khiip.uniqueId();
    const attr = { role: "listbox", "aria-label": parts.label, id: this.prefix };
    this.el = parent.createDiv({ cls: "khiip-hits", attr });
    this.focusEl = parts.focusEl ?? this.el;
    this.register(component);
  }

  /** Say that hits are on their way, or are all there. */
  setBusy(busy: boolean): void {
    this.el.setAttr("aria-busy", String(busy));
  }

  /** Show nothing. */
  clear(): void {
    this.show([], { now: 0, rank: "relevance" });
  }

  /** How many there are. */
  get size(): number {
    return this.hits.length;
  }

  /** Show these hits and no others; the one that was chosen stays so when it is among them. */
  show(hits: readonly Hit[], how: Drawing): void {
    const before = this.hits[this.chosen]?.id;
    this.el.empty();
    this.hits = [];
    this.options = [];
    this.chosen = -1;
    this.append(hits, how);
    // What scrolls must be reached by keys; an empty list need not.
    this.el.tabIndex = hits.length > 0 ? 0 : -1;
    const again = this.hits.findIndex((hit) => hit.id === before);
    this.choose(again >= 0 ? again : 0, false);
  }

  /** Show more hits below; those that are there already are left out. */
  append(hits: readonly Hit[], how: Drawing): void {
    const known = new Set(this.hits.map((hit) => hit.id));
    for (const hit of hits) {
      if (known.has(hit.id)) continue;
      const option = drawHit(this.el, hit, `${this.prefix}-${this.hits.length}`, how);
      option.dataset.index = String(this.hits.length);
      this.options.push(option);
      this.hits.push(hit);
    }
  }

  /** Do what a key means here; says whether it meant something. */
  key(event: KeyboardEvent): boolean {
    const step = STEPS[event.key];
    if (step !== undefined && !event.altKey && !Keymap.isModifier(event, "Mod")) {
      this.choose(this.chosen + step, true);
      return this.hits.length > 0;
    }
    if (event.key !== "Enter" || !this.hits[this.chosen]) return false;
    if (event.altKey) this.insert(this.chosen);
    else this.open(this.chosen, event);
    return true;
  }

  private register(component: Component): void {
    const { el } = this;
    component.registerDomEvent(el, "click", (event) => {
      this.at(event, (index) => {
        this.choose(index, false);
        if (event.altKey) this.insert(index);
        else this.open(index, event);
      });
    });
    component.registerDomEvent(el, "auxclick", (event) => {
      if (event.button === 1)
        this.at(event, (index) => {
          this.openIn(index, "tab");
        });
    });
    component.registerDomEvent(el, "contextmenu", (event) => {
      this.at(event, (index) => {
        this.menu(index, event);
      });
    });
    component.registerDomEvent(el, "mouseover", (event) => {
      this.at(event, (index) => {
        this.hover(index, event);
      });
    });
    component.registerDomEvent(el, "dragstart", (event) => {
      this.at(event, (index) => {
        this.drag(index, event);
      });
    });
    component.registerDomEvent(el, "keydown", (event) => {
      if (this.key(event)) event.preventDefault();
    });
  }

  private at(event: MouseEvent, run: (index: number) => void): void {
    const node = event.target as Node | null;
    const option = node?.instanceOf(Element) ? node.closest<HTMLElement>("[data-index]") : null;
    if (option?.dataset.index) run(Number(option.dataset.index));
  }

  private choose(wanted: number, scroll: boolean): void {
    const index = Math.max(0, Math.min(wanted, this.options.length - 1));
    this.options[this.chosen]?.setAttr("aria-selected", "false");
    const option = this.options[index];
    this.chosen = option ? index : -1;
    option?.setAttr("aria-selected", "true");
    this.pointAtChosen();
    if (scroll) option?.scrollIntoView({ block: "nearest" });
  }

  /** Tell a screen reader which hit is chosen; something else may have been meanwhile. */
  pointAtChosen(): void {
    const option = this.options[this.chosen];
    for (const el of [this.el, this.focusEl]) {
      if (option) el.setAttr("aria-activedescendant", option.id);
      else el.removeAttribute("aria-activedescendant");
    }
  }

  private open(index: number, event: MouseEvent | KeyboardEvent): void {
    this.openIn(index, paneOf(event, Keymap.isModifier(event, "Mod")));
  }

  private openIn(index: number, pane: ReturnType<typeof paneOf>): void {
    this.on(index, (place) => {
      this.parts.khiip.run(() => openPlace(this.parts.khiip, place, pane));
    });
  }

  private insert(index: number): void {
    this.on(index, (place) => {
      this.parts.khiip.run(() => {
        insertLink(this.parts.khiip.app, place.path);
      });
    });
  }

  private menu(index: number, event: MouseEvent): void {
    event.preventDefault();
    this.choose(index, false);
    this.on(index, (place) => {
      placeMenu(this.parts.khiip, this.parts.source, place).showAtMouseEvent(event);
    });
  }

  private hover(index: number, event: MouseEvent): void {
    const { khiip, source, hoverParent } = this.parts;
    const option = this.options[index];
    this.on(index, (place) => {
      if (option) preview(khiip.app, source, hoverParent, event, option, place);
    });
  }

  private drag(index: number, event: DragEvent): void {
    this.on(index, (place) => {
      event.dataTransfer?.setData("text/plain", linkTo(this.parts.khiip.app, place.path));
    });
  }

  private on(index: number, run: (place: Place) => void): void {
    const hit = this.hits[index];
    if (hit) run(placeOf(hit));
  }
}

const STEPS: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE,
  PageUp: -PAGE,
};

/** Where a hit leads. */
export function placeOf(hit: Hit): Place {
  const { vault_path: path, id, passage } = hit;
  return { path, id, line: passage?.line ?? null, heading: passage?.heading ?? null };
}
