/** What could not be read as promised, note by note; each opens at its line. */

import { ItemView, type WorkspaceLeaf } from "obsidian";
import { Latest, type Outcome } from "../api/latest";
import type { IndexState, Problem } from "../api/wire";
import { asFault } from "../errors";
import { VIEWS, type Khiip } from "../khiip";
import { problemsLabel } from "../sidecar/state";
import { openPlace } from "./open";

const PAUSE = 300;

export class ProblemsView extends ItemView {
  override navigation = false;
  override icon = "alert-triangle";
  private seen = "";
  private callOff: (() => void) | null = null;
  private readonly latest: Latest<null, IndexState>;
  private statusEl: HTMLElement | null = null;
  private bodyEl: HTMLElement | null = null;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly khiip: Khiip,
  ) {
    super(leaf);
    this.latest = new Latest(
      () => khiip.client.index(),
      (_question, outcome) => {
        this.hear(outcome);
      },
    );
  }

  override getViewType(): string {
    return VIEWS.problems;
  }

  override getDisplayText(): string {
    return "Khiip problems";
  }

  override async onOpen(): Promise<void> {
    this.contentEl.empty();
    this.contentEl.addClass("khiip-pane");
    this.statusEl = this.contentEl.createDiv({ cls: "khiip-status", attr: { role: "status" } });
    this.bodyEl = this.contentEl.createDiv("khiip-body");
    this.register(
      this.khiip.monitor.listen((state) => {
        const now = "counts" in state ? `${state.counts.generation} ${state.counts.problems}` : "";
        if (state.kind === "fault") this.say(state.fault.message);
        else if (now !== this.seen) this.soon();
        this.seen = now;
      }),
    );
    this.register(() => {
      this.callOff?.();
      this.latest.forget();
    });
    return Promise.resolve();
  }

  private soon(): void {
    this.callOff?.();
    this.callOff = this.khiip.later(() => {
      this.latest.want(null);
    }, PAUSE);
  }

  private hear(outcome: Outcome<IndexState>): void {
    if (!outcome.ok) {
      this.say(asFault(outcome.error).message);
      return;
    }
    const { problems, last_report: report, counts } = outcome.answer;
    const known = problems ?? report?.problems ?? [];
    this.draw(known, Math.max(counts.problems, known.length));
  }

  private draw(problems: readonly Problem[], total: number): void {
    this.say(total === 0 ? "No problems: every note was read." : problemsLabel(total));
    this.bodyEl?.empty();
    const attr = { role: "list", "aria-label": "Problems" };
    const list = this.bodyEl?.createEl("ul", { cls: "khiip-list", attr });
    for (const problem of problems) if (list) this.drawProblem(list, problem);
    const rest = total - problems.length;
    if (rest <= 0) return;
    this.bodyEl?.createDiv({
      cls: "khiip-from",
      text: `${problemsLabel(rest)} more: khiipd status --problems ${total} lists them.`,
    });
  }

  private drawProblem(list: HTMLElement, problem: Problem): void {
    const button = list.createEl("li").createEl("button", { cls: "khiip-entity" });
    const { path, line, reason, hint } = problem;
    const head = button.createDiv("khiip-hit-head");
    head.createSpan({ cls: "khiip-hit-title", text: path, attr: { dir: "auto" } });
    if (line !== null) head.createSpan({ cls: "khiip-hit-why", text: `line ${line}` });
    button.createDiv({ cls: "khiip-hit-passage", text: reason, attr: { dir: "auto" } });
    if (hint) button.createDiv({ cls: "khiip-hit-meta", text: hint });
    button.onClickEvent(() => {
      this.khiip.run(() => openPlace(this.khiip, { path, line }, false));
    });
  }

  private say(line: string): void {
    if (this.statusEl?.textContent !== line) this.statusEl?.setText(line);
  }
}
