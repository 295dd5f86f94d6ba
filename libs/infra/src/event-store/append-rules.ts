import {
  type Append,
  APPEND_LIMIT_BYTES,
  AppendTooLarge,
  type ExpectedRevision,
  type NewEvent,
} from '#libs/domain/kernel';
import type { AppendInCommit } from './transactional-appends.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Much longer than any name of this service, and much shorter than what an index entry can hold. */
const MAX_NAME_LENGTH = 255;

/** The revision of a stream as a number, -1 if it does not exist. */
export const revisionNumber = (revision: ExpectedRevision): number => (revision === 'no_stream' ? -1 : revision);

/** The inverse of {@link revisionNumber}: `no_stream` for a negative number. */
export const expectedRevisionOf = (revision: number): ExpectedRevision => (revision < 0 ? 'no_stream' : revision);

/**
 * The checks that every adapter makes before it sends an append, so that a bad append cannot spoil the others in the
 * same call.
 *
 * @returns the size of the append in bytes, as {@link APPEND_LIMIT_BYTES} counts it
 * @throws {AppendTooLarge} when the events have more than {@link APPEND_LIMIT_BYTES}
 * @throws {TypeError} when the append is malformed, which is a defect of the caller
 */
export const checkAppend = ({ stream, expectedRevision, events }: Append): number => {
  checkName('stream', stream);
  if (expectedRevision !== 'no_stream' && !isRevision(expectedRevision)) {
    throw new TypeError(`an expected revision is a natural number or 'no_stream'`);
  }
  if (events.length === 0) throw new TypeError('an append holds at least one event');
  const bytes = events.reduce((total, event) => total + checkEvent(event), 0);
  if (bytes > APPEND_LIMIT_BYTES) throw new AppendTooLarge(bytes);
  return bytes;
};

/**
 * {@link checkAppend}, and the checks of what the commit holds beside the events.
 *
 * @param holdsPayloads whether the store was given the functions that write payloads
 */
export const checkInCommit = (append: AppendInCommit, holdsPayloads: boolean): number => {
  const { stream, payloads = [], requires } = append;
  if (payloads.length > 0 && !holdsPayloads) throw new TypeError('this store does not store payloads');
  if (requires !== undefined) checkRequired(stream, requires);
  for (const { body } of payloads) checkText('payload', body);
  return checkAppend(append);
};

const checkRequired = (own: string, requires: ReadonlyMap<string, number>): void => {
  for (const [stream, revision] of requires) {
    checkName('stream', stream);
    if (stream === own) throw new TypeError('an append names what it requires of its own stream as expected revision');
    if (!isRevision(revision)) throw new TypeError('a required revision is a natural number');
  }
};

const isRevision = (revision: number): boolean => Number.isSafeInteger(revision) && revision >= 0;

/**
 * Whether a companion passes {@link checkAppend}. It does not throw: a bad companion is left out, and its sender meets
 * the error when it sends that append alone.
 */
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
  // JSON text escapes U+0000, so a raw one is never valid data. Half of a surrogate pair without the other half has no
  // UTF-8 form, and drivers would silently replace it.
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new TypeError(`a ${what} holds neither U+0000 nor half a surrogate pair`);
  }
};
