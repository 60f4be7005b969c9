/** The layout, kept over restarts as Obsidian keeps workspace.json: when asked, a second later. */
import type * as O from "obsidian";
import { debounce } from "./misc";
import { published } from "./events";
import { WorkspaceLeaf, type Side, type Split } from "./leaf";

const KEY = "stand-in-layout";

interface Kept {
  side: Side;
  collapsed: boolean;
  shown: number;
  leaves: O.ViewState[];
}

export class Layout {
  readonly request: O.Debouncer<[], Promise<void>>;

  constructor(private readonly splits: Record<Side, Split>) {
    this.request = debounce(() => this.save(), 100, true);
  }

  private save(): Promise<void> {
    const kept = Object.values(this.splits).map((split): Kept => {
      const states = split.leaves.map((leaf) => leaf.getViewState());
      const shown = split.shown ? split.leaves.indexOf(split.shown) : 0;
      return { side: split.side, collapsed: split.collapsed, shown, leaves: states };
    });
    localStorage.setItem(KEY, JSON.stringify(kept));
    return Promise.resolve();
  }

  async restore(): Promise<void> {
    const text = localStorage.getItem(KEY);
    for (const kept of text ? (JSON.parse(text) as Kept[]) : []) {
      const split = this.splits[kept.side];
      split.collapsed = kept.collapsed;
      for (const [index, state] of kept.leaves.entries()) {
        const leaf = new WorkspaceLeaf(split);
        const seen = !kept.collapsed && index === kept.shown;
        if (seen) await leaf.setViewState(state);
        else await published<WorkspaceLeaf>(leaf).defer(state);
      }
      split.shown = split.leaves[kept.shown] ?? null;
      split.draw();
    }
  }
}
