/** Menus and notices. */
import { Component } from "./events";
import { setIcon } from "./icons";

type Chosen = (evt: MouseEvent | KeyboardEvent) => unknown;

export class MenuItem {
  readonly el: HTMLElement;
  private readonly iconEl: HTMLElement;
  private readonly titleEl: HTMLElement;
  private chosen: Chosen | null = null;

  constructor(menu: Menu) {
    this.el = menu.menuEl.createDiv({
      cls: "menu-item tappable",
      attr: { role: "menuitem", tabindex: -1 },
    });
    this.iconEl = this.el.createDiv("menu-item-icon");
    this.titleEl = this.el.createDiv("menu-item-title");
    this.el.addEventListener("click", (evt) => {
      if (this.el.hasClass("is-disabled")) return;
      menu.hide();
      this.chosen?.(evt);
    });
  }

  setTitle(title: string | DocumentFragment): this {
    this.titleEl.setText(title);
    return this;
  }

  setIcon(icon: string | null): this {
    if (icon) setIcon(this.iconEl, icon);
    else this.iconEl.empty();
    return this;
  }

  setChecked(checked: boolean | null): this {
    this.el.toggleClass("mod-checked", checked === true);
    this.el.setAttr("role", checked === null ? "menuitem" : "menuitemcheckbox");
    this.el.setAttr("aria-checked", checked);
    return this;
  }

  setDisabled(disabled: boolean): this {
    this.el.toggleClass("is-disabled", disabled);
    this.el.setAttr("aria-disabled", disabled);
    return this;
  }

  setWarning(isWarning: boolean): this {
    this.el.toggleClass("is-warning", isWarning);
    return this;
  }

  setIsLabel(isLabel: boolean): this {
    this.el.toggleClass("is-label", isLabel);
    return this;
  }

  onClick(callback: Chosen): this {
    this.chosen = callback;
    return this;
  }

  setSection(section: string): this {
    this.el.setAttr("data-section", section);
    return this;
  }
}

export class Menu extends Component {
  readonly menuEl = createDiv({ cls: "menu", attr: { role: "menu", "aria-label": "Menu" } });
  private hidden: (() => unknown)[] = [];
  private readonly outside = (evt: Event): void => {
    if (!(evt.target instanceof Node && this.menuEl.contains(evt.target))) this.hide();
  };
  private readonly keys = (evt: KeyboardEvent): void => {
    if (evt.key === "Escape") this.hide();
  };

  addItem(cb: (item: MenuItem) => unknown): this {
    cb(new MenuItem(this));
    return this;
  }

  addSeparator(): this {
    this.menuEl.createDiv({ cls: "menu-separator", attr: { role: "separator" } });
    return this;
  }

  setNoIcon(): this {
    this.menuEl.addClass("mod-no-icon");
    return this;
  }

  setUseNativeMenu(_useNativeMenu: boolean): this {
    return this;
  }

  setParentElement(_el: HTMLElement): this {
    return this;
  }

  showAtMouseEvent(evt: MouseEvent): this {
    return this.showAtPosition({ x: evt.clientX, y: evt.clientY });
  }

  showAtPosition(position: { x: number; y: number }): this {
    for (const open of document.querySelectorAll(".menu")) open.detach();
    document.body.appendChild(this.menuEl);
    const room = window.innerWidth - this.menuEl.offsetWidth - 8;
    this.menuEl.setCssStyles({
      left: `${String(Math.max(8, Math.min(position.x, room)))}px`,
      top: `${String(Math.min(position.y, window.innerHeight - this.menuEl.offsetHeight - 8))}px`,
    });
    window.setTimeout(() => {
      document.addEventListener("mousedown", this.outside);
    });
    document.addEventListener("keydown", this.keys);
    return this;
  }

  hide(): this {
    if (!this.menuEl.isConnected) return this;
    this.menuEl.detach();
    document.removeEventListener("mousedown", this.outside);
    document.removeEventListener("keydown", this.keys);
    for (const callback of this.hidden) callback();
    return this;
  }

  close(): void {
    this.hide();
  }

  onHide(callback: () => unknown): void {
    this.hidden.push(callback);
  }

  static forEvent(evt: MouseEvent): Menu {
    const menu = new Menu();
    window.setTimeout(() => menu.showAtMouseEvent(evt));
    evt.preventDefault();
    return menu;
  }
}

export class Notice {
  readonly containerEl: HTMLElement;
  readonly noticeEl: HTMLElement;
  readonly messageEl: HTMLElement;

  constructor(message: string | DocumentFragment, duration = 5000) {
    const holder = document.querySelector<HTMLElement>(".notice-container");
    this.containerEl = (holder ?? document.body.createDiv("notice-container")).createDiv("notice");
    this.noticeEl = this.containerEl;
    this.messageEl = this.containerEl.createDiv("notice-message");
    this.setMessage(message);
    this.containerEl.addEventListener("click", () => {
      this.hide();
    });
    if (duration > 0)
      window.setTimeout(() => {
        this.hide();
      }, duration);
  }

  setMessage(message: string | DocumentFragment): this {
    this.messageEl.setText(message);
    return this;
  }

  hide(): void {
    this.containerEl.detach();
  }
}
