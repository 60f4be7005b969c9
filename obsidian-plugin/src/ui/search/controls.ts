/** What stands above the results: the box, the chips, the switches, the saved searches. */

import { Menu, setIcon, setTooltip, type Component } from "obsidian";
import type { Match, Rank } from "../../api/wire";
import type { Khiip } from "../../khiip";
import { MATCH_LABELS, RANK_LABELS } from "../../search/labels";
import { quotationsIn } from "../../search/filters";
import { isEmpty, lineOf, sameSearch, type Search } from "../../search/search";
import { withSaved } from "../../settings/settings";
import { Chips } from "./chips";
import { VaultKnown } from "./known";
import { SearchBox, type BoxListener } from "./search_box";
import { Segments } from "./segments";

/** What the controls tell. */
export interface ControlsListener extends BoxListener {
  unfiltered: (filter: string) => void;
  matched: (match: Match) => void;
  ranked: (rank: Rank) => void;
  /** A saved search is wanted. */
  recalled: (search: Search) => void;
  current: () => Search;
}

export class Controls {
  readonly box: SearchBox;
  private readonly chips: Chips;
  private readonly match: Segments<Match>;
  private readonly rank: Segments<Rank>;
  private readonly save: HTMLElement;

  constructor(
    parent: HTMLElement,
    component: Component,
    private readonly khiip: Khiip,
    private readonly tell: ControlsListener,
  ) {
    const head = parent.createDiv("khiip-head");
    const row = head.createDiv("khiip-row");
    const known = new VaultKnown(khiip.app, khiip.client);
    this.box = new SearchBox(row, component, khiip.uniqueId(), known, tell);
    this.save = drawIcon(row, component, "Save this search", "bookmark", () => {
      this.toggleSaved();
    });
    drawIcon(row, component, "Saved searches", "library", (event) => {
      this.savedMenu().showAtMouseEvent(event);
    });
    this.chips = new Chips(head, component, tell.unfiltered);
    const switches = head.createDiv("khiip-switches");
    this.match = new Segments(switches, component, "Match", MATCH_LABELS, tell.matched);
    this.rank = new Segments(switches, component, "Order", RANK_LABELS, tell.ranked);
  }

  /** Show a search that came from elsewhere. */
  set(search: Search): void {
    if (this.box.input.value !== search.text) this.box.set(search.text);
    this.follow(search);
  }

  /** Show all of a search but its text, which is being typed. */
  follow(search: Search): void {
    this.chips.set([...new Set([...search.filters, ...quotationsIn(search.text)])]);
    this.match.set(search.match);
    this.rank.set(search.rank);
    const saved = this.savedAs(search) !== undefined;
    this.save.setAttr("aria-pressed", String(saved));
    this.save.toggleClass("is-active", saved);
    this.save.toggleClass("is-hidden", isEmpty(search));
  }

  /** Keep the search under its own words, or forget it when it is kept already. */
  toggleSaved(): void {
    const search = this.tell.current();
    if (isEmpty(search)) return;
    const known = this.savedAs(search);
    const { saved } = this.khiip.settings();
    const next = known
      ? saved.filter((each) => each !== known)
      : withSaved(saved, { name: lineOf(search), ...search });
    this.khiip.run(() => this.khiip.change({ saved: next }));
  }

  private savedAs(search: Search): { name: string } | undefined {
    return this.khiip.settings().saved.find((each) => sameSearch(each, search));
  }

  private savedMenu(): Menu {
    const menu = new Menu();
    const { saved } = this.khiip.settings();
    for (const each of saved) {
      menu.addItem((item) =>
        item
          .setTitle(each.name)
          .setIcon("search")
          .onClick(() => {
            this.tell.recalled(each);
          }),
      );
    }
    if (saved.length === 0) menu.addItem((item) => item.setTitle("None yet").setDisabled(true));
    return menu;
  }
}

function drawIcon(
  parent: HTMLElement,
  component: Component,
  label: string,
  icon: string,
  run: (event: MouseEvent) => void,
): HTMLElement {
  const button = parent.createEl("button", { cls: "khiip-icon clickable-icon" });
  setIcon(button, icon);
  setTooltip(button, label);
  button.setAttr("aria-label", label);
  component.registerDomEvent(button, "click", run);
  return button;
}
