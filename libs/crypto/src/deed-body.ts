import { isUtf8 } from 'node:buffer';

import { SchemaError } from './closed-schema.js';
import {
  type DeedBody,
  deedSchema,
  FIRST_DEED_VERSION,
  type FirstDeedBody,
  firstDeedSchema,
  MAX_DEED_BYTES,
  type SaltedDeedBody,
} from './deed-schema.js';
import { KID_PATTERN } from './ed25519.js';
import { deriveDeedId, isId } from './ids.js';
import { CanonicalizationError, canonicalize, canonicalizeByHand } from './jcs.js';
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

/**
 * What its maker says of a deed. The id follows from the organization and the source event. Whether the sections are
 * those of the format is judged with the rest, on the bytes.
 */
export type DeedBodyInput = {
  readonly [Member in Exclude<keyof DeedBody, 'id'>]: FirstDeedBody[Member] | SaltedDeedBody[Member];
};

const PROFILE = bodyProfile({ maxBytes: MAX_DEED_BYTES, maxDepth: 8, integersOnly: true });

/** Completes a body, its members in canonical order. Whether it is one is judged by `encodeDeedBody`, on the bytes. */
export const buildDeedBody = (input: DeedBodyInput): DeedBody =>
  ({
    action: input.action,
    admin: input.admin,
    approval: input.approval,
    chain: input.chain,
    cost: input.cost,
    execution: input.execution,
    id: deriveDeedId(input.org, input.source.event_id),
    issued_at: input.issued_at,
    kind: input.kind,
    org: input.org,
    policy: input.policy,
    seq: input.seq,
    source: input.source,
    v: input.v,
    who: input.who,
    witness: input.witness,
  }) as DeedBody;

/**
 * The canonical bytes of a body: what is hashed, sealed and stored for ever. Our own reader must take them, and two
 * independent writers of RFC 8785 must agree on them; otherwise `DeedBodyError` is thrown and nothing is sealed.
 */
export const encodeDeedBody = (body: DeedBody): Uint8Array => {
  const text = canonicalDeed(body);
  const bytes = Buffer.from(text);
  parseDeedBody(bytes);
  if (JSON.stringify(body) !== text && nativeCanonicalForm(body) !== text) throw new DeedBodyError('not_canonical', '');
  return bytes;
};

/**
 * Reads stored bytes: strict JSON (integers only), equal to their own RFC 8785 form, then the closed schema and the
 * rules between its members. Throws `DeedBodyError`.
 */
export const parseDeedBody = (bytes: Uint8Array): DeedBody => readWholeBody(bytes) ?? parseDeedBodyStrictly(bytes);

/** The rule itself: what `parseDeedBody` accepts, refuses, and why. For tests; it takes several times as long. */
export const parseDeedBodyStrictly = (bytes: Uint8Array): DeedBody => {
  const value = parseStrictly(bytes);
  if (!Buffer.from(canonicalize(value)).equals(bytes)) throw new DeedBodyError('not_canonical', '');
  return checkDeedBody(value);
};

/**
 * The body in these bytes when nothing is wrong with them and nothing rare is in them, or null: then the rule itself says
 * what is. The canonical texts of the closed schema are a regular language: its members stand in one order, and it is as
 * deep as it is written. So one expression, made by the schema itself, tells that a text is canonical and of the shape; each
 * part of it stands beside the check whose values it spells (closed-schema.ts). What is left are the rules between members.
 *
 * The bytes are valid UTF-8, so `text` is what they spell, and no lone surrogate is in it but as an escape, which the
 * expression does not take. Of such a text JSON.parse makes the same value as the strict reader.
 */
const readWholeBody = (bytes: Uint8Array): DeedBody | null => {
  if (bytes.byteLength > MAX_DEED_BYTES || !isUtf8(bytes)) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  // In canonical JSON only the member itself is spelled so: within a text its quotes are escaped.
  const expression = text.includes(`"v":"${FIRST_DEED_VERSION}"`) ? CANONICAL_FIRST_BODY : CANONICAL_BODY;
  if (!expression.test(text)) return null;
  const body = JSON.parse(text) as DeedBody;
  return brokenRule(body) === null ? body : null;
};

const CANONICAL_BODY = new RegExp(`^${deedSchema.canonical}$`);
const CANONICAL_FIRST_BODY = new RegExp(`^${firstDeedSchema.canonical}$`);

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
    return canonicalizeByHand(body);
  } catch (error) {
    if (error instanceof CanonicalizationError) throw new DeedBodyError('not_canonical', '', { cause: error });
    throw error;
  }
};

/**
 * RFC 8785 as the runtime writes it: JSON.stringify, which is how the RFC defines strings and numbers, over a copy with its
 * members in order, for a body that was not made in that order. Only for a value of the closed schema: an object keeps the
 * order in which members were added unless their names are array indexes, and JSON.stringify obeys a member `toJSON`.
 */
const nativeCanonicalForm = (body: DeedBody): string => JSON.stringify(withMembersInOrder(body));

const withMembersInOrder = (value: JsonValue): JsonValue => {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(withMembersInOrder);
  const ordered: JsonObject = {};
  for (const member of Object.keys(value).sort()) ordered[member] = withMembersInOrder(value[member] as JsonValue);
  return ordered;
};

const isFirst = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && value['v'] === FIRST_DEED_VERSION;

const checkDeedBody = (value: JsonValue): DeedBody => {
  try {
    const body = isFirst(value) ? firstDeedSchema(value) : deedSchema(value);
    const path = brokenRule(body);
    if (path !== null) throw new SchemaError('value', path);
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
  ['who.actor.id', ({ who }) => isActorId(who.actor, who.agent)],
  ['who.intent_hash', ({ who }) => (who.intent_hash !== null) === (who.intent_signed === true)],
  ['action', ({ kind, action }) => (action === null) === (kind === 'admin')],
  ['policy', ({ kind, policy }) => (kind === 'action' ? policy !== null : kind === 'amendment' || policy === null)],
  ['approval', ({ kind, approval, policy }) => isAsked(kind, policy) === (approval !== null) || kind === 'amendment'],
  ['approval.countersigned', ({ approval }) => approval === null || isSigned(approval)],
  ['approval.decided_by', ({ approval, who }) => approval === null || isDecidedBy(approval, who.agent)],
  ['approval.decided_by.assertion', ({ approval }) => approval === null || onlyPeopleAssert(approval)],
  ['execution', ({ kind, execution, approval }) => execution === null || (kind !== 'admin' && mayHaveRun(approval))],
  ['witness', ({ kind, witness }) => (kind === 'amendment' ? witness !== null : kind === 'action' || witness === null)],
  ['cost', ({ kind, cost }) => kind !== 'admin' || cost === null],
  ['admin', ({ kind, admin }) => (admin !== null) === (kind === 'admin')],
  // A revocation is found in the chain itself by its target, so its form is fixed.
  ['admin.target', ({ admin }) => admin?.action !== 'seal_key.revoked' || isSealKeyTarget(admin.target)],
];

/** The path of the first rule that does not hold, or null. */
const brokenRule = (body: DeedBody): string | null => RULES.find(([, holds]) => !holds(body))?.[0] ?? null;

type Approval = NonNullable<DeedBody['approval']>;
type Actor = DeedBody['who']['actor'];

const isAsked = (kind: DeedBody['kind'], policy: DeedBody['policy']): boolean =>
  kind === 'action' && policy?.outcome === 'require_approval';

const isSigned = ({ status, required, countersigned }: Approval): boolean => {
  const people = new Set(countersigned.map(({ by }) => by)).size;
  return people === countersigned.length && (status !== 'approved' || people >= required);
};

const isDecidedBy = ({ status, decided_by: by }: Approval, agent: string | null): boolean => {
  if (status === 'expired') return by === null;
  return by !== null && isActorId(by, agent) && (status === 'cancelled' || by.type === 'user');
};

/** In the first format nobody asserts anything. */
const onlyPeopleAssert = ({ decided_by: by }: Approval): boolean =>
  by === null || by.type === 'user' || !('assertion' in by) || (by.assertion === null && by.reason === null);

const mayHaveRun = (approval: Approval | null): boolean => approval === null || approval.status === 'approved';

const isActorId = (actor: Actor, agent: string | null): boolean => {
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
  type === 'seal_key' && KID_PATTERN.test(id);
