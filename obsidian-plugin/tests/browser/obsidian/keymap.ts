/** Scopes of keys, as modals, views and commands register them. */
import type * as O from "obsidian";
import { published } from "./events";

type Handler = O.KeymapEventHandler & { func: O.KeymapEventListener };

function pressed(evt: KeyboardEvent | MouseEvent | TouchEvent): string {
  const names: string[] = [];
  if (evt.ctrlKey) names.push("Ctrl");
  if (evt.altKey) names.push("Alt");
  if (evt.metaKey) names.push("Meta");
  if (evt.shiftKey) names.push("Shift");
  return names.sort().join(",");
}

function wanted(modifiers: O.Modifier[] | null): string | null {
  if (!modifiers) return null;
  return modifiers
    .map((name) => (name === "Mod" ? "Ctrl" : name))
    .sort()
    .join(",");
}

export class Scope {
  private handlers: Handler[] = [];

  constructor(private readonly parent?: O.Scope) {}

  register(
    modifiers: O.Modifier[] | null,
    key: string | null,
    func: O.KeymapEventListener,
  ): O.KeymapEventHandler {
    const handler: Handler = {
      scope: published(this),
      modifiers: wanted(modifiers),
      key,
      func,
    };
    this.handlers.unshift(handler);
    return handler;
  }

  unregister(handler: O.KeymapEventHandler): void {
    this.handlers = this.handlers.filter((known) => known !== handler);
  }

  /** True when a handler took the key. */
  handle(evt: KeyboardEvent): boolean {
    const held = pressed(evt);
    const context: O.KeymapContext = { modifiers: held, key: evt.key, vkey: evt.key };
    for (const handler of this.handlers) {
      const sameKey = handler.key === null || handler.key.toLowerCase() === evt.key.toLowerCase();
      if (!sameKey || (handler.modifiers !== null && handler.modifiers !== held)) continue;
      if (handler.func(evt, context) === false) evt.preventDefault();
      return true;
    }
    return this.parent ? published<Scope>(this.parent).handle(evt) : false;
  }
}

export class Keymap {
  private readonly scopes: Scope[] = [];

  constructor(
    private readonly root: Scope,
    private readonly ofActiveView: () => Scope | null,
  ) {
    window.addEventListener(
      "keydown",
      (evt) => {
        this.onKey(evt);
      },
      true,
    );
  }

  pushScope(scope: O.Scope): void {
    this.scopes.push(published<Scope>(scope));
  }

  popScope(scope: O.Scope): void {
    const at = this.scopes.lastIndexOf(published<Scope>(scope));
    if (at >= 0) this.scopes.splice(at, 1);
  }

  private onKey(evt: KeyboardEvent): void {
    if (evt.isComposing) return;
    const top = this.scopes[this.scopes.length - 1];
    if (top ? top.handle(evt) : this.ofActiveView()?.handle(evt)) return;
    if (!top) this.root.handle(evt);
  }

  static isModifier(evt: MouseEvent | TouchEvent | KeyboardEvent, modifier: O.Modifier): boolean {
    if (modifier === "Ctrl" || modifier === "Mod") return evt.ctrlKey;
    if (modifier === "Meta") return evt.metaKey;
    return modifier === "Shift" ? evt.shiftKey : evt.altKey;
  }

  static isModEvent(evt?: O.UserEvent | null): O.PaneType | boolean {
    if (!evt) return false;
    if (evt instanceof MouseEvent && evt.button === 1) return "tab";
    if (!evt.ctrlKey) return false;
    if (evt.altKey && evt.shiftKey) return "window";
    return evt.altKey ? "split" : "tab";
  }
}
