/** An editor over a text area: cursor, selection, replacing. */
import type * as O from "obsidian";

export class Editor {
  constructor(
    private readonly el: HTMLTextAreaElement,
    private readonly changed: () => void,
  ) {
    el.addEventListener("input", () => {
      this.changed();
    });
  }

  getDoc(): this {
    return this;
  }

  getValue(): string {
    return this.el.value;
  }

  setValue(content: string): void {
    this.el.value = content;
    this.changed();
  }

  getLine(line: number): string {
    return this.el.value.split("\n")[line] ?? "";
  }

  lineCount(): number {
    return this.el.value.split("\n").length;
  }

  lastLine(): number {
    return this.lineCount() - 1;
  }

  getSelection(): string {
    return this.el.value.slice(this.el.selectionStart, this.el.selectionEnd);
  }

  somethingSelected(): boolean {
    return this.el.selectionStart !== this.el.selectionEnd;
  }

  getRange(from: O.EditorPosition, to: O.EditorPosition): string {
    return this.el.value.slice(this.posToOffset(from), this.posToOffset(to));
  }

  replaceSelection(replacement: string): void {
    this.el.setRangeText(replacement, this.el.selectionStart, this.el.selectionEnd, "end");
    this.changed();
  }

  replaceRange(replacement: string, from: O.EditorPosition, to?: O.EditorPosition): void {
    const start = this.posToOffset(from);
    this.el.setRangeText(replacement, start, to ? this.posToOffset(to) : start, "preserve");
    this.changed();
  }

  getCursor(side?: "from" | "to" | "head" | "anchor"): O.EditorPosition {
    const start = side === "from" || side === "anchor";
    return this.offsetToPos(start ? this.el.selectionStart : this.el.selectionEnd);
  }

  setCursor(pos: O.EditorPosition | number, ch?: number): void {
    const at = typeof pos === "number" ? { line: pos, ch: ch ?? 0 } : pos;
    this.setSelection(at, at);
  }

  setSelection(anchor: O.EditorPosition, head?: O.EditorPosition): void {
    this.el.setSelectionRange(this.posToOffset(anchor), this.posToOffset(head ?? anchor));
  }

  focus(): void {
    this.el.focus();
  }

  blur(): void {
    this.el.blur();
  }

  hasFocus(): boolean {
    return document.activeElement === this.el;
  }

  scrollIntoView(range: O.EditorRange): void {
    this.el.scrollTop = range.from.line * 20;
  }

  posToOffset(pos: O.EditorPosition): number {
    const lines = this.el.value.split("\n").slice(0, pos.line);
    return lines.reduce((sum, line) => sum + line.length + 1, 0) + pos.ch;
  }

  offsetToPos(offset: number): O.EditorPosition {
    const before = this.el.value.slice(0, offset).split("\n");
    return { line: before.length - 1, ch: before[before.length - 1]?.length ?? 0 };
  }
}
