/** What a minimum score would leave, shown live while it is moved. */

import type { Khiip } from "../khiip";
import { Latest, type Outcome } from "../api/latest";
import type { Hits } from "../api/wire";
import { asFault } from "../errors";
import { isEmpty, paramsOf, searchOfLine, type Search } from "../search/search";
import { floorLine } from "./floor";
import { newSearch } from "./settings";

const PAUSE = 250;
const LIMIT = 100;

export class FloorPreview {
  private scores: number[] | null = null;
  private words = "";
  private floor: number | null;
  private callOff: (() => void) | null = null;
  private readonly latest: Latest<Search, Hits>;

  constructor(
    private readonly el: HTMLElement,
    private readonly khiip: Khiip,
  ) {
    el.setAttrs({ role: "status", "aria-label": "Preview" });
    this.floor = khiip.settings().minScore;
    this.latest = new Latest(
      (search) =>
        khiip.client.recall(paramsOf(search, { limit: LIMIT, offset: 0, minScore: null })),
      (_search, outcome) => {
        this.hear(outcome);
      },
    );
  }

  /** Try it with these words. */
  try(words: string): void {
    this.words = words.trim();
    this.scores = null;
    this.callOff?.();
    const search = { ...newSearch(this.khiip.settings()), ...searchOfLine(words) };
    if (isEmpty(search)) {
      this.latest.forget();
      this.draw();
      return;
    }
    this.callOff = this.khiip.later(() => {
      this.latest.want(search);
    }, PAUSE);
  }

  /** Show what this minimum leaves. */
  set(floor: number | null): void {
    this.floor = floor;
    this.draw();
  }

  /** Ask nothing any more. */
  stop(): void {
    this.callOff?.();
    this.latest.forget();
  }

  private hear(outcome: Outcome<Hits>): void {
    if (!outcome.ok) {
      this.el.setText(asFault(outcome.error).message);
      return;
    }
    this.scores = outcome.answer.results.flatMap(({ score }) => (score === null ? [] : [score]));
    this.draw();
  }

  private draw(): void {
    this.el.setText(floorLine(this.scores, this.floor, this.words));
  }
}
