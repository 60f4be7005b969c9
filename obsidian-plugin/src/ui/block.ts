/** The `khiip` code block: a live list of notes for a query. */

import { Keymap, MarkdownRenderChild } from "obsidian";
import { Latest, type Outcome } from "../api/latest";
import type { Hits } from "../api/wire";
import { asFault } from "../errors";
import { VIEWS, type Khiip } from "../khiip";
import { readBlock, type Block } from "../search/block";
import { notesLabel, titleOf } from "../search/labels";
import { lineOf, paramsOf } from "../search/search";
import { newSearch } from "../settings/settings";
import { countsOf } from "../sidecar/state";
import { drawStretches, stretchesOf } from "./hit";
import { placeOf } from "./hit_list";
import { openPlace, paneOf, placeMenu, preview } from "./open";

const PAUSE = 300;

export class BlockView extends MarkdownRenderChild {
  hoverPopover = null;
  private generation = -1;
  private callOff: (() => void) | null = null;
  private readonly block: Block;
  private readonly latest: Latest<Block, Hits>;
  private readonly el: HTMLElement;

  constructor(
    containerEl: HTMLElement,
    private readonly khiip: Khiip,
    source: string,
  ) {
    super(containerEl);
    this.block = readBlock(source, newSearch(khiip.settings()));
    this.el = containerEl.createDiv("khiip-block");
    this.latest = new Latest(
      ({ search, limit }) =>
        khiip.client.recall(paramsOf(search, { limit, offset: 0, minScore: this.floor() })),
      (_block, outcome) => {
        this.hear(outcome);
      },
    );
  }

  override onload(): void {
    if (this.block.problem !== null) {
      this.say(this.block.problem);
      return;
    }
    this.say("Searching…");
    // The list is live: it is asked for again whenever the index has changed.
    this.register(
      this.khiip.monitor.listen((state) => {
        const generation = countsOf(state)?.generation ?? -1;
        if (state.kind === "fault") this.say(state.fault.message);
        else if (generation !== this.generation) this.soon();
        this.generation = generation;
      }),
    );
    this.register(() => {
      this.callOff?.();
      this.latest.forget();
    });
  }

  private floor(): number | null {
    return this.block.minScore ?? this.khiip.settings().minScore;
  }

  private soon(): void {
    this.callOff?.();
    this.callOff = this.khiip.later(() => {
      this.latest.want(this.block);
    }, PAUSE);
  }

  private hear(outcome: Outcome<Hits>): void {
    if (outcome.ok) this.draw(outcome.answer);
    else this.say(asFault(outcome.error).message);
  }

  private say(line: string): void {
    this.el.empty();
    this.el.createDiv({ cls: "khiip-block-line", text: line });
  }

  private draw({ results, has_more: more }: Hits): void {
    const line = lineOf(this.block.search);
    const count = results.length === 0 ? "No notes found" : notesLabel(results.length);
    this.say(`${line} · ${count}${more ? ", best first" : ""}`);
    const attr = { role: "list", "aria-label": `Notes for ${line}` };
    const list = this.el.createEl("ul", { attr });
    for (const hit of results) this.drawItem(list, hit);
  }

  private drawItem(list: HTMLElement, hit: Hits["results"][number]): void {
    const item = list.createEl("li");
    const link = item.createEl("a", { cls: "internal-link", text: titleOf(hit) });
    link.setAttrs({ href: hit.vault_path, "data-href": hit.vault_path, dir: "auto" });
    const passage = item.createDiv({ cls: "khiip-hit-passage", attr: { dir: "auto" } });
    drawStretches(passage, stretchesOf(hit));
    const place = placeOf(hit);
    this.registerDomEvent(link, "click", (event) => {
      // Obsidian would open by link text, in which `#` and `[` mean something else.
      event.preventDefault();
      event.stopPropagation();
      const pane = paneOf(event, Keymap.isModifier(event, "Mod"));
      this.khiip.run(() => openPlace(this.khiip, place, pane));
    });
    this.registerDomEvent(link, "contextmenu", (event) => {
      event.preventDefault();
      placeMenu(this.khiip, VIEWS.search, place).showAtMouseEvent(event);
    });
    this.registerDomEvent(link, "mouseover", (event) => {
      preview(this.khiip.app, VIEWS.search, this, event, link, place);
    });
  }
}
