/** One search being looked for: debounced, page by page, the newest answer wins. */

import type { Client, Later } from "../api/client";
import { Latest, type Outcome } from "../api/latest";
import type { Hits } from "../api/wire";
import { asFault, type Fault } from "../errors";
import { isEmpty, paramsOf, type Search } from "./search";

export const DEBOUNCE = 200;

/** What a hunt tells. */
export interface HuntListener {
  /** A search is empty: nothing is looked for. */
  emptied: () => void;
  /** A page came; `offset` 0 is the first of a new search. */
  found: (page: Hits, offset: number) => void;
  failed: (fault: Fault) => void;
}

/** What a hunt needs from outside. */
export interface HuntParts {
  client: Pick<Client, "recall">;
  later: Later;
  limit: () => number;
  minScore: () => number | null;
}

interface Page {
  search: Search;
  offset: number;
}

export class Hunt {
  private readonly latest: Latest<Page, Hits>;
  private callOff: (() => void) | null = null;
  private search: Search | null = null;
  private offset = 0;
  private more = false;

  constructor(
    private readonly parts: HuntParts,
    private readonly tell: HuntListener,
  ) {
    this.latest = new Latest(
      (page) => parts.client.recall(this.params(page)),
      (page, outcome) => {
        this.hear(page, outcome);
      },
    );
  }

  /** Look for this when nothing else was wanted for a moment; an empty search counts at once. */
  soon(search: Search): void {
    this.callOff?.();
    if (isEmpty(search)) {
      this.now(search);
      return;
    }
    this.callOff = this.parts.later(() => {
      this.now(search);
    }, DEBOUNCE);
  }

  /** Look for this at once. */
  now(search: Search): void {
    this.callOff?.();
    this.search = search;
    this.more = false;
    if (isEmpty(search)) {
      this.latest.forget();
      this.tell.emptied();
    } else {
      this.latest.want({ search, offset: 0 });
    }
  }

  /** Look for the next page, when there is one and nothing else is under way. */
  next(): void {
    if (!this.more || !this.search || this.latest.busy) return;
    this.latest.want({ search: this.search, offset: this.offset });
  }

  /** Look for nothing any more. */
  stop(): void {
    this.callOff?.();
    this.latest.forget();
  }

  private params({ search, offset }: Page): ReturnType<typeof paramsOf> {
    return paramsOf(search, {
      limit: this.parts.limit(),
      offset,
      minScore: this.parts.minScore(),
    });
  }

  private hear(page: Page, outcome: Outcome<Hits>): void {
    if (!outcome.ok) {
      this.tell.failed(asFault(outcome.error));
      return;
    }
    const { results, has_more: more } = outcome.answer;
    this.offset = page.offset + results.length;
    this.more = more && results.length > 0;
    this.tell.found(outcome.answer, page.offset);
  }
}
