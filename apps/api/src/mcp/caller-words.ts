import type { JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { ON_BEHALF_OF_HEADER, parseReference, SESSION_HEADER } from '../http/call-references.js';
import type { Exchange } from '../http/exchange.js';
import { parseIdempotencyKey } from '../http/idempotency-key.js';

/** What the host of a model says about a call, and models do not: they write arguments, never `_meta` (rule MCP-6). */
export interface CallerWords {
  readonly idempotencyKey: string | null;
  readonly onBehalfOf: string | null;
  readonly session: string | null;
}

const KEY = 'service/idempotency_key';
const ON_BEHALF_OF = 'service/on_behalf_of';
const SESSION = 'service/session';
const OURS = 'service/';
const WORDS: readonly string[] = [KEY, ON_BEHALF_OF, SESSION];

/**
 * As headers, or in `_meta` for clients that set none.
 * @throws {DomainError} validation_failed for another word of ours: one that is misspelt would be missed in silence; 422 validation_failed where both are sent and differ, or one is malformed; idempotency_key_invalid
 */
export const callerWords = (meta: JsonObject, exchange: Exchange): CallerWords => {
  requireKnown(meta);
  const key = parseIdempotencyKey(valuesOf(meta, KEY));
  const onBehalfOf = parseReference(ON_BEHALF_OF_HEADER, valuesOf(meta, ON_BEHALF_OF));
  const session = parseReference(SESSION_HEADER, valuesOf(meta, SESSION));
  return {
    idempotencyKey: one('Idempotency-Key', KEY, exchange.idempotencyKey, key),
    onBehalfOf: one(ON_BEHALF_OF_HEADER, ON_BEHALF_OF, exchange.onBehalfOf, onBehalfOf),
    session: one(SESSION_HEADER, SESSION, exchange.session, session),
  };
};

const requireKnown = (meta: JsonObject): void => {
  const unknown = Object.keys(meta).find((name) => name.startsWith(OURS) && !WORDS.includes(name));
  if (unknown === undefined) return;
  throw new DomainError('validation_failed', {
    param: `params._meta.${unknown}`,
    message: `params._meta has a member that the service does not know. Those that it knows are ${WORDS.join(', ')}.`,
  });
};

/** What is no string has no form that a header could have, and is refused as such. */
const valuesOf = (meta: JsonObject, name: string): readonly string[] => {
  const value = meta[name];
  if (value === undefined) return [];
  return [typeof value === 'string' ? value : ''];
};

const one = (header: string, member: string, inHeader: string | null, inMeta: string | null): string | null => {
  if (inHeader === null || inMeta === null || inHeader === inMeta) return inHeader ?? inMeta;
  throw new DomainError('validation_failed', {
    status: 422,
    param: header,
    message: `${header} and ${member} in params._meta differ. Send one of them, or the same in both.`,
  });
};
