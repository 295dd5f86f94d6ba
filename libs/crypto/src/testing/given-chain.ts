/** Chains for tests: real keys, real seals, deeds of every shape. Nothing in the service imports this. */
import { buildDeedBody, type DeedBodyInput, encodeDeedBody } from '../deed-body.js';
import { type ChainPosition, type SealKeyEntry, startOfChain } from '../deed-chain.js';
import { DEED_VERSION, type DeedBody, FIRST_DEED_VERSION } from '../deed-schema.js';
import { type Digest, digestOf, sha256Hex } from '../digest.js';
import { SigningKey } from '../ed25519.js';
import { encodeId } from '../ids.js';
import { type BundleVersion, encodeDeedLine, fingerprintOf, type SealedDeed } from '../bundle-format.js';
import { type BundleContent, type BundleRange, writeBundle } from '../export-bundle.js';
import { writeGzipMember } from '../gzip-member.js';
import { canonicalBytes } from '../jcs.js';
import type { JsonObject } from '../strict-json.js';
import { sealAtOnce } from './seal-at-once.js';
import { TAR_END_BYTES, tarHeader, tarPaddingBytes } from '../ustar.js';

const idFrom = (prefix: string, text: string): string =>
  encodeId(prefix, Buffer.from(sha256Hex(text), 'hex').subarray(0, 16));

/** A fixed instant plus some seconds, as a timestamp. */
export const at = (seconds: number): string => new Date(Date.UTC(2026, 9, 1, 12, 0, seconds)).toISOString();

export const ORG = idFrom('org', 'org');
export const OTHER_ORG = idFrom('org', 'other');

/** The private key of a seed text, always the same. */
export const keyFrom = (seedText: string): SigningKey => {
  const der = `302e020100300506032b657004220420${sha256Hex(seedText)}`;
  const pem = Buffer.from(der, 'hex').toString('base64');
  return SigningKey.fromPkcs8Pem(`-----BEGIN PRIVATE KEY-----\n${pem}\n-----END PRIVATE KEY-----\n`);
};

/** The entry of a key that is active from the first second on. */
export const entryOf = (key: SigningKey, change: Partial<SealKeyEntry> = {}): SealKeyEntry => ({
  kid: key.publicKey.kid,
  alg: 'Ed25519',
  public_key: key.publicKey.text,
  activated_at: at(0),
  retired_at: null,
  revoked_at: null,
  ...change,
});

const uuidFrom = (text: string): string => {
  const hex = sha256Hex(text);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
};

/** Three deeds in the newest format, three in the first one, and so on: every kind in each. */
const isInFirstFormat = (seq: number): boolean => Math.floor((seq - 1) / 3) % 2 === 1;

const NOTHING = { action: null, policy: null, approval: null, execution: null, witness: null, cost: null, admin: null };
export const AGENT = idFrom('agt', 'agent');

const agentCall = (seq: number): Pick<DeedBodyInput, 'who' | 'action'> => ({
  who: {
    actor: { type: 'agent', id: AGENT },
    agent: AGENT,
    key: idFrom('key', 'key'),
    on_behalf_of: seq % 2 === 0 ? 'customer:4711' : null,
    session: null,
    intent_signed: seq % 2 === 0,
    intent_hash: seq % 2 === 0 ? digestOf(`intent ${seq}`) : null,
  },
  action: {
    id: idFrom('act', `action ${seq}`),
    tool: 'crm.get_customer',
    tool_truncated: false,
    mode: 'gateway',
    livemode: false,
    connector: idFrom('con', 'crm'),
    tool_digest: digestOf('tool'),
    args_digest: digestOf(`args ${seq}`),
    request_digest: digestOf(`request ${seq}`),
    created_at: at(seq),
    ...(isInFirstFormat(seq) ? {} : { undo_of: seq % 2 === 1 ? null : idFrom('act', `undone ${seq}`) }),
  },
});

const decision = (seq: number, outcome: 'allow' | 'deny' | 'require_approval'): DeedBodyInput['policy'] => ({
  outcome,
  code: outcome === 'deny' ? 'policy_denied' : null,
  source: 'rule',
  rule_id: 'read-crm',
  reason: 'Reading customers is free',
  message: outcome !== 'deny' ? null : 'Not this one: “café” \u{1F600}\n\u0000',
  policy: idFrom('pol', 'policy'),
  policy_version: idFrom('pv', 'version'),
  input_digest: digestOf(`input ${seq}`),
  decided_at: at(seq),
});

export const PEOPLE = [idFrom('usr', 'anna'), idFrom('usr', 'ben')];

/** What an approval by two people came to, in the place of the sections of the executed deed at `seq`. */
export const approvalAt = (
  seq: number,
  status: 'approved' | 'denied' | 'expired' | 'cancelled',
): Pick<DeedBodyInput, 'who' | 'action' | 'policy' | 'approval'> & Partial<DeedBodyInput> => {
  const [anna = '', ben = ''] = PEOPLE;
  const isFirst = isInFirstFormat(seq);
  const word = isFirst ? {} : { reason: digestOf(`reason ${seq}`), assertion: digestOf(`assertion ${seq}`) };
  const signatures = [anna, ben].map((by, index) => ({
    at: at(seq + index),
    by,
    ...(isFirst ? {} : { context: digestOf(`context ${seq}`), ...word }),
  }));
  const decidedBy = {
    approved: { id: ben, type: 'user' as const, ...word },
    denied: { id: ben, type: 'user' as const, ...word },
    expired: null,
    cancelled: { id: AGENT, type: 'agent' as const, ...(isFirst ? {} : { reason: null, assertion: null }) },
  };
  return {
    ...agentCall(seq),
    policy: decision(seq, 'require_approval'),
    approval: {
      context_digest: digestOf(`context ${seq}`),
      countersigned: status === 'approved' ? signatures : signatures.slice(0, 1),
      decided_at: at(seq + 1),
      decided_by: decidedBy[status],
      expires_at: at(3_600),
      id: idFrom('apr', `approval ${seq}`),
      required: 2,
      status,
    },
    ...(status === 'approved' ? {} : { execution: null, witness: null, cost: null }),
  };
};

/** Executed, denied, and administrative deeds in turn. */
const sectionsOf = (seq: number): Omit<DeedBodyInput, 'v' | 'org' | 'seq' | 'issued_at' | 'source' | 'chain'> => {
  if (seq % 3 === 0) {
    const who = { ...agentCall(1).who, actor: { type: 'operator' as const, id: null }, agent: null, key: null };
    const target = { type: 'agent', id: AGENT };
    const admin = { action: 'agent.created', target, reason: null, data_digest: digestOf(`admin ${seq}`) };
    return { ...NOTHING, kind: 'admin', who: { ...who, intent_signed: null }, admin };
  }
  if (seq % 3 === 1) return { ...NOTHING, ...agentCall(seq), kind: 'action', policy: decision(seq, 'deny') };
  return {
    ...NOTHING,
    ...agentCall(seq),
    kind: 'action',
    policy: decision(seq, 'allow'),
    execution: {
      status: 'succeeded',
      attempts: 1,
      error_code: null,
      result_digest: digestOf(`result ${seq}`),
      started_at: at(seq),
      finished_at: at(seq),
      ...(isInFirstFormat(seq) ? {} : { first_sent_at: at(seq), message: null }),
    },
    witness: {
      level: 'L0',
      verdict: 'VERIFIED',
      method: 'reported',
      reasons: ['tool_reported_success'],
      evidence_digest: null,
    },
    cost: { amount: 0, currency: 'usd' },
  };
};

/** The body of the deed after a position: issued `seq` seconds after the first instant. */
export const bodyAfter = (position: ChainPosition, kid: string, change: Partial<DeedBodyInput> = {}): DeedBody => {
  const seq = position.seq + 1;
  return buildDeedBody({
    org: position.org,
    seq,
    issued_at: at(seq),
    source: { stream: `action-${idFrom('act', `action ${seq}`)}`, revision: seq, event_id: uuidFrom(`event ${seq}`) },
    chain: { prev_hash: position.bodyHash, kid },
    v: isInFirstFormat(seq) ? FIRST_DEED_VERSION : DEED_VERSION,
    ...sectionsOf(seq),
    ...change,
  });
};

/** Seals a body as it is, also one that no honest chain would hold. */
export const seal = (body: DeedBody, key: SigningKey): SealedDeed => {
  return sealBytes(body.seq, encodeDeedBody(body), key);
};

/** Bytes under a genuine seal, as a bundle carries them; they may be no deed body at all. */
export const sealBytes = (seq: number, body: Uint8Array, key: SigningKey = KEY): SealedDeed => {
  const { bodyHash, kid, signature } = sealAtOnce(body, key);
  return { seq, body, seal: { bodyHash, kid, signature } };
};

const afterSealed = (org: string, { seq, seal: { bodyHash } }: SealedDeed): ChainPosition => ({
  org,
  seq,
  bodyHash,
  issuedAt: null,
});

/** What may differ in a chain: the key and other members of single deeds, by seq. */
export interface ChainChoices {
  readonly org?: string;
  readonly keyAt?: (seq: number) => SigningKey;
  readonly changeAt?: (seq: number) => Partial<DeedBodyInput>;
}

export const KEY = keyFrom('seal key');

/** A chain of `count` deeds in which everything that is not chosen is right. */
export const givenChain = (count: number, choices: ChainChoices = {}): SealedDeed[] => {
  const org = choices.org ?? ORG;
  const deeds: SealedDeed[] = [];
  let position = startOfChain(org);
  for (let seq = 1; seq <= count; seq += 1) {
    const key = choices.keyAt?.(seq) ?? KEY;
    const deed = seal(bodyAfter(position, key.publicKey.kid, choices.changeAt?.(seq)), key);
    deeds.push(deed);
    position = afterSealed(org, deed);
  }
  return deeds;
};

const headOf = (deed: SealedDeed | undefined): BundleRange['head'] =>
  deed === undefined ? null : { seq: deed.seq, body_hash: deed.seal.bodyHash };

/** The content of a bundle that holds all these deeds and nothing more. */
export const contentOf = (deeds: readonly SealedDeed[], change: Partial<BundleRange> = {}): BundleContent => ({
  range: {
    org: ORG,
    from: null,
    to: null,
    first_seq: deeds[0]?.seq ?? null,
    last_seq: deeds.at(-1)?.seq ?? null,
    prev_hash: null,
    head: headOf(deeds.at(-1)),
    created_at: at(86_400),
    service_version: '0.1.0',
    ...change,
  },
  keys: [entryOf(KEY)],
  deeds: () => streamOf(deeds),
});

export async function* streamOf<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  for (const item of items) yield await Promise.resolve(item);
}

/** All bytes of a stream. */
export const collect = async (source: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
};

export const bundleOf = (content: BundleContent): Promise<Buffer> => collect(writeBundle(content));

/** A bundle in its parts, which an attacker may change one by one; nothing judges them here. */
export interface RawBundle {
  readonly manifest: BundleRange & {
    readonly v: BundleVersion;
    readonly count: number;
    readonly keys: readonly Digest[];
    readonly files?: readonly string[];
  };
  readonly keys: readonly SealKeyEntry[];
  readonly lines: readonly Buffer[];
  /** What stands behind the deeds. */
  readonly more?: readonly (readonly [name: string, content: Uint8Array])[];
}

/** The parts of the bundle that would be written for this content. */
export const rawOf = (
  deeds: readonly SealedDeed[],
  keys = [entryOf(KEY)],
  change: Partial<BundleRange> = {},
): RawBundle => ({
  manifest: {
    ...contentOf(deeds, change).range,
    v: 'service.bundle/1',
    count: deeds.length,
    keys: keys.map(fingerprintOf),
  },
  keys,
  lines: deeds.map(encodeDeedLine),
});

/** The tar entries of a bundle in its parts. */
export const entriesOf = ({ manifest, keys, lines, more = [] }: RawBundle): (readonly [string, Uint8Array])[] => [
  ['manifest.json', canonicalBytes(manifest as unknown as JsonObject)],
  ['keys.json', canonicalBytes({ keys: [...keys] })],
  ['deeds.ndjson', Buffer.concat(lines)],
  ...more,
];

/** A tar of these entries. */
export const tarOf = (entries: readonly (readonly [name: string, content: Uint8Array])[]): Buffer =>
  Buffer.concat([
    ...entries.flatMap(([name, content]) => [
      tarHeader(name, content.length),
      content,
      Buffer.alloc(tarPaddingBytes(content.length)),
    ]),
    Buffer.alloc(TAR_END_BYTES),
  ]);

export const gzipOf = (tar: Uint8Array): Promise<Buffer> => collect(writeGzipMember(streamOf([tar])));

export const packed = (raw: RawBundle): Promise<Buffer> => gzipOf(tarOf(entriesOf(raw)));
