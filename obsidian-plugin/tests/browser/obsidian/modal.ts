/** Modals, and suggestions in them. */
import type * as O from "obsidian";
import { Chooser } from "./chooser";
import { published } from "./events";
import { Scope } from "./keymap";

export class Modal {
  scope: O.Scope = published(new Scope());
  containerEl = createDiv("modal-container mod-dim");
  modalEl: HTMLElement;
  titleEl: HTMLElement;
  contentEl: HTMLElement;
  shouldRestoreSelection = true;
  private closed: (() => unknown) | null = null;
  private before: Element | null = null;

  constructor(public app: O.App) {
    this.containerEl.createDiv("modal-bg").addEventListener("click", () => {
      this.close();
    });
    this.modalEl = this.containerEl.createDiv({ cls: "modal", attr: { role: "dialog" } });
    const close = this.modalEl.createDiv("modal-close-button");
    close.addEventListener("click", () => {
      this.close();
    });
    this.titleEl = this.modalEl.createDiv("modal-title");
    this.contentEl = this.modalEl.createDiv("modal-content");
    this.scope.register([], "Escape", () => {
      this.close();
      return false;
    });
  }

  open(): void {
    this.before = document.activeElement;
    document.body.appendChild(this.containerEl);
    this.app.keymap.pushScope(this.scope);
    const name = this.titleEl.getText() || "Dialog";
    this.modalEl.setAttrs({ "aria-modal": true, "aria-label": name, tabindex: -1 });
    this.modalEl.focus();
    void this.onOpen();
  }

  close(): void {
    if (!this.containerEl.isConnected) return;
    this.app.keymap.popScope(this.scope);
    this.containerEl.detach();
    this.onClose();
    this.closed?.();
    if (this.before instanceof HTMLElement) this.before.focus();
  }

  onOpen(): Promise<void> | void {
    // for those who draw
  }

  onClose(): void {
    // for those who clean up
  }

  setTitle(title: string): this {
    this.titleEl.setText(title);
    return this;
  }

  setContent(content: string | DocumentFragment): this {
    this.contentEl.setText(content);
    return this;
  }

  setCloseCallback(callback: () => unknown): this {
    this.closed = callback;
    return this;
  }
}

export abstract class SuggestModal<T> extends Modal {
  limit = 100;
  emptyStateText = "No results found.";
  inputEl: HTMLInputElement;
  resultContainerEl: HTMLElement;
  private readonly chooser: Chooser<T>;
  private asked = 0;

  constructor(app: O.App) {
    super(app);
    this.modalEl.className = "prompt";
    this.modalEl.empty();
    const holder = this.modalEl.createDiv("prompt-input-container");
    this.inputEl = holder.createEl("input", {
      cls: "prompt-input",
      attr: { autocapitalize: "off", spellcheck: "false", enterkeyhint: "done", type: "text" },
    });
    this.resultContainerEl = this.modalEl.createDiv("prompt-results");
    this.chooser = new Chooser<T>(this.resultContainerEl, this);
    this.chooser.register(this.scope);
    this.scope.register([], "Enter", (evt) => {
      this.selectActiveSuggestion(evt);
      return false;
    });
    this.inputEl.addEventListener("input", () => {
      this.onInput();
    });
  }

  override open(): void {
    super.open();
    this.inputEl.focus();
    this.onInput();
  }

  private onInput(): void {
    const turn = ++this.asked;
    const found = this.getSuggestions(this.inputEl.value);
    if (Array.isArray(found)) this.show(found);
    else {
      void found.then((values) => {
        if (turn === this.asked) this.show(values);
      });
    }
  }

  private show(values: T[]): void {
    this.chooser.show(values.slice(0, this.limit));
    if (!values.length) this.onNoSuggestion();
  }

  setPlaceholder(placeholder: string): void {
    this.inputEl.placeholder = placeholder;
  }

  setInstructions(instructions: O.Instruction[]): void {
    const el = this.modalEl.createDiv("prompt-instructions");
    for (const { command, purpose } of instructions) {
      const one = el.createDiv("prompt-instruction");
      one.createSpan({ cls: "prompt-instruction-command", text: command });
      one.createSpan({ text: purpose });
    }
  }

  onNoSuggestion(): void {
    this.resultContainerEl.empty();
    if (this.inputEl.value && this.emptyStateText) {
      this.resultContainerEl.createDiv({ cls: "suggestion-empty", text: this.emptyStateText });
    }
  }

  selectSuggestion(value: T, evt: MouseEvent | KeyboardEvent): void {
    this.close();
    this.onChooseSuggestion(value, evt);
  }

  selectActiveSuggestion(evt: MouseEvent | KeyboardEvent): void {
    this.chooser.use(evt);
  }

  abstract getSuggestions(query: string): T[] | Promise<T[]>;
  abstract renderSuggestion(value: T, el: HTMLElement): void;
  abstract onChooseSuggestion(item: T, evt: MouseEvent | KeyboardEvent): void;
}

export abstract class FuzzySuggestModal<T> extends SuggestModal<O.FuzzyMatch<T>> {
  getSuggestions(query: string): O.FuzzyMatch<T>[] {
    const wanted = query.toLowerCase();
    const fits = this.getItems().filter((item) =>
      this.getItemText(item).toLowerCase().includes(wanted),
    );
    return fits.map((item) => ({ item, match: { score: 0, matches: [] } }));
  }

  renderSuggestion(item: O.FuzzyMatch<T>, el: HTMLElement): void {
    el.setText(this.getItemText(item.item));
  }

  onChooseSuggestion(item: O.FuzzyMatch<T>, evt: MouseEvent | KeyboardEvent): void {
    this.onChooseItem(item.item, evt);
  }

  abstract getItems(): T[];
  abstract getItemText(item: T): string;
  abstract onChooseItem(item: T, evt: MouseEvent | KeyboardEvent): void;
}
