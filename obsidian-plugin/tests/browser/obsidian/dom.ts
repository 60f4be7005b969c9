/** Obsidian's helpers on Node, Element and HTMLElement, and its globals. */
import { listening, listeningOfDocuments } from "./listening";

type Info = DomElementInfo | string | undefined;
type Callback<T> = ((el: T) => void) | undefined;

function define(prototype: object, helpers: object): void {
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(helpers));
}

function classesOf(cls: string | string[] | undefined): string[] {
  const list = cls === undefined ? [] : Array.isArray(cls) ? cls : [cls];
  return list.flatMap((entry) => entry.split(" ")).filter(Boolean);
}

function attach(el: Element, parent: Node | undefined, prepend: boolean | undefined): void {
  if (!parent) return;
  if (prepend) parent.insertBefore(el, parent.firstChild);
  else parent.appendChild(el);
}

function dress(el: HTMLElement, info: DomElementInfo): void {
  el.addClasses(classesOf(info.cls));
  if (info.text !== undefined) el.setText(info.text);
  if (info.attr) el.setAttrs(info.attr);
  if (info.title !== undefined) el.title = info.title;
  const plain = {
    value: info.value,
    type: info.type,
    placeholder: info.placeholder,
    href: info.href,
  };
  for (const [name, value] of Object.entries(plain)) {
    if (value === undefined) continue;
    if (name === "value") Reflect.set(el, name, value);
    else el.setAttribute(name, value);
  }
}

function makeElement<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  o: Info,
  callback: Callback<HTMLElementTagNameMap[K]>,
  parent?: Node,
): HTMLElementTagNameMap[K] {
  const info = typeof o === "string" ? { cls: o } : (o ?? {});
  const el = document.createElement(tag);
  dress(el, info);
  callback?.(el);
  attach(el, parent ?? info.parent, info.prepend);
  return el;
}

function makeSvg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  o: SvgElementInfo | string | undefined,
  callback: Callback<SVGElementTagNameMap[K]>,
  parent?: Node,
): SVGElementTagNameMap[K] {
  const info = typeof o === "string" ? { cls: o } : (o ?? {});
  const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
  el.addClasses(classesOf(info.cls));
  if (info.attr) el.setAttrs(info.attr);
  callback?.(el);
  attach(el, parent ?? info.parent, info.prepend);
  return el;
}

type NodeHelpers = Pick<
  Node,
  | "detach"
  | "empty"
  | "insertAfter"
  | "indexOf"
  | "setChildrenInPlace"
  | "appendText"
  | "instanceOf"
  | "createEl"
  | "createDiv"
  | "createSpan"
  | "createSvg"
>;

const nodeHelpers: NodeHelpers & ThisType<Node> = {
  detach() {
    this.parentNode?.removeChild(this);
  },
  empty() {
    while (this.lastChild) this.removeChild(this.lastChild);
  },
  insertAfter(node, child) {
    return this.insertBefore(node, child ? child.nextSibling : this.firstChild);
  },
  indexOf(other) {
    return Array.prototype.indexOf.call(this.childNodes, other);
  },
  setChildrenInPlace(children) {
    this.empty();
    for (const child of children) this.appendChild(child);
  },
  appendText(text) {
    this.appendChild(document.createTextNode(text));
  },
  instanceOf<T>(this: Node, type: new () => T): boolean {
    return this instanceof type;
  },
  createEl(tag, o, callback) {
    return makeElement(tag, o, callback, this);
  },
  createDiv(o, callback) {
    return makeElement("div", o, callback, this);
  },
  createSpan(o, callback) {
    return makeElement("span", o, callback, this);
  },
  createSvg(tag, o, callback) {
    return makeSvg(tag, o, callback, this);
  },
} as NodeHelpers & ThisType<Node>;

type ElementHelpers = Pick<
  Element,
  | "getText"
  | "setText"
  | "addClass"
  | "addClasses"
  | "removeClass"
  | "removeClasses"
  | "toggleClass"
  | "hasClass"
  | "setAttr"
  | "setAttrs"
  | "getAttr"
  | "matchParent"
  | "getCssPropertyValue"
  | "isActiveElement"
>;

const elementHelpers: ElementHelpers & ThisType<Element> = {
  getText() {
    return this.textContent;
  },
  setText(value) {
    if (typeof value === "string") this.textContent = value;
    else this.replaceChildren(value);
  },
  addClass(...classes) {
    this.classList.add(...classes);
  },
  addClasses(classes) {
    this.classList.add(...classes);
  },
  removeClass(...classes) {
    this.classList.remove(...classes);
  },
  removeClasses(classes) {
    this.classList.remove(...classes);
  },
  toggleClass(classes, value) {
    for (const one of classesOf(classes)) this.classList.toggle(one, value);
  },
  hasClass(cls) {
    return this.classList.contains(cls);
  },
  setAttr(name, value) {
    if (value === null) this.removeAttribute(name);
    else this.setAttribute(name, String(value));
  },
  setAttrs(attributes) {
    for (const [name, value] of Object.entries(attributes)) this.setAttr(name, value);
  },
  getAttr(name) {
    return this.getAttribute(name);
  },
  matchParent(selector, lastParent) {
    if (this.matches(selector)) return this;
    if (this === lastParent) return null;
    return this.parentElement?.matchParent(selector, lastParent) ?? null;
  },
  getCssPropertyValue(property, pseudo) {
    return getComputedStyle(this, pseudo).getPropertyValue(property).trim();
  },
  isActiveElement() {
    return document.activeElement === this;
  },
};

const stylable = {
  setCssStyles(this: HTMLElement | SVGElement, styles: Partial<CSSStyleDeclaration>) {
    Object.assign(this.style, styles);
  },
  setCssProps(this: HTMLElement | SVGElement, properties: Record<string, string>) {
    for (const [name, value] of Object.entries(properties)) this.style.setProperty(name, value);
  },
};

const findable = {
  find(this: ParentNode, selector: string) {
    return this.querySelector(selector);
  },
  findAll(this: ParentNode, selector: string) {
    return Array.from(this.querySelectorAll(selector));
  },
};

const shown = {
  show(this: HTMLElement) {
    this.style.display = this.dataset.shownAs ?? "";
  },
  hide(this: HTMLElement) {
    if (this.style.display !== "none") this.dataset.shownAs = this.style.display;
    this.style.display = "none";
  },
  toggle(this: HTMLElement, visible: boolean) {
    if (visible) this.show();
    else this.hide();
  },
  toggleVisibility(this: HTMLElement, visible: boolean) {
    this.style.visibility = visible ? "" : "hidden";
  },
  isShown(this: HTMLElement) {
    return this.offsetParent !== null;
  },
};

function defineDocuments(prototype: object): void {
  const own = { configurable: true };
  Object.defineProperty(prototype, "doc", {
    ...own,
    get(this: Node) {
      return this.ownerDocument ?? this;
    },
  });
  Object.defineProperty(prototype, "win", { ...own, get: () => window });
  Object.defineProperty(prototype, "constructorWin", { ...own, get: () => window });
}

function installLanguage(): void {
  define(Array.prototype, {
    first(this: unknown[]) {
      return this[0];
    },
    last(this: unknown[]) {
      return this[this.length - 1];
    },
    contains(this: unknown[], target: unknown) {
      return this.includes(target);
    },
    remove(this: unknown[], target: unknown) {
      const at = this.indexOf(target);
      if (at >= 0) this.splice(at, 1);
    },
    unique(this: unknown[]) {
      return [...new Set(this)];
    },
  });
  for (const name of ["first", "last", "contains", "remove", "unique"]) {
    Object.defineProperty(Array.prototype, name, { enumerable: false });
  }
  Object.defineProperty(String.prototype, "contains", {
    value(this: string, target: string) {
      return this.includes(target);
    },
  });
  Math.clamp = (value, min, max) => Math.min(Math.max(value, min), max);
}

function installGlobals(): void {
  Object.assign(window, {
    createEl: <K extends keyof HTMLElementTagNameMap>(
      tag: K,
      o?: Info,
      callback?: (el: HTMLElementTagNameMap[K]) => void,
    ) => makeElement(tag, o, callback),
    createDiv: (o?: Info, callback?: (el: HTMLDivElement) => void) =>
      makeElement("div", o, callback),
    createSpan: (o?: Info, callback?: (el: HTMLSpanElement) => void) =>
      makeElement("span", o, callback),
    createSvg: <K extends keyof SVGElementTagNameMap>(tag: K, o?: SvgElementInfo | string) =>
      makeSvg(tag, o, undefined),
    createFragment(callback?: (el: DocumentFragment) => void) {
      const fragment = document.createDocumentFragment();
      callback?.(fragment);
      return fragment;
    },
    activeWindow: window,
    activeDocument: document,
    sleep: (ms: number) => new Promise((done) => window.setTimeout(done, ms)),
    nextFrame: () => new Promise((done) => window.requestAnimationFrame(done)),
  });
}

/** Put everything in place; called once before the plugin is loaded. */
export function installDom(): void {
  define(Node.prototype, nodeHelpers);
  define(Element.prototype, elementHelpers);
  define(Element.prototype, findable);
  define(DocumentFragment.prototype, findable);
  define(HTMLElement.prototype, { ...shown, ...stylable, ...listening });
  define(SVGElement.prototype, stylable);
  define(Document.prototype, listeningOfDocuments);
  define(UIEvent.prototype, {
    instanceOf(this: UIEvent, type: new () => unknown) {
      return this instanceof type;
    },
  });
  defineDocuments(Node.prototype);
  defineDocuments(UIEvent.prototype);
  installLanguage();
  installGlobals();
}
