import {
  type Append,
  APPEND_LIMIT_BYTES,
  AppendTooLarge,
  type ExpectedRevision,
  type NewEvent,
} from '#libs/domain/kernel';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Far above every name of ours, far below what an index entry holds. */
const MAX_NAME_LENGTH = 255;

/** The revision a stream stands at, -1 when it does not exist. */
export const revisionNumber = (revision: ExpectedRevision): number => (revision === 'no_stream' ? -1 : revision);

/** The port's word for a revision number, -1 when the stream does not exist. */
export const expectedRevisionOf = (revision: number): ExpectedRevision => (revision < 0 ? 'no_stream' : revision);

/**
 * What every adapter refuses before the store sees it, so that one bad append cannot spoil the others it travels with.
 *
 * @param store what it can do, for appends that ask for more than events
 * @returns its size in bytes, as {@link APPEND_LIMIT_BYTES} counts
 * @throws {AppendTooLarge}
 * @throws {TypeError} a defect of the caller: no such append may ever be sent
 */
export const checkAppend = (append: Append, store: StoreAbilities = {}): number => {
  const { stream, expectedRevision, events, payloads = [], requires } = append;
  if (payloads.length > 0 && store.storesPayloads !== true) throw new TypeError('this store does not store payloads');
  if (requires !== undefined) checkRequired(stream, requires, store);
  for (const { body } of payloads) checkText('payload', body);
  checkName('stream', stream);
  if (expectedRevision !== 'no_stream' && !isRevision(expectedRevision)) {
    throw new TypeError(`an expected revision is a natural number or 'no_stream'`);
  }
  if (events.length === 0) throw new TypeError('an append holds at least one event');
  const bytes = events.reduce((total, event) => total + checkEvent(event), 0);
  if (bytes > APPEND_LIMIT_BYTES) throw new AppendTooLarge(bytes);
  return bytes;
};

/** Of stores whose appends may ask for more than events. Default: it cannot. */
export interface StoreAbilities {
  readonly storesPayloads?: boolean;
  readonly canRequire?: boolean;
}

const checkRequired = (own: string, requires: ReadonlyMap<string, number>, { canRequire }: StoreAbilities): void => {
  if (canRequire !== true) throw new TypeError('this store cannot require streams to stand still');
  for (const [stream, revision] of requires) {
    checkName('stream', stream);
    if (stream === own) throw new TypeError('an append names what it requires of its own stream as expected revision');
    if (!isRevision(revision)) throw new TypeError('a required revision is a natural number');
  }
};

const isRevision = (revision: number): boolean => Number.isSafeInteger(revision) && revision >= 0;

/** For one that goes along with others: what is wrong with it is said to whoever sends it by itself. */
export const isSendable = (append: Append): boolean => {
  try {
    checkAppend(append);
    return true;
  } catch {
    return false;
  }
};

const checkEvent = ({ id, type, data, metadata }: NewEvent): number => {
  if (!UUID.test(id)) throw new TypeError('an event id is a UUID in lower case');
  checkName('event type', type);
  checkText('event data', data);
  checkText('event metadata', metadata);
  return Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata);
};

const checkName = (what: string, name: string): void => {
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) {
    throw new TypeError(`the name of a ${what} has 1 to ${MAX_NAME_LENGTH} characters`);
  }
  checkText(what, name);
};

const checkText = (what: string, text: string): void => {
  // JSON text writes U+0000 as an escape, so a raw one is never data. No UTF-8 exists for half of a surrogate pair without the
  // other, and drivers replace it without a word.
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new TypeError(`a ${what} holds neither U+0000 nor half a surrogate pair`);
  }
};
