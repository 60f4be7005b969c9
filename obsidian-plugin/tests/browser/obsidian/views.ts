/** Views: the base, the empty one, and Markdown notes with an editor that is a text area. */
import type * as O from "obsidian";
import { Component, published } from "./events";
import { Editor } from "./editor";
import { resolveSubpath } from "./metadata";
import { renderMarkdown } from "./markdown";
import { setIcon } from "./icons";
import type { WorkspaceLeaf } from "./leaf";

export abstract class View extends Component {
  app: O.App;
  icon = "file";
  navigation = true;
  leaf: O.WorkspaceLeaf;
  containerEl: HTMLElement;
  scope: O.Scope | null = null;

  constructor(leaf: O.WorkspaceLeaf) {
    super();
    this.leaf = leaf;
    this.app = published<WorkspaceLeaf>(leaf).app;
    this.containerEl = createDiv("workspace-leaf-content");
  }

  onOpen(): Promise<void> {
    return Promise.resolve();
  }

  onClose(): Promise<void> {
    return Promise.resolve();
  }

  abstract getViewType(): string;
  abstract getDisplayText(): string;

  getState(): Record<string, unknown> {
    return {};
  }

  setState(_state: unknown, _result: O.ViewStateResult): Promise<void> {
    return Promise.resolve();
  }

  getEphemeralState(): Record<string, unknown> {
    return {};
  }

  setEphemeralState(_state: unknown): void {
    // for those who have a place to go to
  }

  getIcon(): string {
    return this.icon;
  }

  onResize(): void {
    // for those who measure
  }

  onPaneMenu(_menu: O.Menu, _source: string): void {
    // for those who add to it
  }
}

export abstract class ItemView extends View {
  contentEl: HTMLElement;
  private readonly actionsEl: HTMLElement;

  constructor(leaf: O.WorkspaceLeaf) {
    super(leaf);
    const header = this.containerEl.createDiv("view-header");
    this.actionsEl = header.createDiv("view-actions");
    this.contentEl = this.containerEl.createDiv("view-content");
  }

  addAction(icon: string, title: string, callback: (evt: MouseEvent) => unknown): HTMLElement {
    const el = createEl("button", { cls: "clickable-icon view-action" });
    el.setAttr("aria-label", title);
    setIcon(el, icon);
    el.addEventListener("click", callback);
    this.actionsEl.prepend(el);
    return el;
  }
}

export class EmptyView extends ItemView {
  getViewType(): string {
    return "empty";
  }

  getDisplayText(): string {
    return "New tab";
  }
}

/** What stands in a leaf until it is looked at, since Obsidian 1.7.2. */
export class DeferredView extends ItemView {
  constructor(
    leaf: O.WorkspaceLeaf,
    private readonly pending: O.ViewState,
  ) {
    super(leaf);
  }

  getViewType(): string {
    return this.pending.type;
  }

  getDisplayText(): string {
    return this.pending.type;
  }

  override getState(): Record<string, unknown> {
    return this.pending.state ?? {};
  }
}

export abstract class FileView extends ItemView {
  allowNoFile = false;
  file: O.TFile | null = null;

  getDisplayText(): string {
    return this.file?.basename ?? "";
  }

  override getState(): Record<string, unknown> {
    return { file: this.file?.path };
  }
}

export abstract class TextFileView extends FileView {
  data = "";
}

export class MarkdownView extends TextFileView {
  editor: O.Editor;
  hoverPopover: O.HoverPopover | null = null;
  private mode: O.MarkdownViewModeType = "source";
  private readonly previewEl: HTMLElement;
  private readonly text: HTMLTextAreaElement;
  private preview = new Component();

  constructor(leaf: O.WorkspaceLeaf) {
    super(leaf);
    const source = this.contentEl.createDiv("markdown-source-view cm-s-obsidian mod-cm6");
    this.text = source.createEl("textarea", {
      cls: "cm-content",
      attr: { "aria-label": "Editor" },
    });
    this.previewEl = this.contentEl.createDiv("markdown-reading-view markdown-rendered");
    this.editor = published(
      new Editor(this.text, () => {
        this.changed();
      }),
    );
  }

  getViewType(): string {
    return "markdown";
  }

  getMode(): O.MarkdownViewModeType {
    return this.mode;
  }

  getViewData(): string {
    return this.text.value;
  }

  private changed(): void {
    this.data = this.text.value;
    this.app.workspace.trigger("editor-change", this.editor, this);
  }

  override async setState(state: unknown): Promise<void> {
    const wanted = state as { file?: string; mode?: O.MarkdownViewModeType };
    const file = this.app.vault.getFileByPath(wanted.file ?? "");
    this.mode = wanted.mode ?? this.mode;
    if (!file) return;
    this.file = file;
    this.data = await this.app.vault.read(file);
    this.text.value = this.data;
    this.show();
  }

  private show(): void {
    const reading = this.mode === "preview";
    this.text.parentElement?.toggle(!reading);
    this.previewEl.toggle(reading);
    this.preview.unload();
    this.previewEl.empty();
    if (!reading) return;
    this.preview = new Component();
    this.preview.load();
    const child = published<O.Component>(this.preview);
    void renderMarkdown(this.data, this.previewEl, this.file?.path ?? "", child);
  }

  override setEphemeralState(state: unknown): void {
    const wanted = state as { line?: number; subpath?: string; focus?: boolean };
    if (typeof wanted.line === "number") this.goTo(wanted.line);
    if (wanted.subpath && this.file) {
      const cache = this.app.metadataCache.getFileCache(this.file);
      const found = cache ? resolveSubpath(cache, wanted.subpath) : null;
      if (found) this.goTo(found.start.line);
    }
    if (wanted.focus) this.editor.focus();
  }

  private goTo(line: number): void {
    this.editor.setCursor({ line, ch: 0 });
    this.containerEl.setAttr("data-line", line);
  }

  override onunload(): void {
    this.preview.unload();
  }
}
