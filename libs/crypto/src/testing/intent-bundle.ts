/** A bundle with calls that an agent signed, and what an attacker would make of them. */
import type { SealedDeed } from '../bundle-format.js';
import { committedMembers } from '../committed-members.js';
import { INTENT_MEMBER } from '../deed-commitments.js';
import type { DeedBodyInput } from '../deed-body.js';
import { DEED_VERSION, type DeedBody } from '../deed-schema.js';
import { digestOf } from '../digest.js';
import type { SigningKey } from '../ed25519.js';
import { encodeId } from '../ids.js';
import { encodePayloadLine } from '../payload-line.js';
import type { JsonValue } from '../strict-json.js';
import { AGENT, at, entryOf, givenChain, KEY, keyFrom, packed, rawOf } from './given-chain.js';
import { type HeldIntent, intentKey, intentOf } from './held-intent.js';
import { bodyOf, committing, saltAt, textOf, valueAt } from './witnessed-bundle.js';

export const nextKey = keyFrom('the intent key of the agent after a rotation');
export const neighbourKey = keyFrom('the intent key of another agent');
export const strangeKey = keyFrom('an intent key that nobody registered');
export const NEIGHBOUR = encodeId('agt', Buffer.alloc(16, 7));

/**
 * Where what stands in the chain: calls with an intent at 4 and 10 (first format, the second under the next key), 8 and 14; changes of
 * keys at 3, 6, 9 and 12.
 */
export const CALLED = { first: 4, second: 8, later: 14 } as const;
export const ADDED = 3;
export const REMOVED = 9;
const DEEDS = 15;
const SIGNERS: Readonly<Record<number, SigningKey>> = { 4: intentKey, 8: intentKey, 10: nextKey, 14: nextKey };
/** What comes after the removal comes long after it. */
const LATER_S = 600;

interface Change {
  readonly action: 'intent_key.added' | 'intent_key.removed';
  readonly key: SigningKey;
  readonly data: JsonValue;
}

const CHANGES: Readonly<Record<number, Change>> = {
  [ADDED]: added(intentKey, AGENT),
  6: added(nextKey, AGENT),
  [REMOVED]: { action: 'intent_key.removed', key: intentKey, data: { agent: AGENT } },
  12: added(neighbourKey, NEIGHBOUR),
};

function added(key: SigningKey, agent: string): Change {
  return { action: 'intent_key.added', key, data: { agent, public_key: key.publicKey.text } };
}

const plainBodies = givenChain(DEEDS).map(bodyOf);

const sectionsAt = (seq: number, change: IntentChoices['call']): Partial<DeedBodyInput> => {
  const time = seq > REMOVED ? { issued_at: at(seq + LATER_S) } : {};
  const changed = CHANGES[seq];
  if (changed !== undefined) {
    const target = { type: 'intent_key', id: changed.key.publicKey.kid };
    return { ...time, admin: { action: changed.action, target, reason: null, data_digest: digestOf('data') } };
  }
  const { who, action } = plainBodies[seq - 1] ?? {};
  if (!who || !action) return time;
  const isSigned = SIGNERS[seq] !== undefined;
  const signed = { ...who, intent_signed: isSigned, intent_hash: isSigned ? digestOf('intent') : null };
  const called = { ...action, created_at: time.issued_at ?? action.created_at };
  return { ...time, who: { ...signed, ...change?.[seq]?.who }, action: { ...called, ...change?.[seq]?.action } };
};

/** What an intent is made of, instead of what fits the deed of the call. */
export interface IntentChoice {
  readonly fields?: Readonly<Record<string, string | number>>;
  readonly key?: SigningKey;
  /** Made from the honest one. */
  readonly held?: (honest: HeldIntent) => HeldIntent;
}

/** What may differ from the honest chain. */
export interface IntentChoices {
  readonly intents?: Readonly<Record<number, IntentChoice>>;
  /** What is called. */
  readonly call?: Readonly<
    Record<
      number,
      { readonly who?: Partial<DeedBody['who']>; readonly action?: Partial<NonNullable<DeedBody['action']>> }
    >
  >;
  /** Other values, by seq and member. */
  readonly values?: Readonly<Record<string, JsonValue>>;
  /** Which lines are given; all of them unless said. */
  readonly gives?: (seq: number, member: string) => boolean;
  /** From which deed on the bundle is. */
  readonly first?: number;
}

const heldAt = (
  body: DeedBody,
  { fields, key = SIGNERS[body.seq], held = (honest) => honest }: IntentChoice,
): HeldIntent => held(intentOf(body, digestOf(textOf(valueAt(body.seq, 'action.args_digest'))), fields, key));

export const honestIntentAt = (seq: number): HeldIntent => heldAt(plainBodies[seq - 1] as DeedBody, {});

/** A bundle whose deeds commit to these values and name these intents, sealed with the real key. */
export const intentBundle = async ({
  intents = {},
  call,
  values = {},
  gives = () => true,
  first = 1,
}: IntentChoices = {}): Promise<Buffer> => {
  const valueOf = (seq: number, member: string): JsonValue =>
    values[`${seq} ${member}`] ??
    (member === 'admin.data_digest' ? CHANGES[seq]?.data : undefined) ??
    valueAt(seq, member);
  const intentAt = (body: DeedBody): HeldIntent => heldAt(body, intents[body.seq] ?? {});
  const bodies = givenChain(DEEDS, { changeAt: (seq) => sectionsAt(seq, call) }).map(bodyOf);
  const committed = (body: DeedBody): Partial<DeedBodyInput> => {
    const { issued_at, who } = body;
    const intent_hash = who.intent_hash === null ? null : intentAt(body).digest;
    return { ...committing(structuredClone(body), valueOf), issued_at, who: { ...who, intent_hash } };
  };
  const deeds = givenChain(DEEDS, {
    changeAt: (seq) => (bodies[seq - 1] === undefined ? {} : committed(bodies[seq - 1] as DeedBody)),
  });
  const linesAt = (deed: SealedDeed): readonly Buffer[] => {
    const body = bodyOf(deed);
    const { seq, who, v } = body;
    const opened = committedMembers(body)
      .filter(({ member }) => gives(seq, member))
      .map(({ member, commitment }) => {
        const salt = v === DEED_VERSION ? saltAt(seq, member) : null;
        return encodePayloadLine({
          kind: 'opened',
          seq,
          member,
          commitment,
          salt,
          value: textOf(valueOf(seq, member)),
        });
      });
    if (who.intent_hash === null || !gives(seq, INTENT_MEMBER)) return opened;
    return [...opened, encodePayloadLine({ kind: 'document', document: 'intent', seq, ...intentAt(body) })];
  };
  const held = deeds.slice(first - 1);
  const raw = rawOf(held, [entryOf(KEY)], {
    prev_hash: deeds[first - 2]?.seal.bodyHash ?? null,
    ...(first === 1 ? {} : { from: at(0) }),
  });
  const manifest = { ...raw.manifest, v: 'service.bundle/2' as const, files: ['payloads.ndjson'] };
  return packed({ ...raw, manifest, more: [['payloads.ndjson', Buffer.concat(held.flatMap(linesAt))]] });
};
