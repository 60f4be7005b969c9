/** Splits and the leaves in them. */
import type * as O from "obsidian";
import { Events, published } from "./events";
import { DeferredView, EmptyView, View } from "./views";
import type { Workspace } from "./workspace";

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
