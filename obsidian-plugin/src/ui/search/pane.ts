/** The search pane: holds the search, and puts its parts in step. */

import { Component, type HoverParent } from "obsidian";
import type { Hits } from "../../api/wire";
import type { Fault } from "../../errors";
import { VIEWS, type Khiip } from "../../khiip";
import { Hunt } from "../../search/hunt";
import {
  isEmpty,
  readSearch,
  searchOfLine,
  withFilters,
  withoutFilter,
  type Search,
} from "../../search/search";
import { newSearch } from "../../settings/settings";
import type { SidecarState } from "../../sidecar/state";
import { HitList } from "../hit_list";
import { drawFault, drawFirstSteps, drawHints, drawNothing } from "./cards";
import { Controls } from "./controls";
import { KnownSidecar } from "./known_sidecar";
import { faultOf, isNews, isProgress, statusLine, type Outcome } from "./status";

export class SearchPane extends Component {
  search: Search;
  private readonly controls: Controls;
  private readonly statusEl: HTMLElement;
  private readonly bodyEl: HTMLElement;
  private readonly list: HitList;
  private readonly cardEl: HTMLElement;
  private readonly hunt: Hunt;
  private readonly known: KnownSidecar;
  private outcome: Outcome = { kind: "none" };
  private state: SidecarState = { kind: "unknown" };
  private drawnCard = "";

  constructor(
    private readonly khiip: Khiip,
    parent: HTMLElement,
    hoverParent: HoverParent,
    private readonly changed: () => void,
  ) {
    super();
    this.search = newSearch(khiip.settings());
    this.known = new KnownSidecar(khiip.app);
    this.hunt = this.makeHunt();
    this.controls = this.makeControls(parent);
    this.statusEl = parent.createDiv({ cls: "khiip-status", attr: { role: "status" } });
    this.bodyEl = parent.createDiv("khiip-body");
    this.list = new HitList(this.bodyEl, this, {
      khiip,
      label: "Results",
      source: VIEWS.search,
      hoverParent,
      focusEl: this.controls.box.input,
    });
    this.controls.box.input.setAttr("aria-controls", this.list.el.id);
    this.cardEl = this.bodyEl.createDiv("khiip-cards");
    this.registerDomEvent(this.bodyEl, "scroll", () => {
      this.near();
    });
    this.listen();
    this.controls.set(this.search);
    this.draw();
  }

  private listen(): void {
    const { khiip } = this;
    this.register(() => {
      this.hunt.stop();
    });
    this.register(
      khiip.monitor.listen((state) => {
        this.heard(state);
      }),
    );
    this.register(
      khiip.onSettings(() => {
        this.controls.set(this.search);
        this.drawnCard = "";
        this.draw();
      }),
    );
  }

  /** Take a search over, such as the last one after a restart. */
  restore(stored: unknown): void {
    this.search = readSearch(stored, this.search);
    this.begin();
  }

  /** Look for a line of text as a person would type it. */
  searchFor(line: string): void {
    this.search = { ...this.search, ...searchOfLine(line) };
    this.begin();
  }

  focus(): void {
    this.khiip.monitor.wake();
    this.controls.box.focus();
  }

  toggleSaved(): void {
    this.controls.toggleSaved();
  }

  private makeHunt(): Hunt {
    const { client, later, settings } = this.khiip;
    return new Hunt(
      { client, later, limit: () => settings().limit, minScore: () => settings().minScore },
      {
        emptied: () => {
          this.list.clear();
          this.settle({ kind: "none" });
        },
        found: (page, offset) => {
          this.found(page, offset);
        },
        failed: (fault) => {
          this.failed(fault);
        },
      },
    );
  }

  private makeControls(parent: HTMLElement): Controls {
    return new Controls(parent, this, this.khiip, {
      typed: (text) => {
        this.change({ text }, true);
      },
      filtered: (filters, text) => {
        this.change({ text, filters: withFilters(this.search.filters, filters) }, false);
      },
      unfiltered: (filter) => {
        this.change(withoutFilter(this.search, filter), false);
        this.controls.set(this.search);
      },
      backspaced: () => {
        const last = this.search.filters.at(-1);
        if (last === undefined) return;
        this.change({ text: last, filters: this.search.filters.slice(0, -1) }, true);
        this.controls.set(this.search);
      },
      matched: (match) => {
        this.change({ match }, false);
      },
      ranked: (rank) => {
        this.change({ rank }, false);
      },
      recalled: (search) => {
        this.search = { ...search, filters: [...search.filters] };
        this.begin();
      },
      current: () => this.search,
      key: (event) => this.list.key(event),
      closed: () => {
        this.list.pointAtChosen();
      },
    });
  }

  private change(changes: Partial<Search>, soon: boolean): void {
    this.search = { ...this.search, ...changes };
    this.controls.follow(this.search);
    this.changed();
    if (soon) this.hunt.soon(this.search);
    else this.hunt.now(this.search);
    this.showBusy();
  }

  /** A search came from elsewhere than the box. */
  private begin(): void {
    this.controls.set(this.search);
    this.changed();
    this.hunt.now(this.search);
    this.showBusy();
  }

  private found(page: Hits, offset: number): void {
    const how = { now: Date.now(), rank: this.search.rank };
    if (offset === 0) this.list.show(page.results, how);
    else this.list.append(page.results, how);
    if (offset === 0) this.bodyEl.scrollTop = 0;
    const total = page.has_more ? (page.total_candidates ?? this.list.size) : this.list.size;
    const { degraded, stale } = page;
    const shown = this.list.size;
    // The count of a search is said once: a further page does not change the line.
    this.settle(offset > 0 ? this.outcome : { kind: "hits", total, shown, degraded, stale });
    this.near();
  }

  private failed(fault: Fault): void {
    this.list.clear();
    this.settle({ kind: "fault", fault });
    this.khiip.monitor.wake();
  }

  private heard(state: SidecarState): void {
    const before = this.state;
    this.state = state;
    if ("counts" in state) this.known.met();
    if (isNews(before, state, this.outcome)) this.retry();
    this.draw();
  }

  private retry(): void {
    if (isEmpty(this.search)) this.outcome = { kind: "none" };
    else this.hunt.now(this.search);
  }

  private draw(): void {
    const line = statusLine(this.outcome, this.state);
    const before = this.statusEl.textContent;
    if (line !== before) {
      this.statusEl.setAttr("aria-live", isProgress(before, line) ? "off" : "polite");
      this.statusEl.setText(line);
    }
    const fault = faultOf(this.outcome, this.state);
    this.statusEl.toggleClass("is-fault", fault !== null);
    this.drawCard(fault);
  }

  private drawCard(fault: Fault | null): void {
    const name = this.cardName(fault);
    if (name === this.drawnCard) return;
    this.drawnCard = name;
    this.cardEl.empty();
    const actions = {
      retry: () => {
        this.khiip.connection.reset();
        this.khiip.monitor.wake();
        this.retry();
      },
      search: (search: Search) => {
        this.search = { ...search, filters: [...search.filters] };
        this.begin();
      },
    };
    const first = fault?.kind === "offline" && !this.known.everMet();
    if (first) drawFirstSteps(this.cardEl, this.khiip);
    if (fault) drawFault(this.cardEl, this.khiip, fault, actions, first);
    else if (name === "hints") drawHints(this.cardEl, this.khiip, actions);
    else if (name === "nothing") this.drawNothing();
  }

  private drawNothing(): void {
    drawNothing(this.cardEl, this.search.filters.length > 0, this.khiip.settings().minScore);
  }

  private cardName(fault: Fault | null): string {
    if (fault) return `fault ${fault.kind} ${fault.message}`;
    if (this.outcome.kind === "none") return isEmpty(this.search) ? "hints" : "";
    return this.outcome.kind === "hits" && this.outcome.total === 0 ? "nothing" : "";
  }

  private showBusy(): void {
    this.setBusy(!isEmpty(this.search));
  }

  private settle(outcome: Outcome): void {
    this.outcome = outcome;
    this.setBusy(false);
    this.draw();
  }

  private setBusy(busy: boolean): void {
    this.bodyEl.toggleClass("is-busy", busy);
    this.list.setBusy(busy);
  }

  /** Ask for the next page when the end of the list comes near; never while nobody looks. */
  private near(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.bodyEl;
    if (clientHeight > 0 && scrollHeight - scrollTop - clientHeight < AHEAD) this.hunt.next();
  }
}

const AHEAD = 600; // pixels
