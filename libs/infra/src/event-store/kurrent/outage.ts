import { STORE_STREAM } from '../store-id.js';
import { KurrentUnavailable, type MissingRight, type Right } from './kurrent-failures.js';

/** More of them are not told apart, and nobody gives a user rights on so many one by one. */
const MAX_STREAMS = 1_000;

/**
 * Whether the server can be used, told once when it cannot and once when it can again. A right that the user lacks stays
 * missing until the same is granted: that it answers to others takes nothing back.
 */
export class Outage {
  private isAway = false;
  /** By right, the streams on which it was refused. */
  private readonly missing = new Map<Right, Set<string>>();

  /** @param tell null: it can be used again */
  constructor(private readonly tell: (error: KurrentUnavailable | null) => void) {}

  /** It was asked, and gave no answer that counts. */
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

  /** An answer has shown that the user has the right on this stream. */
  answered(right: Right, stream: string): void {
    if (this.isOver) return;
    this.isAway = false;
    const streams = this.missing.get(right);
    // What was refused on the service's own first stream was so on all.
    if (streams?.delete(stream) && (streams.size === 0 || stream === STORE_STREAM)) this.missing.delete(right);
    if (this.isOver) this.tell(null);
  }

  private get isOver(): boolean {
    return !this.isAway && this.missing.size === 0;
  }
}
