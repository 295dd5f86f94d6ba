import { isUtf8 } from 'node:buffer';

import { SchemaError } from './closed-schema.js';
import { DEED_VERSION, type DeedBody, deedSchema, MAX_DEED_BYTES } from './deed-schema.js';
import { deriveDeedId, isId } from './ids.js';
import { CanonicalizationError, canonicalize } from './jcs.js';
import { bodyProfile, type JsonObject, type JsonValue, parseStrictJson, StrictJsonError } from './strict-json.js';

/** Why bytes are no deed body. `path` names the member at fault for `schema`, and is empty for `not_canonical`. */
export class DeedBodyError extends Error {
  override readonly name = 'DeedBodyError';

  constructor(
    readonly reason: 'not_canonical' | 'schema',
    readonly path: string,
    options?: ErrorOptions,
  ) {
    super(path === '' ? `deed body refused: ${reason}` : `deed body refused: ${reason} at ${path}`, options);
  }
}

/** What its maker says of a deed. The version is ours; the id follows from the organization and the source event. */
export type DeedBodyInput = Omit<DeedBody, 'v' | 'id'>;

const PROFILE = bodyProfile({ maxBytes: MAX_DEED_BYTES, maxDepth: 8, integersOnly: true });

/** Completes a body. Whether it is one is judged by `encodeDeedBody`, on the bytes. */
export const buildDeedBody = (input: DeedBodyInput): DeedBody => ({
  ...input,
  v: DEED_VERSION,
  id: deriveDeedId(input.org, input.source.event_id),
});

/**
 * The canonical bytes of a body: what is hashed, sealed and stored for ever. Our own reader must take them, and two
 * independent writers of RFC 8785 must agree on them; otherwise `DeedBodyError` is thrown and nothing is sealed.
 */
export const encodeDeedBody = (body: DeedBody): Uint8Array => {
  const text = canonicalDeed(body);
  const bytes = Buffer.from(text);
  parseDeedBody(bytes);
  if (nativeCanonicalForm(body) !== text) throw new DeedBodyError('not_canonical', '');
  return bytes;
};

/**
 * Reads stored bytes: strict JSON (integers only), equal to their own RFC 8785 form, then the closed schema and the
 * rules between its members. Throws `DeedBodyError`.
 */
export const parseDeedBody = (bytes: Uint8Array): DeedBody => readWholeBody(bytes) ?? parseDeedBodyStrictly(bytes);

/** The rule itself: what `parseDeedBody` accepts, refuses, and why. For tests; it takes three times as long. */
export const parseDeedBodyStrictly = (bytes: Uint8Array): DeedBody => {
  const value = parseStrictly(bytes);
  if (!Buffer.from(canonicalize(value)).equals(bytes)) throw new DeedBodyError('not_canonical', '');
  return checkDeedBody(value);
};

/**
 * The body in these bytes when nothing is wrong with them, or null: then the rule itself says what is. It believes the
 * lenient JSON.parse only where that changes nothing. Let `text` be what the bytes spell (they are valid UTF-8, so no byte
 * was replaced) and `value` what JSON.parse makes of it.
 *
 * 1. `value` is of the closed schema. So it is as deep as the schema, which is less than the profile allows, and each
 *    number in it is an integer below 2^53: no fraction, no 2^53 itself, no Infinity made of 1e400.
 * 2. JSON.stringify makes `text` of `value` again. So there is no white space, nothing before or behind the value, no
 *    member twice (JSON.parse keeps one), no integer that was rounded, no `-0`, `1.0` or `1e0`, and no escape but those of
 *    JSON.stringify, which are those of RFC 8785 (section 3.2.2).
 * 3. Members stand in order (section 3.2.3).
 * 4. `\ud` is nowhere in `text`. A lone surrogate, which has no canonical form, could only stand there as such an escape.
 *
 * What is left is a text that the strict reader accepts, and reads as the same value. The schema is judged first, so that
 * no nesting, however deep, reaches a recursion.
 */
const readWholeBody = (bytes: Uint8Array): DeedBody | null => {
  if (bytes.byteLength > MAX_DEED_BYTES || !isUtf8(bytes)) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (text.includes('\\ud')) return null;
  try {
    const body = checkDeedBody(JSON.parse(text) as JsonValue);
    return JSON.stringify(body) === text && hasMembersInOrder(body) ? body : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DeedBodyError) return null;
    throw error;
  }
};

/** Whether the members of every object stand in the order of RFC 8785: by UTF-16 code units, as texts compare here. */
const hasMembersInOrder = (value: JsonValue): boolean => {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(hasMembersInOrder);
  let before = '';
  for (const [member, child] of Object.entries(value)) {
    if (member < before || !hasMembersInOrder(child)) return false;
    before = member;
  }
  return true;
};

const parseStrictly = (bytes: Uint8Array): JsonValue => {
  try {
    return parseStrictJson(bytes, PROFILE);
  } catch (error) {
    if (error instanceof StrictJsonError) throw new DeedBodyError('not_canonical', '', { cause: error });
    throw error;
  }
};

const canonicalDeed = (body: DeedBody): string => {
  try {
    return canonicalize(body);
  } catch (error) {
    if (error instanceof CanonicalizationError) throw new DeedBodyError('not_canonical', '', { cause: error });
    throw error;
  }
};

/**
 * RFC 8785 as the runtime writes it: JSON.stringify, which is how the RFC defines strings and numbers, over a copy with its
 * members in order. Only for a value of the closed schema: an object keeps the order in which members were added unless
 * their names are array indexes, and JSON.stringify obeys a member `toJSON`.
 */
const nativeCanonicalForm = (body: DeedBody): string => JSON.stringify(withMembersInOrder(body));

const withMembersInOrder = (value: JsonValue): JsonValue => {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(withMembersInOrder);
  const ordered: JsonObject = {};
  for (const member of Object.keys(value).sort()) ordered[member] = withMembersInOrder(value[member] as JsonValue);
  return ordered;
};

const checkDeedBody = (value: JsonValue): DeedBody => {
  try {
    const body = deedSchema(value);
    const fault = RULES.find(([, holds]) => !holds(body));
    if (fault !== undefined) throw new SchemaError('value', fault[0]);
    return body;
  } catch (error) {
    if (error instanceof SchemaError) throw new DeedBodyError('schema', error.path, { cause: error });
    throw error;
  }
};

/**
 * Rules between members, judged in this order once every member is well formed; the path is the member that is wrong
 * when its rule does not hold. docs/deed-format.md prints the same list.
 */
const RULES: readonly (readonly [path: string, holds: (body: DeedBody) => boolean])[] = [
  ['id', ({ id, org, source }) => id === deriveDeedId(org, source.event_id)],
  ['chain.prev_hash', ({ seq, chain }) => (chain.prev_hash === null) === (seq === 1)],
  ['who.actor.id', ({ who }) => isActorId(who)],
  ['who.intent_hash', ({ who }) => (who.intent_hash !== null) === (who.intent_signed === true)],
  ['action', ({ kind, action }) => (action === null) === (kind === 'admin')],
  ['policy', ({ kind, policy }) => (kind === 'action' ? policy !== null : kind === 'amendment' || policy === null)],
  ['approval', ({ kind, approval }) => kind !== 'admin' || approval === null],
  ['execution', ({ kind, execution }) => kind !== 'admin' || execution === null],
  ['witness', ({ kind, witness }) => (kind === 'amendment' ? witness !== null : kind === 'action' || witness === null)],
  ['cost', ({ kind, cost }) => kind !== 'admin' || cost === null],
  ['admin', ({ kind, admin }) => (admin !== null) === (kind === 'admin')],
  // A revocation is found in the chain itself by its target, so its form is fixed.
  ['admin.target', ({ admin }) => admin?.action !== 'seal_key.revoked' || isSealKeyTarget(admin.target)],
];

const isActorId = ({ actor, agent }: DeedBody['who']): boolean => {
  switch (actor.type) {
    case 'agent':
      return actor.id !== null && actor.id === agent;
    case 'user':
      return actor.id !== null && isId('usr', actor.id);
    case 'admin_key':
      return actor.id !== null && isId('key', actor.id);
    case 'operator':
    case 'system':
      return true;
  }
};

const isSealKeyTarget = ({ type, id }: { type: string; id: string }): boolean =>
  type === 'seal_key' && /^[0-9a-f]{32}$/.test(id);
