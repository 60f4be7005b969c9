/** What the active note went through: edits a day, sessions, intents, linked notes. */

import type { TFile } from "obsidian";
import type { History } from "../api/wire";
import { VIEWS, type Khiip } from "../khiip";
import { barsOf, chartLabel, historyFrom, summary, type Bar } from "../search/bars";
import { relativeDate } from "../search/dates";
import { NoteView } from "./note_view";
import { openPlace } from "./open";

export class HistoryView extends NoteView<History> {
  override icon = "history";
  protected override readonly invitation = "Open a note to see what it went through.";
  private bodyEl: HTMLElement | null = null;

  override getViewType(): string {
    return VIEWS.history;
  }

  override getDisplayText(): string {
    return "Note history";
  }

  protected override ask(file: TFile): Promise<History> {
    return this.khiip.client.history(file.path);
  }

  protected override drawBody(parent: HTMLElement): void {
    const attr = { tabindex: "0", role: "region", "aria-label": "History" };
    this.bodyEl = parent.createDiv({ cls: "khiip-body khiip-history", attr });
  }

  protected override show(answer: History | null): string {
    this.bodyEl?.empty();
    if (!answer) return "";
    if (this.bodyEl) drawHistory(this.bodyEl, this.khiip, answer);
    return summary(answer);
  }
}

function drawHistory(parent: HTMLElement, khiip: Khiip, history: History): void {
  const { step, bars } = barsOf(history.daily_breakdown);
  if (bars.length > 0) drawChart(parent, bars, chartLabel(history, step));
  if (history.user_intents.length > 0) drawIntents(parent, history);
  if (history.linked_memories.length > 0) drawLinked(parent, khiip, history);
  parent.createDiv({ cls: "khiip-from", text: historyFrom(history.history_state) });
}

function drawIntents(parent: HTMLElement, { user_intents: intents }: History): void {
  const list = drawList(parent, "Intents");
  const now = Date.now();
  for (const { intent, when, occurrences } of intents) {
    const item = list.createEl("li");
    item.createDiv({ text: intent, attr: { dir: "auto" } });
    const times = occurrences > 1 ? ` · ${occurrences} times` : "";
    item.createDiv({ cls: "khiip-hit-meta", text: relativeDate(when, now) + times });
  }
}

function drawLinked(parent: HTMLElement, khiip: Khiip, { linked_memories: linked }: History): void {
  const list = drawList(parent, "Linked notes");
  for (const { id, entity, title, preview } of linked) {
    const item = list.createEl("li");
    const name = title ?? entity ?? id;
    const attr = { dir: "auto" };
    const button = item.createEl("button", { cls: "khiip-link", text: name, attr });
    button.onClickEvent(() => {
      khiip.run(async () => {
        const { vault_path: path } = await khiip.client.capture(id);
        await openPlace(khiip, { path, id }, false);
      });
    });
    item.createDiv({ cls: "khiip-hit-meta", text: preview, attr });
  }
}

function drawList(parent: HTMLElement, label: string): HTMLElement {
  parent.createDiv({ cls: "khiip-card-title", text: label });
  return parent.createEl("ul", { cls: "khiip-list", attr: { role: "list", "aria-label": label } });
}

const HEIGHT = 48;
const STRIDE = 6;

function drawChart(parent: HTMLElement, bars: readonly Bar[], label: string): void {
  const highest = Math.max(...bars.map((bar) => bar.edits), 1);
  const width = Math.max(bars.length, 20) * STRIDE;
  const svg = parent.createSvg("svg", {
    cls: "khiip-chart",
    attr: {
      viewBox: `0 0 ${width} ${HEIGHT}`,
      preserveAspectRatio: "none", // it fills the pane, however wide that is
      role: "img",
      "aria-label": label,
    },
  });
  for (const [index, bar] of bars.entries()) {
    const height = bar.edits === 0 ? 1 : Math.max(3, (HEIGHT * bar.edits) / highest);
    const rect = svg.createSvg("rect", {
      cls: bar.edits === 0 ? "khiip-bar is-empty" : "khiip-bar",
      attr: {
        x: width - (bars.length - index) * STRIDE,
        y: HEIGHT - height,
        width: STRIDE - 2,
        height,
      },
    });
    rect.createSvg("title").textContent = `${bar.label}: ${bar.edits}`;
  }
  drawEnds(parent, bars);
}

/** The first and the last day, which the chart's label has for who cannot see them. */
function drawEnds(parent: HTMLElement, bars: readonly Bar[]): void {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last || first === last) return;
  const ends = parent.createDiv({ cls: "khiip-chart-ends", attr: { "aria-hidden": "true" } });
  ends.createSpan({ text: first.label.slice(0, 10) });
  ends.createSpan({ text: last.label.slice(-10) });
}
