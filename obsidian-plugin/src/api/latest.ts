/** At most one question in flight, and the newest answer wins. */

/** How a question ended. */
export type Outcome<A> = { ok: true; answer: A } | { ok: false; error: unknown };

/**
 * Asks questions one after the other. While one is in flight only the newest other is kept, and
 * an answer is told only when nothing newer was wanted since.
 */
export class Latest<Q, A> {
  private running = false;
  private waiting: { question: Q } | null = null;
  private wanted = 0;

  constructor(
    private readonly ask: (question: Q) => Promise<A>,
    private readonly tell: (question: Q, outcome: Outcome<A>) => void,
  ) {}

  /** Want the answer to this, and to nothing asked before. */
  want(question: Q): void {
    this.wanted += 1;
    this.waiting = { question };
    this.next();
  }

  /** Want nothing any more: what is in flight is not told. */
  forget(): void {
    this.wanted += 1;
    this.waiting = null;
  }

  /** Whether an answer is still to come. */
  get busy(): boolean {
    return this.waiting !== null || this.running;
  }

  private next(): void {
    if (this.running || this.waiting === null) return;
    const { question } = this.waiting;
    const turn = this.wanted;
    this.waiting = null;
    this.running = true;
    void this.ask(question)
      .then(
        (answer): Outcome<A> => ({ ok: true, answer }),
        (error: unknown): Outcome<A> => ({ ok: false, error }),
      )
      .then((outcome) => {
        this.running = false;
        if (turn === this.wanted) this.tell(question, outcome);
        this.next();
      });
  }
}
