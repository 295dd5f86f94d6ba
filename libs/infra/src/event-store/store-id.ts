import {
  appendEvents,
  type Clock,
  decodeEvent,
  type EventStore,
  type Randomness,
  type RecordedEvent,
  RevisionConflict,
  SYSTEM,
  timestampOf,
} from '#libs/domain/kernel';

/**
 * The stream whose only event holds the store's id. A log that is copied to another store gets a new id there, because
 * its positions are new.
 */
export const STORE_STREAM = 'store';

interface StoreCreated {
  readonly type: 'StoreCreated';
  readonly data: { readonly store_id: string };
}

/** The stream that holds the store's id was written by another program. */
export class ForeignStore extends Error {
  override readonly name = 'ForeignStore';
  constructor() {
    super(
      `The event store holds a stream \`${STORE_STREAM}\` that this service did not write: it belongs to something else. ` +
        'Give one in which nothing was ever written, or the one that has the log of this service.',
    );
  }
}

/** The id of a store. It is minted if the store has none; processes that do so at the same moment agree on one. */
export const storeIdOf = async (store: EventStore, clock: Clock, randomness: Randomness): Promise<string> => {
  const known = await knownStoreIdOf(store);
  if (known !== null) return known;
  const minted = uuidOf(randomness.bytes(16));
  try {
    const created: StoreCreated = { type: 'StoreCreated', data: { store_id: minted } };
    await appendEvents(store, STORE_STREAM, 'no_stream', [created], {
      org: null,
      actor: SYSTEM,
      requestId: null,
      commandId: minted,
      now: timestampOf(clock.nowMs()),
    });
    return minted;
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
    const winner = await knownStoreIdOf(store);
    if (winner === null) throw error;
    return winner;
  }
};

/**
 * The id of a store that has one; null for a store in which nothing was ever written.
 * @throws {ForeignStore} when another program wrote the stream of the id
 */
export const knownStoreIdOf = async (store: Pick<EventStore, 'readStream'>): Promise<string | null> => {
  const [recorded] = await store.readStream(STORE_STREAM, { limit: 1 });
  if (!recorded) return null;
  if (!isOurs(recorded)) throw new ForeignStore();
  return decodeEvent<StoreCreated>(recorded).event.data.store_id;
};

/** Another program may use the same event type, but not metadata with a `schema` number like ours. */
const isOurs = ({ type, metadata }: RecordedEvent): boolean => type === 'StoreCreated' && hasSchema(metadata);

const hasSchema = (metadata: string): boolean => {
  try {
    return typeof (JSON.parse(metadata) as { readonly schema?: unknown } | null)?.schema === 'number';
  } catch {
    return false;
  }
};

/** RFC 9562, version 4, of 16 random bytes. */
const uuidOf = (random: Uint8Array): string => {
  const bytes = Buffer.from(random);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};
