/** What the pane shows where there are no hits: hints, first steps, what to do about a fault. */

import { Notice, Platform, setIcon } from "obsidian";
import type { Fault } from "../../errors";
import type { Khiip } from "../../khiip";
import type { Search } from "../../search/search";

/** What a card's buttons do. */
export interface CardActions {
  retry: () => void;
  search: (search: Search) => void;
}

/** A hint for an empty box: how to ask, and searches that were kept. */
export function drawHints(parent: HTMLElement, khiip: Khiip, actions: CardActions): void {
  const card = parent.createDiv("khiip-card khiip-hints");
  card.createEl("p", { text: "Ask in your own words. Notes are found by meaning and by words." });
  const filters = card.createEl("p", { cls: "khiip-hint-filters" });
  for (const each of ["tag:", "folder:", "source:", "since:7d", '"exact words"']) {
    filters.createEl("code", { text: each });
  }
  if (!Platform.isMobile) drawKeys(card);
  const { saved } = khiip.settings();
  if (saved.length === 0) return;
  card.createEl("p", { cls: "khiip-card-title", text: "Saved" });
  for (const each of saved) {
    const button = card.createEl("button", { cls: "khiip-saved", text: each.name });
    button.onClickEvent(() => {
      actions.search(each);
    });
  }
}

function drawKeys(card: HTMLElement): void {
  const mod = Platform.isMacOS ? "⌘" : "Ctrl";
  const alt = Platform.isMacOS ? "⌥" : "Alt";
  const keys = card.createEl("p", { cls: "khiip-keys" });
  const shown = [
    ["↑↓", "choose"],
    ["↵", "open"],
    [`${mod} ↵`, "new tab"],
    [`${alt} ↵`, "insert link"],
  ];
  for (const [key, what] of shown) {
    const pair = keys.createSpan("khiip-key");
    pair.createEl("kbd", { text: key ?? "" });
    pair.appendText(` ${what ?? ""}`);
  }
}

/** No hits: what might be changed. */
export function drawNothing(parent: HTMLElement, filtered: boolean, floor: number | null): void {
  const card = parent.createDiv("khiip-card");
  const advice = filtered ? "Take a filter away, or ask in other words." : "Ask in other words.";
  card.createEl("p", { text: advice });
  if (floor !== null) {
    card.createEl("p", { text: `Hits below ${floor.toFixed(2)} are left out by your settings.` });
  }
}

/** A fault: what to do about it, and the buttons that do it. */
export function drawFault(
  parent: HTMLElement,
  khiip: Khiip,
  fault: Fault,
  actions: CardActions,
  first: boolean,
): void {
  const card = parent.createDiv("khiip-card khiip-fault");
  if (fault.help && !first) card.createEl("p", { text: fault.help });
  const stranger = CONFIRMED.has(fault.kind) ? khiip.connection.stranger : null;
  if (stranger) card.createEl("p").createEl("code", { text: stranger.address });
  const buttons = card.createDiv("khiip-buttons");
  if (fault.kind === "offline") void drawStart(buttons, khiip);
  if (fault.kind === "no_key" || fault.kind === "unauthorized") {
    drawButton(buttons, "Open settings", khiip.openSettings);
  }
  if (stranger) {
    drawButton(buttons, "It is this vault", () => {
      khiip.connection.trustStranger();
      khiip.monitor.restart();
    });
  }
  drawButton(buttons, "Try again", actions.retry);
}

/** Faults that a person may put right by saying whose sidecar it is. */
const CONFIRMED = new Set<Fault["kind"]>(["unconfirmed", "other_vault"]);

async function drawStart(buttons: HTMLElement, khiip: Khiip): Promise<void> {
  if (!(await khiip.starter.canStart())) return;
  const button = drawButton(buttons, "Start the sidecar", () => {
    button.disabled = true;
    button.setText("Starting…");
    khiip.run(async () => {
      try {
        await khiip.starter.start();
      } finally {
        button.disabled = false;
        button.setText("Start the sidecar");
      }
    });
  });
  button.addClass("mod-cta");
}

/** The first steps, shown until a sidecar has answered once on this device. */
export function drawFirstSteps(parent: HTMLElement, khiip: Khiip): void {
  const attr = { role: "region", "aria-label": "Get started" };
  const card = parent.createDiv({ cls: "khiip-card khiip-first", attr });
  card.createEl("p", { cls: "khiip-card-title", text: "Get started" });
  if (Platform.isMobile) {
    card.createEl("p", {
      text: "Khiip reads your notes on a computer. Run its sidecar there, then set its address and key in the settings.",
    });
    drawButton(card.createDiv("khiip-buttons"), "Open settings", khiip.openSettings);
    return;
  }
  card.createEl("p", {
    text: "A small program beside Obsidian reads your notes and answers here. Nothing leaves this machine.",
  });
  drawCommand(card, khiip, "Install it:", "pipx install khiip");
  drawCommand(card, khiip, "Start it:", serveCommand(khiip.starter.folder));
}

function serveCommand(folder: string | null): string {
  return `khiipd --vault ${quoted(folder ?? "PATH")} serve`;
}

function quoted(path: string): string {
  return /^[\w./~:\\-]+$/u.test(path) ? path : `"${path.replace(/["$`]/gu, "\\$&")}"`;
}

function drawCommand(card: HTMLElement, khiip: Khiip, label: string, command: string): void {
  const row = card.createDiv("khiip-command");
  row.createSpan({ text: label });
  const line = row.createDiv("khiip-command-line");
  line.createEl("code", { text: command });
  const button = line.createEl("button", { cls: "khiip-icon clickable-icon" });
  button.setAttr("aria-label", `Copy: ${command}`);
  setIcon(button, "copy");
  button.onClickEvent(() => {
    khiip.run(async () => {
      await navigator.clipboard.writeText(command);
      setIcon(button, "check");
      khiip.later(() => {
        setIcon(button, "copy");
      }, COPIED);
      new Notice("Copied.");
    });
  });
}

const COPIED = 1500;

function drawButton(parent: HTMLElement, text: string, run: () => void): HTMLButtonElement {
  const button = parent.createEl("button", { text });
  button.onClickEvent(run);
  return button;
}
