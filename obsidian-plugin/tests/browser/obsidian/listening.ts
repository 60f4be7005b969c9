/** Listening by selectors, as Obsidian adds it to elements and documents. */

type Delegated = (this: HTMLElement, ev: Event, target: HTMLElement) => unknown;
interface Delegation {
  type: string;
  selector: string;
  listener: Delegated;
  wrapped: (ev: Event) => void;
}
const delegations = new WeakMap<EventTarget, Delegation[]>();

export const listening = {
  on(
    this: HTMLElement | Document,
    type: string,
    selector: string,
    listener: Delegated,
    options?: boolean | AddEventListenerOptions,
  ) {
    const wrapped = (ev: Event): void => {
      const target = ev.target instanceof Element ? ev.target.closest(selector) : null;
      if (target instanceof HTMLElement && this.contains(target)) {
        listener.call(this as HTMLElement, ev, target);
      }
    };
    const known = delegations.get(this) ?? [];
    delegations.set(this, [...known, { type, selector, listener, wrapped }]);
    this.addEventListener(type, wrapped, options);
  },
  off(this: HTMLElement | Document, type: string, selector: string, listener: Delegated) {
    for (const entry of delegations.get(this) ?? []) {
      const same = entry.type === type && entry.selector === selector;
      if (same && entry.listener === listener) this.removeEventListener(type, entry.wrapped);
    }
  },
  onClickEvent(
    this: HTMLElement,
    listener: (ev: MouseEvent) => unknown,
    options?: boolean | AddEventListenerOptions,
  ) {
    this.addEventListener("click", listener, options);
    this.addEventListener("auxclick", listener, options);
  },
  trigger(this: HTMLElement, type: string) {
    this.dispatchEvent(new Event(type, { bubbles: true, cancelable: true }));
  },
  onWindowMigrated(): () => void {
    return () => undefined; // there is one window here
  },
};

const { on, off } = Object.getOwnPropertyDescriptors(listening);

/** What documents have of it. */
export const listeningOfDocuments: object = Object.defineProperties({}, { on, off });
