/** The plugin's commands. */

import { Notice, Platform, type Plugin } from "obsidian";
import { VIEWS, type Khiip } from "../khiip";
import { RecallModal } from "../ui/recall_modal";
import { SearchView } from "../ui/search/view";

/** Add every command; those that need a desktop are there on a desktop only. */
export function addCommands(plugin: Plugin, khiip: Khiip): void {
  const add = (id: string, name: string, icon: string, work: () => unknown): void => {
    const callback = (): void => {
      khiip.run(work);
    };
    plugin.addCommand({ id, name, icon, callback });
  };
  add("open-search", "Search your notes", "text-search", () => khiip.openSearch());
  add("quick-recall", "Quick recall", "zap", () => {
    new RecallModal(khiip).open();
  });
  add("open-related", "Show related notes", "waypoints", () => khiip.openView(VIEWS.related));
  add("open-entities", "What do I know about…", "users", () => khiip.openView(VIEWS.entities));
  add("open-history", "Show the note's history", "history", () => khiip.openView(VIEWS.history));
  add("open-problems", "Show problems", "alert-triangle", () => khiip.openView(VIEWS.problems));
  add("reindex", "Read the vault again", "refresh-cw", async () => {
    await khiip.client.reindex();
    new Notice("Khiip reads the vault again.");
  });
  plugin.addCommand({
    id: "save-search",
    name: "Save this search",
    icon: "bookmark",
    checkCallback: (checking) => {
      const view = openPane(khiip);
      if (view && !checking) view.toggleSaved();
      return view !== null;
    },
  });
  if (Platform.isDesktopApp) addSidecarCommands(add, khiip);
}

function addSidecarCommands(
  add: (id: string, name: string, icon: string, work: () => unknown) => void,
  khiip: Khiip,
): void {
  add("start-sidecar", "Start the sidecar", "play", async () => {
    await khiip.starter.start();
    new Notice("Khiip is running.");
  });
  add("stop-sidecar", "Stop the sidecar that was started here", "square", () => {
    khiip.starter.stop();
    new Notice("Khiip was stopped.");
  });
}

function openPane(khiip: Khiip): SearchView | null {
  const [leaf] = khiip.app.workspace.getLeavesOfType(VIEWS.search);
  return leaf?.view instanceof SearchView ? leaf.view : null;
}
