/** Workspace: a main area, two sidebars, leaves in them, one of them active. */
import type * as O from "obsidian";
import { Events, published } from "./events";
import { Layout } from "./layout";
import { Split, WorkspaceLeaf, type Side } from "./leaf";
import { EmptyView, FileView, MarkdownView } from "./views";
import { parseLinktext } from "./metadata";
import { showPreview } from "./preview";
import type { Menu } from "./menu";

export class Workspace extends Events {
  readonly containerEl = createDiv("workspace");
  layoutReady = false;
  activeLeaf: O.WorkspaceLeaf | null = null;
  activeEditor: O.MarkdownFileInfo | null = null;
  requestSaveLayout: O.Debouncer<[], Promise<void>>;
  readonly leftSplit: O.WorkspaceSidedock;
  readonly rightSplit: O.WorkspaceSidedock;
  readonly rootSplit: O.WorkspaceRoot;
  readonly creators = new Map<string, O.ViewCreator>();
  readonly hoverSources = new Map<string, O.HoverLinkSource>();
  /** Notes that a link to nothing would have made; the tests say that there are none. */
  readonly madeByLink: string[] = [];
  private readonly splits: Record<Side, Split>;
  private readonly layout: Layout;
  private waiting: (() => unknown)[] = [];
  private turns = 0;
  private lastFile: O.TFile | null = null;

  constructor(readonly app: O.App) {
    super();
    const make = (side: Side): Split =>
      new Split(side, this.containerEl.createDiv(`workspace-split mod-${side}-split`), this);
    this.splits = { left: make("left"), root: make("root"), right: make("right") };
    this.leftSplit = published(this.splits.left);
    this.rightSplit = published(this.splits.right);
    this.rootSplit = published(this.splits.root);
    this.layout = new Layout(this.splits);
    this.requestSaveLayout = this.layout.request;
    this.on("hover-link", (link) => {
      showPreview(this, link);
    });
    this.on("file-menu", (menu) => {
      (menu as Menu).addItem((item) =>
        item.setTitle("Reveal file in navigation").setSection("view"),
      );
    });
  }

  /** Bring back what was open, then tell everybody. */
  async start(): Promise<void> {
    await this.layout.restore();
    if (!this.splits.root.leaves.length) this.leafIn("root");
    this.layoutReady = true;
    for (const callback of this.waiting.splice(0)) callback();
    this.trigger("layout-ready");
  }

  onLayoutReady(callback: () => unknown): void {
    if (this.layoutReady) callback();
    else this.waiting.push(callback);
  }

  createView(type: string, leaf: WorkspaceLeaf): O.View {
    if (type === "markdown") return published(new MarkdownView(published(leaf)));
    const make = this.creators.get(type);
    if (make) return make(published(leaf));
    return published(new EmptyView(published(leaf)));
  }

  layoutChanged(): void {
    this.trigger("layout-change");
    this.requestSaveLayout();
  }

  private leafIn(side: Side): WorkspaceLeaf {
    return new WorkspaceLeaf(this.splits[side]);
  }

  private all(): WorkspaceLeaf[] {
    return Object.values(this.splits).flatMap((split) => split.leaves);
  }

  getLeaf(newLeaf?: O.PaneType | boolean, _direction?: O.SplitDirection): O.WorkspaceLeaf {
    if (newLeaf) {
      const leaf = this.leafIn("root");
      leaf.containerEl.setAttr("data-opened-as", newLeaf === true ? "tab" : newLeaf);
      this.splits.root.show(leaf);
      return published(leaf);
    }
    return this.getUnpinnedLeaf();
  }

  getUnpinnedLeaf(): O.WorkspaceLeaf {
    const recent = this.getMostRecentLeaf();
    if (recent && !published<WorkspaceLeaf>(recent).pinned) return recent;
    return published(this.leafIn("root"));
  }

  getMostRecentLeaf(): O.WorkspaceLeaf | null {
    const leaves = [...this.splits.root.leaves].sort((a, b) => b.lastActive - a.lastActive);
    return published(leaves[0] ?? null);
  }

  getLeftLeaf(_split: boolean): O.WorkspaceLeaf | null {
    return published(this.leafIn("left"));
  }

  getRightLeaf(_split: boolean): O.WorkspaceLeaf | null {
    return published(this.leafIn("right"));
  }

  async ensureSideLeaf(
    type: string,
    side: O.Side,
    options: { active?: boolean; split?: boolean; reveal?: boolean; state?: unknown } = {},
  ): Promise<O.WorkspaceLeaf> {
    const known = this.splits[side].leaves.find((leaf) => leaf.view.getViewType() === type);
    const leaf = known ?? this.leafIn(side);
    const state = (options.state ?? {}) as Record<string, unknown>;
    if (!known || options.state) await leaf.setViewState({ type, state });
    if (options.reveal !== false) await this.revealLeaf(published(leaf));
    if (options.active) this.setActiveLeaf(published(leaf), { focus: true });
    return published(leaf);
  }

  async revealLeaf(leaf: O.WorkspaceLeaf): Promise<void> {
    const mine = published<WorkspaceLeaf>(leaf);
    mine.split.expand();
    mine.split.show(mine);
    await mine.loadIfDeferred();
    this.setActiveLeaf(leaf);
    this.trigger("resize");
    mine.onResize();
  }

  setActiveLeaf(
    leaf: O.WorkspaceLeaf,
    params?: { focus?: boolean } | boolean,
    focus?: boolean,
  ): void {
    const mine = published<WorkspaceLeaf>(leaf);
    const wantsFocus = typeof params === "object" ? params.focus : focus;
    if (wantsFocus && leaf.view instanceof MarkdownView) leaf.view.editor.focus();
    mine.lastActive = ++this.turns;
    if (this.activeLeaf === leaf) return;
    this.activeLeaf = leaf;
    if (mine.split.side === "root") mine.split.show(mine);
    this.trigger("active-leaf-change", leaf);
    this.tellFile();
  }

  /** Tell who follows the active note, once for each new one. */
  tellFile(): void {
    const view: unknown = this.activeLeaf?.view;
    this.activeEditor = view instanceof MarkdownView ? published(view) : null;
    if (!(view instanceof FileView) || view.file === this.lastFile) return;
    this.lastFile = view.file;
    this.trigger("file-open", view.file);
  }

  forget(leaf: WorkspaceLeaf): void {
    if (this.activeLeaf === published(leaf)) {
      this.activeLeaf = this.getMostRecentLeaf();
      this.trigger("active-leaf-change", this.activeLeaf);
    }
    this.layoutChanged();
  }

  getActiveViewOfType<T extends O.View>(type: O.Constructor<T>): T | null {
    const view = this.activeLeaf?.view;
    return view instanceof type ? view : null;
  }

  getActiveFile(): O.TFile | null {
    return this.lastFile;
  }

  getLeavesOfType(viewType: string): O.WorkspaceLeaf[] {
    return published(this.all().filter((leaf) => leaf.view.getViewType() === viewType));
  }

  detachLeavesOfType(viewType: string): void {
    for (const leaf of this.getLeavesOfType(viewType)) leaf.detach();
  }

  iterateAllLeaves(callback: (leaf: O.WorkspaceLeaf) => unknown): void {
    for (const leaf of this.all()) callback(published(leaf));
  }

  iterateRootLeaves(callback: (leaf: O.WorkspaceLeaf) => unknown): void {
    for (const leaf of this.splits.root.leaves) callback(published(leaf));
  }

  getLeafById(id: string): O.WorkspaceLeaf | null {
    return published(this.all().find((leaf) => leaf.id === id) ?? null);
  }

  async openLinkText(
    linktext: string,
    sourcePath: string,
    newLeaf?: O.PaneType | boolean,
    openViewState?: O.OpenViewState,
  ): Promise<void> {
    const { path, subpath } = parseLinktext(linktext);
    const file = this.app.metadataCache.getFirstLinkpathDest(path, sourcePath);
    if (!file) {
      this.madeByLink.push(linktext);
      return;
    }
    const eState = { ...openViewState?.eState, ...(subpath ? { subpath } : {}) };
    await this.getLeaf(newLeaf).openFile(file, { ...openViewState, eState });
  }

  getLastOpenFiles(): string[] {
    return this.lastFile ? [this.lastFile.path] : [];
  }

  handleLinkContextMenu(menu: O.Menu, linktext: string, sourcePath: string): boolean {
    const file = this.app.metadataCache.getFirstLinkpathDest(
      parseLinktext(linktext).path,
      sourcePath,
    );
    if (!file) return false;
    this.trigger("file-menu", menu, file, "link-context-menu");
    return true;
  }

  updateOptions(): void {
    // there are no editor extensions here
  }
}
