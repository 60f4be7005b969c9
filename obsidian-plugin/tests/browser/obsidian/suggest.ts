/** Suggestions under inputs. */
import type * as O from "obsidian";
import { Chooser } from "./chooser";
import { published } from "./events";
import { Scope } from "./keymap";

export abstract class PopoverSuggest<T> {
  scope: O.Scope;
  protected readonly suggestEl = createDiv("suggestion-container");
  protected readonly chooser: Chooser<T>;
  private isOpen = false;

  constructor(
    public app: O.App,
    scope?: O.Scope,
  ) {
    this.scope = scope ?? published(new Scope());
    this.chooser = new Chooser<T>(this.suggestEl.createDiv("suggestion"), this);
    this.chooser.register(this.scope);
    this.scope.register([], "Enter", (evt) => this.chooser.use(evt));
    this.scope.register([], "Escape", () => {
      this.close();
      return false;
    });
  }

  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    document.body.appendChild(this.suggestEl);
    this.app.keymap.pushScope(this.scope);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.suggestEl.detach();
    this.app.keymap.popScope(this.scope);
  }

  abstract renderSuggestion(value: T, el: HTMLElement): void;
  abstract selectSuggestion(value: T, evt: MouseEvent | KeyboardEvent): void;
}

export abstract class AbstractInputSuggest<T> extends PopoverSuggest<T> {
  limit = 100;
  private selected: ((value: T, evt: MouseEvent | KeyboardEvent) => unknown) | null = null;

  constructor(
    app: O.App,
    private readonly input: HTMLInputElement | HTMLDivElement,
  ) {
    super(app);
    const ask = (): void => {
      void this.ask();
    };
    input.addEventListener("input", ask);
    input.addEventListener("focus", ask);
    input.addEventListener("blur", () => {
      this.close();
    });
  }

  private async ask(): Promise<void> {
    const values = await this.getSuggestions(this.getValue());
    if (!values.length || document.activeElement !== this.input) {
      this.close();
      return;
    }
    this.open();
    this.chooser.show(values.slice(0, this.limit));
    const box = this.input.getBoundingClientRect();
    this.suggestEl.setCssStyles({
      left: `${String(box.left)}px`,
      top: `${String(box.bottom + 4)}px`,
      width: `${String(box.width)}px`,
    });
  }

  getValue(): string {
    return this.input instanceof HTMLInputElement ? this.input.value : this.input.getText();
  }

  setValue(value: string): void {
    if (this.input instanceof HTMLInputElement) this.input.value = value;
    else this.input.setText(value);
  }

  onSelect(callback: (value: T, evt: MouseEvent | KeyboardEvent) => unknown): this {
    this.selected = callback;
    return this;
  }

  selectSuggestion(value: T, evt: MouseEvent | KeyboardEvent): void {
    this.selected?.(value, evt);
  }

  abstract getSuggestions(query: string): T[] | Promise<T[]>;
}
