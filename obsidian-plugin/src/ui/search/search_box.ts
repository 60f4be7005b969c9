/** The search box: what is typed, filters taken out of it, suggestions, keys. */

import type { Component } from "obsidian";
import { suggestions, type Known, type Suggestion } from "../../search/suggest";
import { takeFilters } from "../../search/filters";
import { SuggestionList } from "./suggestion_list";

/** What the box tells. */
export interface BoxListener {
  typed: (text: string) => void;
  /** Whole filters were typed or picked, and are out of the text now. */
  filtered: (filters: string[], text: string) => void;
  /** Backspace in an empty box: the last filter is wanted back as text. */
  backspaced: () => void;
  /** A key that the box has no use for; says whether it meant something. */
  key: (event: KeyboardEvent) => boolean;
  /** The suggestions are gone: what the arrows choose now is elsewhere. */
  closed: () => void;
}

export class SearchBox {
  readonly input: HTMLInputElement;
  private readonly clear: HTMLElement;
  private readonly list: SuggestionList;

  constructor(
    parent: HTMLElement,
    component: Component,
    id: string,
    private readonly known: Known & {
      forget: () => void;
      listen: (more: () => void) => () => void;
    },
    private readonly tell: BoxListener,
  ) {
    const wrap = parent.createDiv("khiip-box search-input-container");
    this.input = wrap.createEl("input", { type: "search", placeholder: "Search your notes" });
    this.input.setAttrs({
      "aria-label": "Search your notes",
      "aria-autocomplete": "list",
      enterkeyhint: "search",
      spellcheck: "false",
      autocomplete: "off",
      dir: "auto",
    });
    this.clear = wrap.createDiv({
      cls: "search-input-clear-button",
      attr: { "aria-hidden": "true" },
    });
    this.list = new SuggestionList(wrap, component, this.input, id, {
      picked: (suggestion) => {
        this.take(suggestion);
      },
      closed: tell.closed,
    });
    this.register(component);
    component.register(
      known.listen(() => {
        this.suggest(false);
      }),
    );
    this.set("");
  }

  /** Put a text into the box, telling nobody. */
  set(text: string): void {
    this.input.value = text;
    this.clear.toggle(text !== "");
    this.list.show([]);
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  private register(component: Component): void {
    component.registerDomEvent(this.input, "input", (event) => {
      this.changed(event.type === "input" && (event as InputEvent).isComposing);
    });
    component.registerDomEvent(this.input, "compositionend", () => {
      this.changed(false);
    });
    component.registerDomEvent(this.input, "keydown", (event) => {
      if (!event.isComposing && this.key(event)) event.preventDefault();
    });
    component.registerDomEvent(this.input, "focus", () => {
      this.known.forget();
    });
    component.registerDomEvent(this.input, "blur", () => {
      this.list.show([]);
    });
    component.registerDomEvent(this.clear, "mousedown", (event) => {
      event.preventDefault();
      this.set("");
      this.tell.typed("");
    });
  }

  private key(event: KeyboardEvent): boolean {
    if (this.list.key(event)) return true;
    if (event.key === "Backspace" && this.input.value === "") this.tell.backspaced();
    if (event.key === "Escape" && this.input.value !== "") {
      this.set("");
      this.tell.typed("");
      return true;
    }
    return this.tell.key(event);
  }

  /** The text has changed; while a word is being composed it is left as it is. */
  private changed(composing: boolean): void {
    const text = this.input.value;
    const { rest, taken } = composing ? { rest: text, taken: [] } : takeFilters(text);
    if (taken.length > 0) {
      this.set(rest);
      this.tell.filtered(taken, rest);
      return;
    }
    this.clear.toggle(text !== "");
    this.suggest(composing);
    this.tell.typed(text);
  }

  /** Show what fits the word that is typed; also when more is known than before. */
  private suggest(composing: boolean): void {
    const text = this.input.value;
    const cursor = this.input.selectionStart ?? text.length;
    const asked = !composing && this.input.isActiveElement();
    this.list.show(asked ? suggestions(text, cursor, this.known) : []);
  }

  private take(picked: Suggestion): void {
    const { value } = this.input;
    const before = value.slice(0, picked.start);
    const after = value.slice(picked.end);
    if (picked.whole) {
      const text = (before + after.replace(/^\s/u, "")).trimStart();
      this.set(text);
      this.tell.filtered([picked.text], text);
      return;
    }
    this.input.value = before + picked.text + after;
    const cursor = before.length + picked.text.length;
    this.input.setSelectionRange(cursor, cursor);
    this.changed(false);
  }
}
