import { setImmediate } from 'node:timers/promises';

/**
 * Long work in pieces. Each piece runs in a round of the event loop of its own, across all callers, so that requests
 * are answered between any two pieces, however many callers wait.
 */
export class Turns {
  private last: Promise<void> = Promise.resolve();

  /**
   * Resolves in the order of the calls. The piece is what the caller runs synchronously after this, before its next
   * `await`.
   */
  next(): Promise<void> {
    this.last = this.last.then(() => setImmediate());
    return this.last;
  }
}

/**
 * At most `pieces` short pieces of work in one round of the event loop, across all callers. Further pieces wait for the
 * next round.
 */
export class Rounds {
  private taken = 0;
  private nextRound: Promise<void> | null = null;

  constructor(private readonly pieces: number) {}

  /**
   * Resolves when the round has room for one more piece, which is what the caller runs synchronously after this, before
   * its next `await`.
   */
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
