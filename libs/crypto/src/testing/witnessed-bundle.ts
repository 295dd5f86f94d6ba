/** A bundle of the second format: a chain that commits to real values, the checkpoint that covers it, and the values. */
import type { SealedDeed } from '../bundle-format.js';
import { encodeRange } from '../bundle-range.js';
import { commitmentOf, type Salt } from '../commitment.js';
import { committedMembers } from '../committed-members.js';
import type { DeedBodyInput } from '../deed-body.js';
import { DEED_VERSION, type DeedBody } from '../deed-schema.js';
import { type Digest, digestBytes, digestOf, sha256 } from '../digest.js';
import { encodeBase64url } from '../base64url.js';
import { canonicalize } from '../jcs.js';
import { encodePayloadLine, type PayloadLine } from '../payload-line.js';
import { type HeldIntent, intentOf, intentKey } from './held-intent.js';
import type { JsonObject, JsonValue } from '../strict-json.js';
import { encodeCheckpoint } from '../transparency/checkpoint.js';
import { ledgerRange, type RangeBounds } from '../transparency/ledger-range.js';
import { leafHash } from '../transparency/merkle-hash.js';
import { hashesInMemory } from '../transparency/merkle-proof.js';
import { rootOf } from '../transparency/compact-range.js';
import { formatNote, type NoteSigner, signNote } from '../transparency/signed-note.js';
import { parsePolicy } from '../transparency/tlog-policy.js';
import { AGENT, approvalAt, entryOf, givenChain, KEY, ORG, type RawBundle, rawOf } from './given-chain.js';
import { AT as SEEN_AT, bytesOf, logKey, vkeyText, witness } from './given-witnessed.js';

export const LEDGER_ORIGIN = `governance.example/ledger/${ORG}`;
export const ledgerKey = logKey(LEDGER_ORIGIN);
export const anna = witness('anna.example/w', 'anna', SEEN_AT + 60);
export const ben = witness('ben.example/w', 'ben', SEEN_AT);

/** Both witnesses are asked for. */
export const BOTH_TEXT = [
  `log ${vkeyText(ledgerKey)}`,
  `witness anna ${vkeyText(anna)}`,
  `witness ben ${vkeyText(ben)}`,
  'group both all anna ben',
  'quorum both',
  '',
].join('\n');
export const BOTH = parsePolicy(bytesOf(BOTH_TEXT));

/** Deeds of the whole tree. */
export const TREE = 12;
/** The bundle holds the first so many of them, but where a test says otherwise. */
export const HELD = 9;

const SOURCE = 'rules:\n  - id: "read-crm" # “free”\n';
const CONFIG: JsonValue = { base_url: 'https://crm.example' };

export const textOf = (value: JsonValue): Buffer => Buffer.from(canonicalize(value));

export const saltAt = (seq: number, member: string): Salt => encodeBase64url(sha256(`salt ${seq} ${member}`));

const isPolicy = (seq: number): boolean => seq % 2 === 1;

/** The deed that registers the key with which the agent signs later calls; it names a policy besides, as no honest one does. */
const KEY_ADDED = 3;

/** What the member of a deed stands for. */
export const valueAt = (seq: number, member: string): JsonValue => {
  if (member !== 'admin.data_digest') return { amount: 80.5, member, note: 'Grüße \u0001', seq };
  if (seq === KEY_ADDED) return { agent: AGENT, public_key: intentKey.publicKey.text, source_hash: digestOf(SOURCE) };
  return isPolicy(seq)
    ? { origin: 'user', source_hash: digestOf(SOURCE) }
    : { config_hash: digestOf(textOf(CONFIG)), name: 'crm' };
};

/** What a member of a deed stands for, by the deed's seq. */
export type ValueAt = (seq: number, member: string) => JsonValue;

const heldAt = (body: DeedBody, member: string, valueOf: ValueAt): Digest => {
  const text = textOf(valueOf(body.seq, member));
  return body.v === DEED_VERSION ? commitmentOf(saltAt(body.seq, member), text) : digestOf(text);
};

export const bodyOf = ({ body }: SealedDeed): DeedBody => JSON.parse(Buffer.from(body).toString()) as DeedBody;

/** The sections of a deed with commitments to these values. */
export const committing = (body: DeedBody, valueOf: ValueAt): Partial<DeedBodyInput> => {
  for (const { member } of committedMembers(body)) {
    const path = member.split('.');
    const last = path.pop() ?? '';
    const holder = path.reduce<unknown>((found, name) => (found as JsonObject)[name], body) as JsonObject;
    holder[last] = heldAt(body, member, valueOf);
  }
  const { who, action, policy, approval, execution, witness: verdict, admin } = body;
  const intent_hash = who.intent_hash === null ? null : intentAt(body, valueOf).digest;
  return {
    ...{ action, policy, approval, execution, witness: verdict, admin },
    who: { ...who, intent_hash },
  };
};

/** What the agent signed of the call of a deed. */
const intentAt = (body: DeedBody, valueOf: ValueAt): HeldIntent =>
  intentOf(body, digestOf(textOf(valueOf(body.seq, 'action.args_digest'))));

/** What no device signed: signed-bundle.ts has what devices did. */
const withoutAssertions = <Sections extends Partial<DeedBodyInput>>(sections: Sections): Sections => {
  const { approval } = sections;
  if (!approval) return sections;
  const countersigned = approval.countersigned.map((one) => ('assertion' in one ? { ...one, assertion: null } : one));
  const { decided_by: by } = approval;
  const decided_by = by !== null && 'assertion' in by ? { ...by, assertion: null } : by;
  return { ...sections, approval: { ...approval, countersigned, decided_by } };
};

const first = givenChain(TREE).map(bodyOf);

/** Signs nothing before its key is registered. */
const sectionsAt = (seq: number): Partial<DeedBodyInput> => {
  if (seq === 8) return withoutAssertions(approvalAt(8, 'approved'));
  const { who } = first[seq - 1] ?? {};
  if (who !== undefined && seq < KEY_ADDED && who.intent_hash !== null) {
    return { who: { ...who, intent_signed: false, intent_hash: null } };
  }
  if (seq !== KEY_ADDED) return {};
  const target = { type: 'intent_key', id: intentKey.publicKey.kid };
  return { admin: { action: 'intent_key.added', target, reason: null, data_digest: digestOf('data') } };
};

const plain = givenChain(TREE, { changeAt: sectionsAt });

/**
 * Admin deeds at 3, 6 and so on, an approval of two people at 8, deeds of the first format at 4 to 6, calls with an intent at 4, 8
 * and 10.
 */
export const witnessed: readonly SealedDeed[] = givenChain(TREE, {
  changeAt: (seq) => {
    const deed = plain[seq - 1];
    return deed === undefined ? {} : committing(bodyOf(deed), valueAt);
  },
});

const linesAt = (deed: SealedDeed): readonly PayloadLine[] => {
  const body = bodyOf(deed);
  const { seq } = deed;
  const members = committedMembers(body).map(({ member, commitment }): PayloadLine => {
    if (seq === 4 && member === 'action.args_digest') {
      return { kind: 'taken', seq, member, commitment, absent: 'removed' };
    }
    if (seq === 5 && member === 'execution.result_digest') {
      return { kind: 'taken', seq, member, commitment, absent: 'missing' };
    }
    const salt = body.v === DEED_VERSION ? saltAt(seq, member) : null;
    return { kind: 'opened', seq, member, commitment, salt, value: textOf(valueAt(seq, member)) };
  });
  return [...members, ...documentsAt(body)];
};

const documentsAt = (body: DeedBody): readonly PayloadLine[] => {
  const { seq, who, admin } = body;
  const document = { kind: 'document' as const, seq, signature: null };
  if (who.intent_hash !== null) {
    return [{ ...document, document: 'intent', ...intentAt(body, valueAt) }];
  }
  if (admin === null) return [];
  return isPolicy(seq)
    ? [{ ...document, document: 'policy_source', digest: digestOf(SOURCE), value: textOf(SOURCE) }]
    : [{ ...document, document: 'connector_config', ...hashed(CONFIG) }];
};

const hashed = (value: JsonValue): { readonly digest: Digest; readonly value: Buffer } => ({
  digest: digestOf(textOf(value)),
  value: textOf(value),
});

/** What no deed of the bundle proves. */
export const UNPROVEN: readonly PayloadLine[] = [
  { kind: 'told', document: 'intent_key', id: '0'.repeat(32), ...hashed({ agent: 'agt_1', public_key: 'ed25519:x' }) },
  { kind: 'told', document: 'policy_source', id: 'pv_1', digest: digestOf(SOURCE), value: textOf(SOURCE) },
  { kind: 'name', type: 'agent', id: 'agt_1', name: 'Refunds “EU”' },
  { kind: 'name', type: 'user', id: 'usr_1', name: 'Anna' },
];

/** All that the service gives of these deeds. */
export const linesOf = (deeds: readonly SealedDeed[]): readonly PayloadLine[] => [
  ...deeds.flatMap(linesAt),
  ...UNPROVEN,
];

export const encoded = (lines: readonly PayloadLine[]): readonly Buffer[] => lines.map(encodePayloadLine);

const leavesOf = (deeds: readonly SealedDeed[]): readonly Uint8Array[] =>
  deeds.map(({ seal }) => leafHash(digestBytes(seal.bodyHash)));

/** The text of the checkpoint of these deeds. */
export const treeText = (deeds: readonly SealedDeed[], origin = LEDGER_ORIGIN): string =>
  encodeCheckpoint({ origin, size: deeds.length, root: rootOf(leavesOf(deeds)) });

export const noteText = (text: string, ...signers: readonly NoteSigner[]): string =>
  formatNote(signNote(text, signers));

/** What binds deeds to a tree, as the service would give it. */
export const rangeOf = async (deeds: readonly SealedDeed[], bounds: RangeBounds): Promise<Uint8Array> =>
  encodeRange(await ledgerRange(hashesInMemory(leavesOf(deeds)), bounds));

/** What may differ from the honest bundle. */
export interface WitnessedChoices {
  /** The deeds of the bundle. */
  readonly deeds?: readonly SealedDeed[];
  readonly note?: string;
  readonly range?: Uint8Array;
  /** The lines of payloads.ndjson. */
  readonly lines?: readonly Buffer[];
  readonly manifest?: Partial<RawBundle['manifest']>;
}

export const honestNote = noteText(treeText(witnessed), ledgerKey, anna, ben);

export const witnessedBundle = async (choices: WitnessedChoices = {}): Promise<RawBundle> => {
  const { deeds = witnessed.slice(0, HELD), note = honestNote, lines = encoded(linesOf(deeds)) } = choices;
  const first = deeds[0]?.seq ?? 1;
  const before = witnessed[first - 2]?.seal.bodyHash ?? null;
  const raw = rawOf(deeds, [entryOf(KEY)], { prev_hash: before });
  const bounds = { first, last: first + deeds.length - 1, size: TREE };
  return {
    ...raw,
    manifest: {
      ...raw.manifest,
      v: 'service.bundle/2',
      files: ['checkpoint.txt', 'range.json', 'payloads.ndjson'],
      ...choices.manifest,
    },
    more: [
      ['checkpoint.txt', Buffer.from(note)],
      ['range.json', choices.range ?? (await rangeOf(witnessed, bounds))],
      ['payloads.ndjson', Buffer.concat(lines)],
    ],
  };
};
