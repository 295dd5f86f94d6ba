import { setImmediate } from 'node:timers/promises';

/**
 * Long work in pieces. Whoever takes a turn runs in a round of the event loop of its own. So requests are answered
 * between any two pieces, however many pieces of however many askers wait.
 */
export class Turns {
  private last: Promise<void> = Promise.resolve();

  /** Resolves in the order of asking. What follows it at once, before the next `await`, is the piece. */
  next(): Promise<void> {
    this.last = this.last.then(() => setImmediate());
    return this.last;
  }
}

/**
 * At most so many short pieces in one round of the event loop, whoever asks. Further pieces wait for the next round.
 */
export class Rounds {
  private taken = 0;
  private nextRound: Promise<void> | null = null;

  constructor(private readonly pieces: number) {}

  /** Resolves when there is room for one more. What follows it at once, before the next `await`, is the piece. */
  async room(): Promise<void> {
    while (this.taken >= this.pieces) await (this.nextRound ??= this.begin());
    this.taken += 1;
  }

  private async begin(): Promise<void> {
    await setImmediate();
    this.taken = 0;
    this.nextRound = null;
  }
}
