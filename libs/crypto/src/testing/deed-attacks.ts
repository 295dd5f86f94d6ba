/** Attacks on single deeds and on their order. */
import { encodeBase64url } from '../base64url.js';
import { encodeDeedLine, type SealedDeed } from '../bundle-format.js';
import { type ChainPosition, type SealKeyEntry, startOfChain } from '../deed-chain.js';
import type { DeedBody } from '../deed-schema.js';
import { digestOf } from '../digest.js';
import type { SigningKey } from '../ed25519.js';
import { canonicalBytes } from '../jcs.js';
import { sealAtOnce } from './seal-at-once.js';
import {
  AT,
  broken,
  type BundleAttack,
  deedAt,
  DEEDS,
  flipped,
  incomplete,
  next,
  raw,
  stranger,
} from './attacked-bundle.js';
import {
  approvalAt,
  at,
  bodyAfter,
  entryOf,
  givenChain,
  KEY,
  keyFrom,
  ORG,
  OTHER_ORG,
  packed,
  PEOPLE,
  rawOf,
  seal,
  sealBytes,
} from './given-chain.js';

const intentKey = keyFrom('an intent key');

/** The bundle with its lines rearranged or replaced, and everything it says of itself unchanged. */
const withLines = (change: (lines: readonly Buffer[]) => readonly Buffer[]) => (): Promise<Buffer> =>
  packed({ ...raw, lines: change(raw.lines) });

const withDeed = (deed: SealedDeed, place = AT): (() => Promise<Buffer>) =>
  withLines((lines) => lines.with(place - 1, encodeDeedLine(deed)));

const withText = (search: string | RegExp, replacement: string): (() => Promise<Buffer>) =>
  withLines((lines) => lines.with(AT - 1, Buffer.from((lines[AT - 1] ?? '').toString().replace(search, replacement))));

/** Bytes with the genuine seal of deed 4, its hash computed again. */
const underOldSignature = (bytes: Uint8Array): SealedDeed => ({
  seq: AT,
  body: bytes,
  seal: { ...deedAt(AT).seal, bodyHash: digestOf(bytes) },
});

const before: ChainPosition = { org: ORG, seq: AT - 1, bodyHash: deedAt(AT - 1).seal.bodyHash, issuedAt: null };
const text = Buffer.from(deedAt(AT).body).toString();
const parsed = JSON.parse(text) as DeedBody;

/** A chain whose deeds from 4 on are sealed by another key. */
const rotated = (key: SigningKey): SealedDeed[] => givenChain(DEEDS, { keyAt: (seq) => (seq < AT ? KEY : key) });

const chainUnder = (key: SigningKey, entries: SealKeyEntry[]): (() => Promise<Buffer>) => {
  const chain = rotated(key);
  return () => packed(rawOf(chain, entries));
};

const withKey = (change: Partial<SealKeyEntry>): (() => Promise<Buffer>) =>
  chainUnder(next, [entryOf(KEY), entryOf(next, change)]);

/** A deed that breaks each rule about approvals, genuinely sealed. */
function brokenApprovals(): readonly BundleAttack[] {
  type Approval = NonNullable<DeedBody['approval']>;
  const attack = (
    name: string,
    status: Approval['status'],
    change: Partial<Approval>,
    rest: Partial<DeedBody> = {},
  ): BundleAttack => {
    const { approval, ...body } = bodyAfter(before, KEY.publicKey.kid, approvalAt(AT, status));
    const bytes = canonicalBytes({ ...body, approval: { ...approval, ...change }, ...rest });
    return broken('schema', AT, `${name}, genuinely sealed`, withDeed(sealBytes(AT, bytes)));
  };
  const [by = ''] = PEOPLE;
  const signature = { at: at(AT), by };
  const execution = givenChain(2).map(
    ({ body }) => (JSON.parse(Buffer.from(body).toString()) as DeedBody).execution,
  )[1];
  return [
    attack('a yes with a signature too few', 'approved', { countersigned: [signature] }),
    attack('a yes that one person signed twice', 'approved', { countersigned: [signature, signature] }),
    attack('a yes that nobody said', 'approved', { decided_by: null }),
    attack('a no of the system', 'denied', { decided_by: { id: null, type: 'system' } }),
    attack('an expiry that a person decided', 'expired', { decided_by: { id: by, type: 'user' } }),
    attack('a cancellation by nobody', 'cancelled', { decided_by: null }),
    attack('a cancellation by another agent', 'cancelled', { decided_by: { id: by, type: 'agent' } }),
    attack('a call that ran although it was denied', 'denied', {}, { execution: execution ?? null }),
    attack('an approval that no decision asked for', 'denied', {}, { policy: parsed.policy }),
    attack('a decision that asks for an approval, and none', 'denied', {}, { approval: null }),
  ];
}

const OTHER_CHAIN = givenChain(DEEDS, { org: OTHER_ORG });

export const lineAttacks: BundleAttack[] = [
  broken(
    'body_hash_mismatch',
    AT,
    'a bit of a body flipped',
    withDeed({ ...deedAt(AT), body: flipped(deedAt(AT).body, 777) }),
  ),
  broken(
    'bad_signature',
    AT,
    'a bit of a body flipped, hash computed again',
    withDeed(underOldSignature(Buffer.from(text.replace('crm.get', 'crm.set')))),
  ),
  broken('bad_line', AT, 'a body hash changed', withText('"body_hash":"sha256:', '"body_hash":"sha256:0')),
  broken(
    'bad_signature',
    AT,
    'a signature of another deed',
    withDeed({ ...deedAt(AT), seal: { ...deedAt(AT).seal, signature: deedAt(5).seal.signature } }),
  ),
  broken(
    'bad_signature',
    AT,
    'the signature of the COSE form in its place',
    withDeed({
      ...deedAt(AT),
      seal: { ...deedAt(AT).seal, signature: sealAtOnce(deedAt(AT).body, KEY).coseSignature },
    }),
  ),
  broken('wrong_seq', AT, 'another seq on the line', withDeed({ ...deedAt(5), seq: AT })),
  broken(
    'wrong_kid',
    AT,
    'another kid on the line',
    withDeed({ ...deedAt(AT), seal: { ...deedAt(AT).seal, kid: next.publicKey.kid } }),
  ),
  broken('bad_line', AT, 'a space on the line', withText('{"body"', '{ "body"')),
  broken('bad_line', AT, 'a member more on the line', withText('}', ',"x":1}')),
  broken(
    'bad_line',
    AT,
    'a COSE signature on the line',
    withText('"kid"', `"cose_signature":"${deedAt(AT).seal.signature}","kid"`),
  ),
  broken(
    'bad_line',
    AT,
    'an empty line',
    withLines((lines) => lines.with(AT - 1, Buffer.from('\n'))),
  ),
  broken(
    'bad_line',
    DEEDS,
    'a line without an end',
    withLines((lines) => lines.with(DEEDS - 1, lines[DEEDS - 1]?.subarray(0, -1) ?? Buffer.alloc(0))),
  ),
  broken(
    'bad_line',
    AT,
    'a line beyond every limit',
    withLines((lines) => lines.with(AT - 1, Buffer.alloc(2_000_000, 0x61))),
  ),
];

export const orderAttacks: BundleAttack[] = [
  broken(
    'gap',
    1,
    'the first deed dropped',
    withLines((lines) => lines.slice(1)),
  ),
  broken(
    'gap',
    AT,
    'a deed dropped',
    withLines((lines) => lines.toSpliced(AT - 1, 1)),
  ),
  incomplete(
    'missing_deeds',
    DEEDS,
    'the last deed dropped',
    withLines((lines) => lines.slice(0, -1)),
  ),
  incomplete(
    'missing_deeds',
    1,
    'every deed dropped',
    withLines(() => []),
  ),
  broken(
    'duplicate',
    AT + 1,
    'a deed twice',
    withLines((lines) => lines.toSpliced(AT, 0, lines[AT - 1] ?? Buffer.alloc(0))),
  ),
  broken(
    'gap',
    AT,
    'two deeds swapped',
    withLines((lines) => [...lines.slice(0, 3), ...lines.slice(3, 5).reverse(), ...lines.slice(5)]),
  ),
  broken(
    'extra_deed',
    DEEDS + 1,
    'a deed more than the manifest says',
    withLines((lines) => [...lines, encodeDeedLine(givenChain(DEEDS + 1)[DEEDS] as SealedDeed)]),
  ),
  broken('wrong_org', AT, 'a deed of another organization', withDeed(OTHER_CHAIN[AT - 1] as SealedDeed)),
];

export const sealAttacks: BundleAttack[] = [
  broken('unknown_key', AT, 'sealed by a key that is not listed', chainUnder(stranger, [entryOf(KEY)]), {
    linksIntact: true,
  }),
  broken('unknown_key', AT, 'sealed by an intent key', chainUnder(intentKey, [entryOf(KEY)]), { linksIntact: true }),
  broken(
    'key_not_pinned',
    AT,
    'sealed by a key that the bundle brings along',
    chainUnder(stranger, [entryOf(KEY), entryOf(stranger)]),
    { linksIntact: true },
  ),
  broken(
    'bad_signature',
    AT,
    'signed by another key under the genuine kid',
    withDeed({ ...deedAt(AT), seal: { ...sealAtOnce(deedAt(AT).body, stranger), kid: KEY.publicKey.kid } }),
  ),
  broken(
    'bad_signature',
    AT,
    'signed under the tag of an intent',
    withDeed({
      ...deedAt(AT),
      seal: {
        ...deedAt(AT).seal,
        signature: encodeBase64url(KEY.sign(Buffer.from(`service/intent/v1\n${deedAt(AT).seal.bodyHash}`))),
      },
    }),
  ),
  broken(
    'outside_key_window',
    AT,
    'sealed 1 ms before its key was active',
    withKey({ activated_at: new Date(Date.parse(at(AT)) + 1).toISOString() }),
    { linksIntact: true },
  ),
  broken('outside_key_window', 6, 'sealed at the instant its key retired', withKey({ retired_at: at(6) }), {
    linksIntact: true,
  }),
  broken('seal_key_revoked', AT, 'sealed by a revoked key', withKey({ revoked_at: at(100) }), { linksIntact: true }),
  broken(
    'seal_key_revoked',
    1,
    'sealed by a key whose revocation the key set hides',
    () => packed(rawOf(revokedInChain(), [entryOf(KEY), entryOf(next)])),
    { linksIntact: true },
  ),
  broken('seal_key_revoked', AT, 'sealed by a key that an earlier deed revokes, and linked to another deed', () =>
    packed(rawOf(revokedAndForked(), [entryOf(KEY), entryOf(next)])),
  ),
  broken('bad_signature', AT, 'signed by nobody, under a key that an earlier deed revokes', () =>
    packed(rawOf(revokedAndForked(KEY), [entryOf(KEY), entryOf(next)])),
  ),
  broken(
    'seal_key_revoked',
    1,
    'a key that revokes itself',
    () => packed(rawOf(givenChain(DEEDS, { changeAt: (seq) => (seq === 6 ? revocationOf(KEY) : {}) }))),
    { linksIntact: true },
  ),
  broken(
    'seal_key_revoked',
    1,
    'two keys that revoke each other',
    () => packed(rawOf(revokingEachOther(), [entryOf(KEY), entryOf(next)])),
    { linksIntact: true },
  ),
  broken('seal_key_revoked', AT, 'windows of the bundle against a key set of the user', withKey({}), {
    options: { keySet: [entryOf(KEY), entryOf(next, { revoked_at: at(100) })] },
    linksIntact: true,
  }),
  broken('seal_key_revoked', AT, 'a key revoked after the export', withKey({}), {
    options: { keySet: [entryOf(KEY), entryOf(next, { revoked_at: at(1_000_000) })] },
    linksIntact: true,
  }),
  broken('outside_key_window', 6, 'a window moved in the bundle against a key set of the user', withKey({}), {
    options: { keySet: [entryOf(KEY), entryOf(next, { retired_at: at(6) })] },
    linksIntact: true,
  }),
  broken('unknown_key', AT, 'a key that the key set of the user does not list', withKey({}), {
    options: { keySet: [entryOf(KEY)] },
    linksIntact: true,
  }),
  broken('unknown_key', 1, 'against the key set of another deployment', withKey({}), {
    options: { keySet: [entryOf(stranger)] },
    linksIntact: true,
  }),
  broken('key_not_pinned', AT, 'a key that only the key set of the user vouches for', withKey({}), {
    options: { pins: [KEY.publicKey.fingerprint], keySet: [entryOf(KEY), entryOf(next)] },
    linksIntact: true,
  }),
  broken('key_conflict', null, 'another public key under the same kid than in the key set of the user', withKey({}), {
    options: { keySet: [{ ...entryOf(KEY), public_key: stranger.publicKey.text }, entryOf(next)] },
  }),
  broken(
    'not_canonical',
    AT,
    'a space in a body, genuinely sealed',
    withDeed(sealBytes(AT, Buffer.from(text.replace(',', ', ')))),
  ),
  broken(
    'not_canonical',
    AT,
    'an escape in a body, hash computed again',
    withDeed(underOldSignature(Buffer.from(text.replace('gateway', 'g\\u0061teway')))),
  ),
  broken(
    'not_canonical',
    AT,
    'a repeated member in a body',
    withDeed(sealBytes(AT, Buffer.from(text.replace('"seq":4', '"seq":4,"seq":4')))),
  ),
  broken(
    'schema',
    AT,
    'a member more in a body, genuinely sealed',
    withDeed(sealBytes(AT, canonicalBytes({ ...parsed, extra: 1 }))),
  ),
  ...brokenApprovals(),
  broken(
    'schema',
    AT,
    'an id of another event, genuinely sealed',
    withDeed(sealBytes(AT, canonicalBytes({ ...parsed, id: bodyAfter(startOfChain(ORG), KEY.publicKey.kid).id }))),
  ),
  broken(
    'broken_link',
    AT,
    'a fork, genuinely sealed',
    withDeed(seal(bodyAfter({ ...before, bodyHash: digestOf('fork') }, KEY.publicKey.kid), KEY)),
  ),
  broken(
    'broken_link',
    AT + 1,
    'an altered deed, genuinely sealed, the rest as it was',
    withDeed(seal(bodyAfter(before, KEY.publicKey.kid, { cost: { amount: 9, currency: 'usd' } }), KEY)),
  ),
  broken('time_went_back', AT, 'a deed issued before the last one', () =>
    packed(rawOf(givenChain(DEEDS, { changeAt: (seq) => (seq === AT ? { issued_at: at(2) } : {}) }))),
  ),
];

/** The admin section of a deed that revokes a key. */
function revocationOf(key: SigningKey): Pick<DeedBody, 'admin'> {
  const target = { type: 'seal_key', id: key.publicKey.kid };
  return { admin: { action: 'seal_key.revoked', target, reason: null, data_digest: null } };
}

/** Deed 9 revokes the key that sealed deeds 1 to 3. */
function revokedInChain(): SealedDeed[] {
  return givenChain(9, {
    keyAt: (seq) => (seq < AT ? KEY : next),
    changeAt: (seq) => (seq === 9 ? revocationOf(KEY) : {}),
  });
}

/** Deed 3 revokes the key that seals deed 4, which links to another deed than that. */
function revokedAndForked(signer: SigningKey = next): SealedDeed[] {
  const chain = givenChain(DEEDS, { changeAt: (seq) => (seq === 3 ? revocationOf(next) : {}) });
  const { body, seal: made } = seal(bodyAfter({ ...before, bodyHash: digestOf('fork') }, next.publicKey.kid), signer);
  return chain.with(AT - 1, { seq: AT, body, seal: { ...made, kid: next.publicKey.kid } });
}

/** Deed 3 revokes the key of deed 4 and on; deed 6, sealed by that key, revokes the one that sealed deeds 1 to 3. */
function revokingEachOther(): SealedDeed[] {
  return givenChain(DEEDS, {
    keyAt: (seq) => (seq < AT ? KEY : next),
    changeAt: (seq) => (seq === 3 ? revocationOf(next) : seq === 6 ? revocationOf(KEY) : {}),
  });
}
