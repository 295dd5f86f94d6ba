import {
  CompoundAppends,
  RequirementMoved,
  type Along,
  type Append,
  type AppendResult,
  type EventStore,
  type PayloadStore,
} from '#libs/domain/kernel';

/**
 * An append and what belongs to it, one after the other, for a log that is not in the database of the rows: the payload
 * first, which is inert until an event names it; then the question where the required streams stand; then the events.
 */
export class SequentialAppends extends CompoundAppends {
  constructor(
    private readonly store: Pick<EventStore, 'append' | 'heads'>,
    private readonly payloads: Pick<PayloadStore, 'put'>,
  ) {
    super();
  }

  async append(append: Append, { payload = null, requires = null }: Along): Promise<AppendResult> {
    if (payload !== null) await this.payloads.put(payload);
    if (requires !== null && requires.size > 0) await this.requireStanding(append, requires);
    return this.store.append(append);
  }

  /** Nobody is asked for companions, because no commit writes to two streams. */
  accompany(): () => void {
    return () => undefined;
  }

  private async requireStanding(append: Append, requires: ReadonlyMap<string, number>): Promise<void> {
    const heads = await this.store.heads([...requires.keys()]);
    for (const [stream, revision] of requires) {
      if (heads.get(stream) !== revision) throw new RequirementMoved(append.stream);
    }
  }
}
