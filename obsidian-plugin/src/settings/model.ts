/** The row that tells the model in use and, while another is on its way, how far that one is. */

import type { Setting } from "obsidian";
import type { Outcome } from "../api/latest";
import type { Coming, Meta } from "../api/wire";
import { asFault } from "../errors";
import type { Khiip } from "../khiip";
import { ModelWatch } from "./model_watch";
import { comingLine, modelLine, shareOf } from "./model_words";

export class ModelFacts {
  private readonly watch: ModelWatch;
  private readonly answers: HTMLElement;
  private readonly coming: HTMLElement;
  private readonly words: HTMLElement;
  private readonly bar: HTMLProgressElement;

  constructor(setting: Setting, khiip: Khiip) {
    this.answers = setting.controlEl.createSpan({ cls: "khiip-fact", text: "…" });
    this.coming = setting.descEl.createDiv("khiip-coming");
    this.words = this.coming.createDiv();
    this.bar = this.coming.createEl("progress", { attr: { max: "100" } });
    this.bar.setAttr("aria-label", "Model on its way");
    this.coming.hide();
    this.watch = new ModelWatch({
      meta: () => khiip.client.meta(),
      listen: (listener) => khiip.monitor.listen(listener),
      later: khiip.later,
      show: (outcome) => {
        this.show(outcome);
      },
    });
  }

  /** Show it, and keep it true. */
  start(): void {
    this.watch.start();
  }

  /** Keep it true no more. */
  stop(): void {
    this.watch.stop();
  }

  private show(outcome: Outcome<Meta>): void {
    if (!outcome.ok) {
      this.answers.setText(asFault(outcome.error).message);
      this.coming.hide();
      return;
    }
    const { embedder, version } = outcome.answer;
    this.answers.setText(modelLine(embedder, version));
    this.coming.toggle(embedder.coming !== null);
    if (embedder.coming) this.showComing(embedder.coming);
  }

  private showComing(coming: Coming): void {
    this.words.setText(comingLine(coming));
    const share = shareOf(coming);
    if (share === null) this.bar.removeAttribute("value");
    else this.bar.value = share;
  }
}
