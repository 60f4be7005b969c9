/** Notes near the active one. */

import type { HoverPopover, TFile } from "obsidian";
import type { Hits } from "../api/wire";
import { VIEWS } from "../khiip";
import { HitList } from "./hit_list";
import { NoteView } from "./note_view";

const LIMIT = 20;

export class RelatedView extends NoteView<Hits> {
  hoverPopover: HoverPopover | null = null;
  override icon = "waypoints";
  protected override readonly invitation = "Open a note to see what is near it.";
  private list: HitList | null = null;

  override getViewType(): string {
    return VIEWS.related;
  }

  override getDisplayText(): string {
    return "Related notes";
  }

  protected override ask(file: TFile): Promise<Hits> {
    return this.khiip.client.related(file.path, LIMIT);
  }

  protected override drawBody(parent: HTMLElement): void {
    this.list = new HitList(parent.createDiv("khiip-body"), this, {
      khiip: this.khiip,
      label: "Related notes",
      source: VIEWS.related,
      hoverParent: this,
      focusEl: null,
    });
  }

  protected override show(answer: Hits | null): string {
    const results = answer?.results ?? [];
    this.list?.show(results, { now: Date.now(), rank: "relevance" });
    return results.length === 0 ? "Nothing is near this note yet." : "";
  }
}
