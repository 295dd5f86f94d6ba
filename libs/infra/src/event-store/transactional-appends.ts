import {
  CompoundAppends,
  type Accompany,
  type Along,
  type Append,
  type AppendResult,
  type Payload,
  type PayloadStore,
} from '#libs/domain/kernel';

/** An append with what its commit holds beside the events. */
export interface AppendInCommit extends Append {
  /** Payloads that the events name by digest; only for a store that was given the functions that write them. */
  readonly payloads?: readonly Payload[];
  /** Other streams that must be at these revisions when the events are written; otherwise nothing is written. */
  readonly requires?: ReadonlyMap<string, number>;
}

/** What a store adds to the port whose commits hold more than the events of an append. */
export interface TransactionalStore {
  /** As `EventStore.append` and {@link CompoundAppends.append}. */
  append(append: AppendInCommit): Promise<AppendResult>;
  /** As {@link CompoundAppends.accompany}. */
  accompany(accompany: Accompany, onError: (error: unknown) => void): () => void;
}

/** The payload rows of the database that holds the log. */
export interface PayloadsBesideLog extends Pick<PayloadStore, 'put'> {
  /** Called when a payload was stored by the commit of its append. */
  noteStored(payload: Payload): void;
}

/**
 * In characters of the body. A larger payload is written before its append and not along with it, so that it does not
 * delay other appends.
 */
const LONGEST_ALONG = 16_384;

/** An append with everything that belongs to it in one transaction, but for a long payload, which is written before. */
export class TransactionalAppends extends CompoundAppends {
  /** @param longestAlong 0 for a store whose commits hold no payloads: each is written before its append */
  constructor(
    private readonly store: TransactionalStore,
    private readonly payloads: PayloadsBesideLog,
    private readonly longestAlong = LONGEST_ALONG,
  ) {
    super();
  }

  async append(append: Append, { payload = null, requires = null }: Along): Promise<AppendResult> {
    // The spread comes last: otherwise each object would get a hidden class of its own (docs/performance.md).
    const required: AppendInCommit = requires === null ? append : { requires, ...append };
    if (payload === null) return this.store.append(required);
    if (payload.body.length > this.longestAlong) {
      await this.payloads.put(payload);
      return this.store.append(required);
    }
    const result = await this.store.append({ payloads: [payload], ...required });
    this.payloads.noteStored(payload);
    return result;
  }

  accompany(accompany: Accompany, onError: (error: unknown) => void): () => void {
    return this.store.accompany(accompany, onError);
  }
}
