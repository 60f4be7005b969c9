/** Events and Component: what everything else is built on. */
import type * as O from "obsidian";

type Listener = (...data: unknown[]) => unknown;

interface Ref {
  name: string;
  callback: Listener;
  owner: Events;
}

/** One place for the step from the stand-in's objects to the published types. */
export function published<T>(mine: unknown): T {
  return mine as T;
}

export class Events {
  private refs: Ref[] = [];

  on(name: string, callback: Listener, ctx?: unknown): O.EventRef {
    const bound = ctx === undefined ? callback : callback.bind(ctx);
    const ref: Ref = { name, callback: bound, owner: this };
    this.refs.push(ref);
    return ref;
  }

  off(name: string, callback: Listener): void {
    this.refs = this.refs.filter((ref) => ref.name !== name || ref.callback !== callback);
  }

  offref(ref: O.EventRef): void {
    this.refs = this.refs.filter((known) => known !== ref);
  }

  trigger(name: string, ...data: unknown[]): void {
    for (const ref of [...this.refs]) {
      if (ref.name === name) this.tryTrigger(ref, data);
    }
  }

  tryTrigger(ref: O.EventRef, args: unknown[]): void {
    try {
      (ref as Ref).callback(...args);
    } catch (error) {
      window.setTimeout(() => {
        throw error; // as Obsidian does: the others are told, and the fault is seen
      });
    }
  }

  /** How many listeners are left; the tests look for leaks by it. */
  get listeners(): number {
    return this.refs.length;
  }
}

export class Component {
  private loaded = false;
  private children: Component[] = [];
  private cleanups: (() => unknown)[] = [];

  load(): unknown {
    if (this.loaded) return undefined;
    this.loaded = true;
    const result: unknown = this.onload();
    for (const child of this.children) child.load();
    return result;
  }

  onload(): unknown {
    return undefined;
  }

  unload(): void {
    if (!this.loaded) return;
    this.loaded = false;
    for (const child of [...this.children]) child.unload();
    this.children = [];
    for (const cleanup of this.cleanups.splice(0).reverse()) cleanup();
    this.onunload();
  }

  onunload(): void {
    // for those who have something to undo
  }

  addChild<T extends O.Component>(component: T): T {
    const child = published<Component>(component);
    this.children.push(child);
    if (this.loaded) child.load();
    return component;
  }

  removeChild<T extends O.Component>(component: T): T {
    const child = published<Component>(component);
    this.children = this.children.filter((known) => known !== child);
    child.unload();
    return component;
  }

  register(cb: () => unknown): void {
    this.cleanups.push(cb);
  }

  registerEvent(ref: O.EventRef): void {
    this.register(() => {
      (ref as Ref).owner.offref(ref);
    });
  }

  registerDomEvent(
    el: EventTarget,
    type: string,
    callback: (ev: never) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void {
    const listener = callback as EventListener;
    el.addEventListener(type, listener, options);
    this.register(() => {
      el.removeEventListener(type, listener, options);
    });
  }

  registerInterval(id: number): number {
    this.register(() => {
      window.clearInterval(id);
    });
    return id;
  }
}
