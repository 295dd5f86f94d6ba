import type { CompoundAppends, EventStore, FoldedStreams, Payload } from '#libs/domain/kernel';
import { AskedSealKeys, RequiredSealKeys, type SealKeysInForce } from '#libs/domain/ledger';
import { SequentialAppends, TransactionalAppends, type TransactionalStore } from '#libs/infra/event-store';

/** What a deployment chooses by where its log is. */
export interface LogProfile {
  readonly appends: CompoundAppends;
  readonly keysInForce: (streams: FoldedStreams) => SealKeysInForce;
}

type Put = (payload: Payload) => Promise<void>;

const putNothing: Put = () => Promise.reject(new Error('no payload is expected here'));

/** As a deployment chooses for such a store. Payloads are put before their append, because the test has them elsewhere. */
export const profileOf = (store: EventStore, put: Put = putNothing): LogProfile =>
  isTransactional(store)
    ? {
        appends: new TransactionalAppends(store, { put, noteStored: () => undefined }, 0),
        keysInForce: (streams) => new RequiredSealKeys(streams),
      }
    : sequentialProfileOf(store, put);

/** As a deployment chooses for a log that is not in the database of the rows. */
export const sequentialProfileOf = (store: EventStore, put: Put = putNothing): LogProfile => ({
  appends: new SequentialAppends(store, { put }),
  keysInForce: (streams) => new AskedSealKeys(streams),
});

const isTransactional = (store: EventStore): store is EventStore & TransactionalStore => 'accompany' in store;
