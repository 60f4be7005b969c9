/** Opening, linking and previewing notes, the way Obsidian does it. */

import {
  MarkdownView,
  Menu,
  normalizePath,
  TFile,
  type App,
  type HoverParent,
  type PaneType,
} from "obsidian";
import { fault } from "../errors";
import type { Khiip } from "../khiip";

/** A note and a place in it; `line` counts from 1. */
export interface Place {
  path: string;
  line?: number | null;
  heading?: string | null;
  /** Known for what recall found: opening it is told, as heat decays from that. */
  id?: string;
}

/** The note at a path as the service has it; null when it is not there any more. */
export function fileAt(app: App, path: string): TFile | null {
  // By path, never by link text: `#` and `[` may be in a name. Obsidian keeps paths composed.
  const found = app.vault.getAbstractFileByPath(path);
  const file = found ?? app.vault.getAbstractFileByPath(normalizePath(path));
  return file instanceof TFile ? file : null;
}

/** Open a note at its place, in this pane, a new tab or a split; tells the access. */
export async function openPlace(khiip: Khiip, place: Place, pane: PaneType | false): Promise<void> {
  const file = needFile(khiip.app, place.path);
  const leaf = khiip.app.workspace.getLeaf(pane);
  await leaf.openFile(file, { active: true, eState: spotOf(place) });
  if (place.id !== undefined) await tellAccess(khiip, place.id);
}

async function tellAccess(khiip: Khiip, id: string): Promise<void> {
  try {
    await khiip.client.access(id);
  } catch {
    // The note is open, which is what was wanted; the client has told the state of the fault.
  }
}

function spotOf(place: Place): Record<string, unknown> {
  if (place.line) return { line: place.line - 1 };
  return place.heading ? { subpath: `#${place.heading}` } : {};
}

function needFile(app: App, path: string): TFile {
  const file = fileAt(app, path);
  if (!file) throw fault("refused", `${path} is not in the vault any more.`, "");
  return file;
}

/** A link to a note, as Obsidian's own settings want links to be. */
export function linkTo(app: App, path: string, from = ""): string {
  const file = fileAt(app, path);
  return file ? app.fileManager.generateMarkdownLink(file, from) : "";
}

/** Insert a link at the cursor of the note that was edited last. */
export function insertLink(app: App, path: string): void {
  needFile(app, path);
  const view = app.workspace.getMostRecentLeaf()?.view;
  const target = app.workspace.activeEditor ?? (view instanceof MarkdownView ? view : null);
  if (!target?.editor) throw fault("refused", "No note is open for editing.", "Open one first.");
  target.editor.replaceSelection(linkTo(app, path, target.file?.path));
}

/** Show Obsidian's page preview for a note under the mouse. */
export function preview(
  app: App,
  source: string,
  hoverParent: HoverParent,
  event: MouseEvent,
  targetEl: HTMLElement,
  place: Place,
): void {
  const state = place.line ? { scroll: place.line - 1 } : {};
  const link = { event, source, hoverParent, targetEl, ...linkOf(place.path), state };
  app.workspace.trigger("hover-link", link);
}

/** A path as link text; where `#` would begin a heading, the note is named as the link's own. */
function linkOf(path: string): { linktext: string; sourcePath: string } {
  return path.includes("#")
    ? { linktext: "", sourcePath: path }
    : { linktext: path, sourcePath: "" };
}

/** Where a note is opened, by the keys that are held. */
export function paneOf(event: MouseEvent | KeyboardEvent, mod: boolean): PaneType | false {
  if (!mod) return false;
  return event.shiftKey ? "split" : "tab";
}

/** The menu of a note: ours first, then what Obsidian and other plugins have for files. */
export function placeMenu(khiip: Khiip, source: string, place: Place): Menu {
  const menu = new Menu();
  const add = (title: string, icon: string, run: () => Promise<void> | void): void => {
    menu.addItem((item) =>
      item
        .setTitle(title)
        .setIcon(icon)
        .setSection("open")
        .onClick(() => {
          khiip.run(run);
        }),
    );
  };
  add("Open", "file", () => openPlace(khiip, place, false));
  add("Open in new tab", "file-plus", () => openPlace(khiip, place, "tab"));
  add("Open to the right", "separator-vertical", () => openPlace(khiip, place, "split"));
  add("Insert link", "link", () => {
    insertLink(khiip.app, place.path);
  });
  const file = fileAt(khiip.app, place.path);
  if (file) khiip.app.workspace.trigger("file-menu", menu, file, source);
  return menu;
}
