import { STORE_STREAM } from '../store-id.js';
import { KurrentUnavailable, type MissingRight, type Right } from './kurrent-failures.js';

/** The most streams that are kept for one right: nobody grants a right on so many streams one by one. */
const MAX_STREAMS = 1_000;

/**
 * Whether the server can be used, reported once when it cannot and once when it can again. A right that the user lacks
 * counts as missing until that right is granted: an answer to a request that needs another right does not clear it.
 */
export class Outage {
  private isAway = false;
  /** By right, the streams on which the server refused it. */
  private readonly missing = new Map<Right, Set<string>>();

  /** @param tell called with null when the server can be used again */
  constructor(private readonly tell: (error: KurrentUnavailable | null) => void) {}

  /** The server gave no usable answer. */
  away(error: unknown): void {
    const isNew = !this.isAway;
    this.isAway = true;
    if (isNew) this.tell(new KurrentUnavailable(error));
  }

  refused(error: MissingRight): void {
    const streams = this.missing.get(error.right);
    if (streams) {
      if (streams.size < MAX_STREAMS) streams.add(error.stream);
      return;
    }
    this.missing.set(error.right, new Set([error.stream]));
    this.tell(new KurrentUnavailable(error));
  }

  /** An answer has shown that the user has this right on this stream. */
  answered(right: Right, stream: string): void {
    if (this.isOver) return;
    this.isAway = false;
    const streams = this.missing.get(right);
    // A right that was refused on the store's own stream was refused on all, so granting it there grants it on all.
    if (streams?.delete(stream) && (streams.size === 0 || stream === STORE_STREAM)) this.missing.delete(right);
    if (this.isOver) this.tell(null);
  }

  private get isOver(): boolean {
    return !this.isAway && this.missing.size === 0;
  }
}
