/** Workspace: a main area, two sidebars, leaves in them, one of them active. */
import type * as O from "obsidian";
import { Events, published } from "./events";
import { Layout } from "./layout";
import { DeferredView, EmptyView, FileView, MarkdownView, View } from "./views";
import { parseLinktext } from "./metadata";
import { showPreview } from "./preview";
import type { Menu } from "./menu";

export type Side = "left" | "root" | "right";

export class Split extends Events {
  collapsed: boolean;
  readonly leaves: WorkspaceLeaf[] = [];
  shown: WorkspaceLeaf | null = null;

  constructor(
    readonly side: Side,
    readonly containerEl: HTMLElement,
    readonly workspace: Workspace,
  ) {
    super();
    this.collapsed = side !== "root";
    this.draw();
  }

  expand(): void {
    this.collapsed = false;
    this.draw();
  }

  collapse(): void {
    this.collapsed = true;
    this.draw();
  }

  toggle(): void {
    if (this.collapsed) this.expand();
    else this.collapse();
  }

  show(leaf: WorkspaceLeaf): void {
    this.shown = leaf;
    this.draw();
  }

  drop(leaf: WorkspaceLeaf): void {
    this.leaves.remove(leaf);
    if (this.shown === leaf) this.shown = this.leaves[this.leaves.length - 1] ?? null;
    this.draw();
  }

  draw(): void {
    this.containerEl.toggle(!this.collapsed);
    for (const leaf of this.leaves) leaf.containerEl.toggle(leaf === this.shown);
  }
}

let leafCount = 0;

export class WorkspaceLeaf extends Events {
  readonly id = `leaf-${String(++leafCount)}`;
  readonly containerEl = createDiv("workspace-leaf");
  view: O.View;
  hoverPopover: O.HoverPopover | null = null;
  pinned = false;
  lastActive = 0;
  private waiting: O.ViewState | null = null;

  constructor(readonly split: Split) {
    super();
    split.leaves.push(this);
    split.containerEl.appendChild(this.containerEl);
    split.shown ??= this;
    this.view = published(new EmptyView(published(this)));
    this.containerEl.addEventListener("focusin", () => {
      split.workspace.setActiveLeaf(published(this));
    });
    this.containerEl.addEventListener("mousedown", () => {
      split.workspace.setActiveLeaf(published(this));
    });
    split.draw();
  }

  get app(): O.App {
    return this.split.workspace.app;
  }

  get parent(): O.WorkspaceTabs {
    return published(this.split);
  }

  getRoot(): O.WorkspaceItem {
    return published(this.split);
  }

  get isDeferred(): boolean {
    return this.waiting !== null;
  }

  async loadIfDeferred(): Promise<void> {
    const state = this.waiting;
    this.waiting = null;
    if (state) await this.setViewState(state);
  }

  async defer(state: O.ViewState): Promise<void> {
    this.waiting = state;
    await this.open(published(new DeferredView(published(this), state)));
  }

  async open(view: O.View): Promise<O.View> {
    const old = published<View>(this.view);
    await old.onClose();
    old.unload();
    this.containerEl.empty();
    this.view = view;
    const mine = published<View>(view);
    this.containerEl.appendChild(mine.containerEl);
    mine.containerEl.setAttr("data-type", mine.getViewType());
    mine.load();
    await mine.onOpen();
    return view;
  }

  getViewState(): O.ViewState {
    return { type: this.view.getViewType(), state: this.view.getState(), pinned: this.pinned };
  }

  async setViewState(wanted: O.ViewState, eState?: unknown): Promise<void> {
    const mine = published<View>(this.view);
    if (mine.getViewType() !== wanted.type || mine instanceof DeferredView) {
      this.waiting = null;
      await this.open(this.split.workspace.createView(wanted.type, this));
    }
    await this.view.setState(wanted.state ?? {}, { history: false });
    if (wanted.active) this.split.workspace.setActiveLeaf(published(this), { focus: true });
    if (eState) this.view.setEphemeralState(eState);
    this.split.workspace.layoutChanged();
  }

  async openFile(file: O.TFile, openState?: O.OpenViewState): Promise<void> {
    const state = { ...openState?.state, file: file.path };
    this.split.show(this);
    await this.setViewState({ type: "markdown", state }, openState?.eState);
    if (openState?.active !== false) this.split.workspace.setActiveLeaf(published(this));
    this.split.workspace.tellFile();
  }

  getEphemeralState(): Record<string, unknown> {
    return this.view.getEphemeralState();
  }

  setEphemeralState(state: unknown): void {
    this.view.setEphemeralState(state);
  }

  setPinned(pinned: boolean): void {
    this.pinned = pinned;
  }

  getDisplayText(): string {
    return this.view.getDisplayText();
  }

  getIcon(): string {
    return this.view.getIcon();
  }

  onResize(): void {
    this.view.onResize();
  }

  detach(): void {
    const mine = published<View>(this.view);
    void mine.onClose();
    mine.unload();
    this.containerEl.detach();
    this.split.drop(this);
    this.split.workspace.forget(this);
  }
}

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

  getLeaf(newLeaf?: O.PaneType | boolean, direction?: O.SplitDirection): O.WorkspaceLeaf {
    void direction;
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

  getLeftLeaf(split: boolean): O.WorkspaceLeaf | null {
    void split;
    return published(this.leafIn("left"));
  }

  getRightLeaf(split: boolean): O.WorkspaceLeaf | null {
    void split;
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
