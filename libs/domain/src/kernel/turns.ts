import { setImmediate } from 'node:timers/promises';

/**
 * Long work in pieces: who takes a turn runs in a round of the event loop of its own, so that requests are answered between
 * any two pieces, however many pieces of however many askers wait.
 */
export class Turns {
  private last: Promise<void> = Promise.resolve();

  /** Resolves in the order of asking. What follows it at once, before the next `await`, is the piece. */
  next(): Promise<void> {
    this.last = this.last.then(() => setImmediate());
    return this.last;
  }
}
