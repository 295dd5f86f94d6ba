import { StoreUnavailable, type Append, type AppendResult } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';

/** A store whose appends can be refused, or written and their answers lost. */
export class LosingStore extends MemoryEventStore {
  /** Type of the event with which the next append to be lost ends. */
  loses: string | null = null;

  /** How many appends that end so are refused before any is written. */
  isAwayFor = { type: '', appends: 0 };

  /** What becomes of the very next append, whatever it holds. */
  fate: 'answered' | 'ended before the write' | 'ended after the write' = 'answered';

  override async append(append: Append): Promise<AppendResult> {
    const { fate } = this;
    this.fate = 'answered';
    if (fate === 'ended before the write') throw new StoreUnavailable('the store is away');
    if (append.events.at(-1)?.type === this.isAwayFor.type && this.isAwayFor.appends > 0) {
      this.isAwayFor.appends -= 1;
      throw new StoreUnavailable('the store is away');
    }
    const result = await super.append(append);
    if (fate === 'ended after the write') throw new StoreUnavailable('the answer was lost');
    if (append.events.at(-1)?.type !== this.loses) return result;
    this.loses = null;
    throw new StoreUnavailable('the answer was lost');
  }
}
