import type * as O from "obsidian";

/** A list of suggestions with one chosen; keys come from the owner's scope. */
export class Chooser<T> {
  values: T[] = [];
  private at = 0;

  constructor(
    private readonly el: HTMLElement,
    private readonly owner: {
      renderSuggestion(value: T, el: HTMLElement): void;
      selectSuggestion(value: T, evt: MouseEvent | KeyboardEvent): void;
    },
  ) {}

  show(values: T[]): void {
    this.values = values;
    this.el.empty();
    for (const [index, value] of values.entries()) {
      const item = this.el.createDiv({ cls: "suggestion-item" });
      this.owner.renderSuggestion(value, item);
      item.addEventListener("mousemove", () => {
        this.choose(index);
      });
      item.addEventListener("click", (evt) => {
        this.owner.selectSuggestion(value, evt);
      });
      item.addEventListener("mousedown", (evt) => {
        evt.preventDefault();
      });
    }
    this.choose(0);
  }

  choose(index: number): void {
    const count = this.values.length;
    if (!count) return;
    this.at = (index + count) % count;
    for (const [at, item] of Array.from(this.el.children).entries()) {
      item.toggleClass("is-selected", at === this.at);
      if (at === this.at) item.scrollIntoView({ block: "nearest" });
    }
  }

  move(step: number): false {
    this.choose(this.at + step);
    return false;
  }

  use(evt: MouseEvent | KeyboardEvent): false {
    const value = this.values[this.at];
    if (value !== undefined) this.owner.selectSuggestion(value, evt);
    return false;
  }

  register(scope: O.Scope): void {
    scope.register([], "ArrowDown", () => this.move(1));
    scope.register([], "ArrowUp", () => this.move(-1));
  }
}
