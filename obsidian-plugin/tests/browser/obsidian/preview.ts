/** Obsidian's page preview: a popover for links that the mouse rests on. */
import type { Workspace } from "./workspace";

interface HoverLink {
  event: MouseEvent;
  source: string;
  targetEl?: HTMLElement;
  linktext: string;
  sourcePath?: string;
}

/** Show the note of a link; only sources that were registered get one. */
export function showPreview(workspace: Workspace, data: unknown): void {
  const link = data as HoverLink;
  const source = workspace.hoverSources.get(link.source);
  const held = link.event.ctrlKey || link.event.metaKey;
  if (!source || (source.defaultMod && !held)) return;
  const path = link.linktext.split("#")[0] ?? "";
  const file = workspace.app.metadataCache.getFirstLinkpathDest(path, link.sourcePath ?? "");
  if (!file) return;
  document.querySelector(".hover-popover")?.detach();
  const el = document.body.createDiv("popover hover-popover");
  el.setCssStyles({
    left: `${String(link.event.clientX)}px`,
    top: `${String(link.event.clientY)}px`,
  });
  el.createDiv({ cls: "inline-title", text: file.basename });
  const away = (): void => {
    el.detach();
  };
  link.targetEl?.addEventListener("mouseleave", away, { once: true });
  void workspace.app.vault.cachedRead(file).then((text) => {
    el.createEl("p", { text: text.slice(0, 200) });
  });
}
