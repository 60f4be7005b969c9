/** The view that holds the search pane. */

import { ItemView, type HoverPopover, type ViewStateResult, type WorkspaceLeaf } from "obsidian";
import { isObject } from "../../api/check";
import { VIEWS, type Khiip } from "../../khiip";
import { lineOf } from "../../search/search";
import { SearchPane } from "./pane";

export class SearchView extends ItemView {
  hoverPopover: HoverPopover | null = null;
  override navigation = false;
  private pane: SearchPane | null = null;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly khiip: Khiip,
  ) {
    super(leaf);
    this.icon = "text-search";
  }

  override getViewType(): string {
    return VIEWS.search;
  }

  override getDisplayText(): string {
    return "Khiip search";
  }

  override async onOpen(): Promise<void> {
    this.contentEl.empty();
    this.contentEl.addClass("khiip-pane");
    const changed = (): void => {
      void this.app.workspace.requestSaveLayout();
    };
    this.pane = this.addChild(new SearchPane(this.khiip, this.contentEl, this, changed));
    return Promise.resolve();
  }

  /** The last search, which comes back with the workspace. */
  override getState(): Record<string, unknown> {
    return this.pane ? { search: this.pane.search } : {};
  }

  override async setState(state: unknown, result: ViewStateResult): Promise<void> {
    if (isObject(state) && isObject(state.search)) this.pane?.restore(state.search);
    await super.setState(state, result);
  }

  /** What is looked for, as one line. */
  get line(): string {
    return this.pane ? lineOf(this.pane.search) : "";
  }

  /** Put the cursor into the box. */
  focus(): void {
    this.pane?.focus();
  }

  /** Look for a line of text. */
  searchFor(line: string): void {
    this.pane?.searchFor(line);
  }

  /** Keep the search, or forget it. */
  toggleSaved(): void {
    this.pane?.toggleSaved();
  }
}
