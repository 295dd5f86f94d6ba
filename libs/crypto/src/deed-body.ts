import { canonicalizeEx } from 'json-canonicalize';

import { SchemaError } from './closed-schema.js';
import { DEED_VERSION, type DeedBody, deedSchema, MAX_DEED_BYTES } from './deed-schema.js';
import { deriveDeedId, isId } from './ids.js';
import { CanonicalizationError, canonicalize } from './jcs.js';
import { bodyProfile, type JsonValue, parseStrictJson, StrictJsonError } from './strict-json.js';

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

/** Completes and judges a body. Throws `DeedBodyError` (`schema`): nothing that a reader would refuse is ever built. */
export const buildDeedBody = (input: DeedBodyInput): DeedBody =>
  checkDeedBody({ ...input, v: DEED_VERSION, id: deriveDeedId(input.org, input.source.event_id) });

/**
 * The canonical bytes of a body: what is hashed, sealed and stored for ever. Two independent writers of RFC 8785 must
 * agree on them, and our own reader must read them back; a disagreement throws and nothing is sealed.
 */
export const encodeDeedBody = (body: DeedBody): Uint8Array => {
  const canonical = canonicalizeDeed(body);
  // strictUndefined: the package would otherwise leave out an undefined member in silence.
  if (canonicalizeEx(body, { strictUndefined: true }) !== canonical) throw new DeedBodyError('not_canonical', '');
  const bytes = Buffer.from(canonical);
  parseDeedBody(bytes);
  return bytes;
};

/**
 * Reads stored bytes: strict JSON (integers only), equal to their own RFC 8785 form, then the closed schema and the
 * rules between its members. Throws `DeedBodyError`.
 */
export const parseDeedBody = (bytes: Uint8Array): DeedBody => {
  const value = parseCanonical(bytes);
  if (!isCanonicalForm(bytes, value)) throw new DeedBodyError('not_canonical', '');
  return checkDeedBody(value);
};

const parseCanonical = (bytes: Uint8Array): JsonValue => {
  try {
    return parseStrictJson(bytes, PROFILE);
  } catch (error) {
    if (error instanceof StrictJsonError) throw new DeedBodyError('not_canonical', '', { cause: error });
    throw error;
  }
};

const isCanonicalForm = (bytes: Uint8Array, value: JsonValue): boolean =>
  Buffer.from(canonicalize(value)).equals(bytes);

const canonicalizeDeed = (body: DeedBody): string => {
  try {
    return canonicalize(body);
  } catch (error) {
    if (error instanceof CanonicalizationError) throw new DeedBodyError('not_canonical', '', { cause: error });
    throw error;
  }
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
