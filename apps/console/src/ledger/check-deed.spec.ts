import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonical, checkDeed, type Envelope, type Given, type SealKey } from './check-deed.ts';

/** The example in docs/deed-format.md, the document that the Console's verifier is written from. */
const FORMAT = readFileSync(new URL('../../../../docs/deed-format.md', import.meta.url), 'utf8');
const found = (pattern: RegExp): string => pattern.exec(FORMAT)?.[1] ?? '';

const BODY = found(/^(\{"action":null,.*\})$/m);
const HASH = found(/^body_hash {2,}(\S+)$/m);
const KEY = (JSON.parse(found(/^(\{"keys":\[\{"activated_at".*\})$/m)) as { keys: SealKey[] }).keys[0] as SealKey;

const ID = 'deed_458d3zb0padng8z2thbhk7dd95';
const envelope: Envelope = {
  id: ID,
  seq: 1,
  kid: KEY.kid,
  signature: found(/^signature {2,}(\S+)$/m),
  body_hash: HASH,
  prev_hash: null,
  issued_at: '2026-10-01T12:00:00.000Z',
};
const bytesOf = (body: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(body);
const GOOD: Given = {
  id: ID,
  bytes: bytesOf(BODY),
  envelope,
  before: null,
  after: { ...envelope, seq: 2, prev_hash: HASH },
  keys: [KEY],
  org: 'org_01j9z3k4m5n6p7q8r9s0t1v2w3',
};

const failing = async (given: Given): Promise<readonly string[]> =>
  (await checkDeed(given)).filter(({ holds }) => holds === false).map(({ name }) => name);
const withKey = (change: Partial<SealKey>): Given => ({ ...GOOD, keys: [{ ...KEY, ...change }] });
const withEnvelope = (change: Partial<Envelope>): Given => ({ ...GOOD, envelope: { ...envelope, ...change } });
/** The example with a part of its bytes replaced, without a new signature. */
const altered = (from: string, to: string): Given => ({ ...GOOD, bytes: bytesOf(BODY.replace(from, to)) });

describe('the example of the format', () => {
  it('holds in every check', async () => {
    expect((await checkDeed(GOOD)).map(({ name, holds }) => [name, holds])).toEqual([
      ['Canonical', true],
      ['Unchanged', true],
      ['Sealed', true],
      ['Key valid', true],
      ['This deed', true],
      ['Yours', true],
      ['In time', true],
      ['Follows', true],
      ['Followed', true],
    ]);
  });

  it('says that no deed follows yet, if none does', async () => {
    const checks = await checkDeed({ ...GOOD, after: null });
    expect(checks.at(-1)).toMatchObject({ name: 'Followed', holds: null });
  });
});

describe('an attack is found:', () => {
  const [first = '', rest = ''] = [envelope.signature.slice(0, 1), envelope.signature.slice(1)];

  it.each<[title: string, given: Given, found: readonly string[]]>([
    ['another reason', altered('Grüße', 'Gruße'), ['Unchanged', 'Sealed', 'Followed']],
    ['a space', altered('"seq":1', '"seq": 1'), ['Canonical', 'Unchanged']],
    ['a renamed member', altered('"kind":"admin","org"', '"kinds":"admin","org"'), ['Unchanged', 'Sealed', 'Followed']],
    ['a member twice', altered('"seq":1,', '"seq":1,"seq":1,'), ['Canonical', 'Unchanged']],
    ['a fraction', altered('"revision":0', '"revision":0.5'), ['Canonical', 'Unchanged']],
    ['minus zero', altered('"revision":0', '"revision":-0'), ['Canonical', 'Unchanged']],
    ['an integer beyond 2^53', altered('"revision":0', '"revision":9007199254740993'), ['Canonical', 'Unchanged']],
    ['a byte order mark', altered('{"action"', '\ufeff{"action"'), ['Canonical', 'Unchanged']],
    ['bytes that are no UTF-8', { ...GOOD, bytes: Uint8Array.from([0x7b, 0xff, 0x7d]) }, ['Canonical', 'Unchanged']],
    ['JSON that is no deed', { ...GOOD, bytes: bytesOf('[]') }, ['Canonical', 'Unchanged']],
    ['null', { ...GOOD, bytes: bytesOf('null') }, ['Canonical', 'Unchanged']],
    ['nesting that never closes', { ...GOOD, bytes: bytesOf('['.repeat(100_000)) }, ['Canonical', 'Unchanged']],
    ['a signature that is no string', withEnvelope({ signature: null as unknown as string }), ['Sealed']],
    ['a key of one character', withKey({ public_key: 'ed25519:A' }), ['Sealed']],
    ['no JSON at all', { ...GOOD, bytes: bytesOf('<!doctype html>') }, ['Canonical', 'Unchanged']],
    ['another hash in the envelope', withEnvelope({ body_hash: `sha256:${'0'.repeat(64)}` }), ['Unchanged']],
    ['another signature', withEnvelope({ signature: `${first === 'A' ? 'B' : 'A'}${rest}` }), ['Sealed']],
    [
      'a signature that is no base64url',
      withEnvelope({ signature: `${envelope.signature.slice(0, -1)}=` }),
      ['Sealed'],
    ],
    ['another key in the envelope', withEnvelope({ kid: '0'.repeat(32) }), ['Sealed']],
    ['another deed than the one that was asked for', { ...GOOD, id: ID.replace('458', '459') }, ['This deed']],
    ['another id in the list', withEnvelope({ id: ID.replace('458', '459') }), ['This deed']],
    ['another time in the list', withEnvelope({ issued_at: '2026-10-01T12:00:00.001Z' }), ['This deed']],
    ['a signature that ends within a byte', withEnvelope({ signature: `${envelope.signature}AAA` }), ['Sealed']],
    ['another sequence number in the envelope', withEnvelope({ seq: 2 }), ['Yours']],
    ['no key', { ...GOOD, keys: [] }, ['Sealed', 'Key valid']],
    ['a key of another id', withKey({ kid: '0'.repeat(32) }), ['Sealed', 'Key valid']],
    ['a key that was activated later', withKey({ activated_at: '2026-10-01T12:00:00.001Z' }), ['Key valid']],
    ['a key that had retired', withKey({ retired_at: '2026-10-01T12:00:00.000Z' }), ['Key valid']],
    ['a key that was revoked', withKey({ revoked_at: '2027-01-01T00:00:00.000Z' }), ['Key valid']],
    ['another organization', { ...GOOD, org: 'org_01j9z3k4m5n6p7q8r9s0t1v2w4' }, ['Yours']],
    ['a next deed that holds another hash', { ...GOOD, after: { ...envelope, prev_hash: null } }, ['Followed']],
  ])('%s', async (_title, given, found) => expect(await failing(given)).toEqual(found));

  it('a key under which one signature fits every message', async () => {
    const digest = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
    // The key is the identity point, R the base point and S one: [S]B = R + [k]A then holds for every k.
    const identity = Buffer.from(`01${'00'.repeat(31)}`, 'hex');
    const signature = Buffer.from(`58${'66'.repeat(31)}01${'00'.repeat(31)}`, 'hex').toString('base64url');
    const kid = digest(identity).slice(0, 32);
    const body = canonical({ ...(JSON.parse(BODY) as object), chain: { kid, prev_hash: null } });
    const forged: Given = {
      ...GOOD,
      bytes: bytesOf(body),
      envelope: { ...envelope, kid, signature, body_hash: `sha256:${digest(body)}` },
      after: null,
      keys: [{ ...KEY, kid, public_key: `ed25519:${identity.toString('base64url')}` }],
    };
    expect(await failing(forged)).toEqual(['Sealed']);
  });
});

describe('the canonical form', () => {
  it('is that of RFC 8785', () => {
    const value = {
      '\u20ac': 1,
      '\r': 2,
      '\ufb33': 3,
      '1': 4,
      '\u{1f600}': 5,
      '\u0080': 6,
      ö: 1e21,
      a: [0.000001, 1e-7, null],
    };
    expect(canonical(value)).toBe(
      '{"\\r":2,"1":4,"a":[0.000001,1e-7,null],"\u0080":6,"ö":1e+21,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
    );
    expect(canonical('\b\t\n\f\r"\\\u0001/')).toBe('"\\b\\t\\n\\f\\r\\"\\\\\\u0001/"');
    expect(() => canonical('\ud800')).toThrow(SyntaxError);
  });
});
