/** A view that follows the active note, and asks the sidecar about each. */

import { ItemView, type TFile, type WorkspaceLeaf } from "obsidian";
import { Latest, type Outcome } from "../api/latest";
import { asFault } from "../errors";
import type { Khiip } from "../khiip";
import { countsOf, type SidecarState } from "../sidecar/state";

const PAUSE = 250;

export abstract class NoteView<Answer> extends ItemView {
  override navigation = false;
  private asked: string | null = null;
  private generation = -1;
  private missed = false;
  private callOff: (() => void) | null = null;
  private readonly latest: Latest<TFile, Answer>;
  private titleEl: HTMLElement | null = null;
  private statusEl: HTMLElement | null = null;

  constructor(
    leaf: WorkspaceLeaf,
    protected readonly khiip: Khiip,
  ) {
    super(leaf);
    this.latest = new Latest(
      (file) => this.ask(file),
      (file, outcome) => {
        this.hear(file, outcome);
      },
    );
  }

  /** What to say while no note is active. */
  protected abstract readonly invitation: string;

  /** Ask about a note. */
  protected abstract ask(file: TFile): Promise<Answer>;

  /** Draw what stands below the line; called once. */
  protected abstract drawBody(parent: HTMLElement): void;

  /** Show an answer, null for none; gives the line to say. */
  protected abstract show(answer: Answer | null): string;

  override async onOpen(): Promise<void> {
    const { contentEl } = this;
    contentEl.empty();
    contentEl.addClass("khiip-pane");
    this.titleEl = contentEl.createDiv({ cls: "khiip-for", attr: { dir: "auto" } });
    this.statusEl = contentEl.createDiv({ cls: "khiip-status", attr: { role: "status" } });
    this.drawBody(contentEl);
    this.registerEvent(
      this.app.workspace.on("file-open", () => {
        this.soon();
      }),
    );
    this.register(
      this.khiip.monitor.listen((state) => {
        this.follow(state);
      }),
    );
    this.register(() => {
      this.callOff?.();
      this.latest.forget();
    });
    this.soon();
    return Promise.resolve();
  }

  /** The same note is asked about again when the index has changed, or somebody answers again. */
  private follow(state: SidecarState): void {
    const generation = countsOf(state)?.generation ?? -1;
    if (generation === this.generation) return;
    this.generation = generation;
    this.asked = null;
    this.soon();
  }

  private soon(): void {
    this.callOff?.();
    this.callOff = this.khiip.later(() => {
      this.look();
    }, PAUSE);
  }

  /** It is shown again: what was missed meanwhile is made up for. */
  override onResize(): void {
    super.onResize();
    if (this.missed) this.soon();
  }

  private look(): void {
    this.missed = !this.contentEl.isShown();
    if (this.missed) return;
    const file = this.app.workspace.getActiveFile();
    if (file?.extension !== "md") {
      this.latest.forget();
      this.asked = null;
      this.put("", null, this.invitation);
    } else if (file.path !== this.asked) {
      this.asked = file.path;
      this.latest.want(file);
    }
  }

  private hear(file: TFile, outcome: Outcome<Answer>): void {
    if (outcome.ok) this.put(file.basename, outcome.answer, null);
    else this.put(file.basename, null, asFault(outcome.error).message);
  }

  private put(title: string, answer: Answer | null, instead: string | null): void {
    const line = this.show(answer);
    const said = instead ?? line;
    this.titleEl?.setText(title);
    if (this.statusEl?.textContent !== said) this.statusEl?.setText(said);
  }
}
