/** Quick recall: a modal that finds a note while you write. */

import { Keymap, Notice, Platform, SuggestModal } from "obsidian";
import { Latest } from "../api/latest";
import type { Hit, Hits } from "../api/wire";
import { asFault, type Fault } from "../errors";
import type { Khiip } from "../khiip";
import { DEBOUNCE } from "../search/hunt";
import { folderOf, titleOf } from "../search/labels";
import { paramsOf, searchOfLine, isEmpty, type Search } from "../search/search";
import { newSearch } from "../settings/settings";
import { drawStretches, stretchesOf } from "./hit";
import { placeOf } from "./hit_list";
import { insertLink, openPlace, paneOf } from "./open";

const LIMIT = 12;

export class RecallModal extends SuggestModal<Hit> {
  private callOff: (() => void) | null = null;
  private give: ((hits: Hit[]) => void) | null = null;
  private told: Fault | null = null;
  private readonly latest: Latest<Search, Hits>;

  constructor(private readonly khiip: Khiip) {
    super(khiip.app);
    this.setPlaceholder("Recall a note…");
    this.emptyStateText = "No notes found";
    this.setInstructions([
      { command: "↵", purpose: "to open" },
      { command: Platform.isMacOS ? "⌘ ↵" : "ctrl ↵", purpose: "to open in a new tab" },
      { command: Platform.isMacOS ? "⌥ ↵" : "alt ↵", purpose: "to insert a link" },
      { command: "esc", purpose: "to dismiss" },
    ]);
    this.latest = new Latest(
      (search) => khiip.client.recall(paramsOf(search, this.paging())),
      (_search, outcome) => {
        if (!outcome.ok) this.tell(asFault(outcome.error));
        this.give?.(outcome.ok ? outcome.answer.results : []);
      },
    );
    for (const modifier of ["Mod", "Alt"] as const) {
      this.scope.register([modifier], "Enter", (event) => {
        this.selectActiveSuggestion(event);
        return false;
      });
    }
  }

  override getSuggestions(query: string): Hit[] | Promise<Hit[]> {
    const search = { ...newSearch(this.khiip.settings()), ...searchOfLine(query) };
    this.callOff?.();
    this.give = null; // an older question is never answered: its empty list would flash
    if (isEmpty(search)) {
      this.latest.forget();
      return [];
    }
    return new Promise((resolve) => {
      this.give = resolve;
      this.callOff = this.khiip.later(() => {
        this.latest.want(search);
      }, DEBOUNCE);
    });
  }

  override renderSuggestion(hit: Hit, el: HTMLElement): void {
    el.addClass("khiip-suggested");
    const head = el.createDiv({ cls: "khiip-hit-head" });
    head.createSpan({ cls: "khiip-hit-title", text: titleOf(hit), attr: { dir: "auto" } });
    head.createSpan({ cls: "khiip-hit-folder", text: folderOf(hit.vault_path) });
    const passage = el.createDiv({ cls: "khiip-hit-passage", attr: { dir: "auto" } });
    drawStretches(passage, stretchesOf(hit));
  }

  override onChooseSuggestion(hit: Hit, event: MouseEvent | KeyboardEvent): void {
    const { khiip } = this;
    const pane = paneOf(event, Keymap.isModifier(event, "Mod"));
    khiip.run(() => {
      if (!event.altKey) return openPlace(khiip, placeOf(hit), pane);
      insertLink(khiip.app, hit.vault_path);
      return undefined;
    });
  }

  override onClose(): void {
    super.onClose();
    this.callOff?.();
    this.latest.forget();
  }

  private paging(): Parameters<typeof paramsOf>[1] {
    return { limit: LIMIT, offset: 0, minScore: this.khiip.settings().minScore };
  }

  private tell(fault: Fault): void {
    if (this.told?.message === fault.message) return;
    this.told = fault;
    new Notice(`${fault.message} ${fault.help}`);
  }
}
