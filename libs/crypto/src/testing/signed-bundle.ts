/** A bundle with decisions that devices signed, and what an attacker would make of them. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { approvalChallenge, type ApprovalDecision } from '../approval-challenge.js';
import { encodeBase64url } from '../base64url.js';
import type { SealedDeed } from '../bundle-format.js';
import { committedMembers } from '../committed-members.js';
import type { DeedBodyInput } from '../deed-body.js';
import { DEED_VERSION } from '../deed-schema.js';
import { digestOf } from '../digest.js';
import type { PasskeyAssertion } from '../passkey-assertion.js';
import { encodePayloadLine } from '../payload-line.js';
import type { JsonValue } from '../strict-json.js';
import { approvalAt, at, entryOf, givenChain, KEY, ORG, packed, PEOPLE, rawOf } from './given-chain.js';
import { bodyOf, committing, saltAt, textOf, valueAt } from './witnessed-bundle.js';

const RP_ID = 'governance.example';
const [ANNA = '', BEN = ''] = PEOPLE;

/** Where what stands in the chain: the registrations, the approval of both, the removal, and what was denied after it. */
export const REGISTERED = { anna: 3, ben: 6 } as const;
export const APPROVED = 8;
export const REMOVED = 9;
export const DENIED = 14;
const DEEDS = 15;

interface Device {
  readonly credential: string;
  readonly alg: number;
  readonly privateKey: KeyObject;
  readonly public_key: string;
}

const deviceOf = (
  name: string,
  { privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject },
): Device => ({
  credential: encodeBase64url(createHash('sha256').update(name).digest()),
  alg: publicKey.asymmetricKeyType === 'ed25519' ? -8 : -7,
  privateKey,
  public_key: encodeBase64url(publicKey.export({ type: 'spki', format: 'der' })),
});

export const anna = deviceOf('anna', generateKeyPairSync('ec', { namedCurve: 'P-256' }));
export const ben = deviceOf('ben', generateKeyPairSync('ed25519'));
export const stranger = deviceOf('stranger', generateKeyPairSync('ec', { namedCurve: 'P-256' }));

interface Signed {
  readonly seq: number;
  readonly decision: ApprovalDecision;
  readonly user: string;
  /** The member that holds what was shown. */
  readonly context: string;
}

const PASSKEYS = { anna: `pky_${'a'.repeat(26)}`, ben: `pky_${'b'.repeat(26)}` } as const;

const chainIds = givenChain(DEEDS, { changeAt: (seq) => approvalsAt(seq) }).map(bodyOf);

/** What a device answers for a decision. */
export const signedBy = (device: Device, { seq, decision, user, context }: Signed, rpId = RP_ID): PasskeyAssertion => {
  const { action, approval } = chainIds[seq - 1] ?? {};
  const challenge = approvalChallenge({
    ...{ org: ORG, approval: approval?.id ?? '', action: action?.id ?? '', decision, user },
    context_digest: digestOf(textOf(valueAt(seq, context))),
  });
  const client = Buffer.from(
    JSON.stringify({ type: 'webauthn.get', challenge: encodeBase64url(challenge), origin: `https://${rpId}` }),
  );
  const data = Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from('0500000000', 'hex')]);
  const message = Buffer.concat([data, createHash('sha256').update(client).digest()]);
  return {
    authenticator_data: encodeBase64url(data),
    client_data_json: encodeBase64url(client),
    credential: device.credential,
    signature: encodeBase64url(sign(device.alg === -7 ? 'sha256' : null, message, device.privateKey)),
  };
};

const FIRST = { seq: APPROVED, decision: 'approve', user: ANNA, context: 'approval.countersigned.0.context' } as const;
const SECOND = { ...FIRST, user: BEN, context: 'approval.countersigned.1.context' } as const;
const LAST = { ...FIRST, user: BEN, context: 'approval.context_digest' } as const;
const NO = { seq: DENIED, decision: 'deny', user: BEN, context: 'approval.context_digest' } as const;

/** What the honest chain holds, by seq and member. */
const HONEST: Readonly<Record<string, JsonValue>> = {
  [`${REGISTERED.anna} admin.data_digest`]: registration(anna, ANNA),
  [`${REGISTERED.ben} admin.data_digest`]: registration(ben, BEN),
  [`${REMOVED} admin.data_digest`]: { credential: anna.credential, user: ANNA },
  [`${APPROVED} approval.countersigned.0.assertion`]: { ...signedBy(anna, FIRST) },
  [`${APPROVED} approval.countersigned.1.assertion`]: { ...signedBy(ben, SECOND) },
  [`${APPROVED} approval.decided_by.assertion`]: { ...signedBy(ben, LAST) },
  [`${DENIED} approval.decided_by.assertion`]: { ...signedBy(ben, NO) },
};

function registration({ alg, credential, public_key }: Device, user: string): JsonValue {
  return { alg, credential, public_key, rp_id: RP_ID, user };
}

function approvalsAt(seq: number, removed: keyof typeof PASSKEYS = 'anna'): Partial<DeedBodyInput> {
  if (seq === APPROVED) return approvalAt(seq, 'approved');
  if (seq === DENIED) return approvalAt(seq, 'denied');
  const whose = { [REGISTERED.anna]: 'anna', [REGISTERED.ben]: 'ben', [REMOVED]: removed }[seq];
  if (whose === undefined) return {};
  const action = seq === REMOVED ? 'passkey.removed' : 'passkey.registered';
  const target = { type: 'passkey', id: PASSKEYS[whose as keyof typeof PASSKEYS] };
  return { admin: { action, target, reason: null, data_digest: digestOf('data') } };
}

/** What may differ from the honest chain. */
export interface SignedChoices {
  /** Other values, by seq and member. */
  readonly values?: Readonly<Record<string, JsonValue>>;
  /** Which lines are given; all of them unless said. */
  readonly gives?: (seq: number, member: string) => boolean;
  /** From which deed on the bundle is. */
  readonly first?: number;
  /** Whose passkey the deed of {@link REMOVED} removes; Anna's unless said. */
  readonly removed?: 'anna' | 'ben';
}

/** A bundle whose deeds commit to these values, sealed with the real key. */
export const signedBundle = async ({
  values = {},
  gives = () => true,
  first = 1,
  removed = 'anna',
}: SignedChoices = {}): Promise<Buffer> => {
  const all = { ...HONEST, ...values };
  const valueOf = (seq: number, member: string): JsonValue => all[`${seq} ${member}`] ?? valueAt(seq, member);
  const unsigned = (seq: number, sections: Partial<DeedBodyInput>): Partial<DeedBodyInput> =>
    seq === DENIED ? firstUnsigned(sections) : sections;
  const plain = givenChain(DEEDS, { changeAt: (seq) => unsigned(seq, approvalsAt(seq, removed)) });
  const deeds = givenChain(DEEDS, {
    changeAt: (seq) => (plain[seq - 1] === undefined ? {} : committing(bodyOf(plain[seq - 1] as SealedDeed), valueOf)),
  });
  const held = deeds.slice(first - 1);
  const lines = held.flatMap((deed) => {
    const body = bodyOf(deed);
    return committedMembers(body)
      .filter(({ member }) => gives(body.seq, member))
      .map(({ member, commitment }) => {
        const salt = body.v === DEED_VERSION ? saltAt(body.seq, member) : null;
        const value = textOf(valueOf(body.seq, member));
        return encodePayloadLine({ kind: 'opened', seq: body.seq, member, commitment, salt, value });
      });
  });
  const raw = rawOf(held, [entryOf(KEY)], {
    prev_hash: deeds[first - 2]?.seal.bodyHash ?? null,
    ...(first === 1 ? {} : { from: at(0) }),
  });
  const manifest = { ...raw.manifest, v: 'service.bundle/2' as const, files: ['payloads.ndjson'] };
  return packed({ ...raw, manifest, more: [['payloads.ndjson', Buffer.concat(lines)]] });
};

/** Of a denied approval the first yes had no device. */
const firstUnsigned = (sections: Partial<DeedBodyInput>): Partial<DeedBodyInput> => {
  const { approval } = sections;
  if (!approval) return sections;
  const countersigned = approval.countersigned.map((one) => ({ ...one, assertion: null }));
  return { ...sections, approval: { ...approval, countersigned } };
};

export const DECISIONS = { FIRST, SECOND, LAST, NO } as const;
