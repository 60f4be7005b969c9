/** A clock that a test moves: what was put off runs when its time has come. */

interface Waiting {
  run: () => void;
  at: number;
}

export class Clock {
  now = 0;
  private waiting: Waiting[] = [];

  later = (run: () => void, milliseconds: number): (() => void) => {
    const entry = { run, at: this.now + milliseconds };
    this.waiting.push(entry);
    return () => {
      this.waiting = this.waiting.filter((each) => each !== entry);
    };
  };

  /** Let time pass, and give promises their turns. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.now + milliseconds;
    await turns();
    for (;;) {
      const next = this.waiting.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.now = next.at;
      this.waiting = this.waiting.filter((each) => each !== next);
      next.run();
      await turns();
    }
    this.now = end;
  }

  /** How many things wait for their time. */
  get pending(): number {
    return this.waiting.length;
  }
}

/** Give every promise that is settled its turn. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
