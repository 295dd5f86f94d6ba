import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeVkey, MlDsa44SigningKey, parsePolicy, SIGNATURE_TYPE, SigningKey, vkeyOf } from '#libs/crypto';
import { decodeEvent, streamOf } from '#libs/domain/kernel';
import type { WitnessPolicyEvent } from '#libs/domain/ledger';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

const PATH = '/v1/ledger/witnesses';
const TEXT = { 'Content-Type': 'text/plain', Accept: 'text/plain' };

let bench: PeopleBench;
let owner: Browser;
beforeAll(async () => {
  bench = await PeopleBench.start();
  owner = await bench.ownerBrowser();
});
afterAll(() => bench.close());

const ed25519 = (name: string): string =>
  encodeVkey(vkeyOf(name, SIGNATURE_TYPE.ed25519Cosignature, SigningKey.generate().publicKey.bytes));
const mlDsa44 = (name: string): string =>
  encodeVkey(vkeyOf(name, SIGNATURE_TYPE.mlDsa44Cosignature, new MlDsa44SigningKey(Buffer.alloc(32, 7)).publicKey));
const witness = (name: string, more: object = {}) => ({
  ...{ name, vkey: ed25519(`${name}.example/w`), url: `https://${name}.example` },
  ...more,
});
const put = (body: unknown, headers = {}) => owner.send('PUT', PATH, body, headers);
const read = async () => (await owner.get(PATH)).json;
const events = async (): Promise<readonly WitnessPolicyEvent[]> => {
  const recorded = await bench.deployment.database.store.readStream(streamOf('ledgerwitnesses', bench.org));
  return recorded.map((event) => decodeEvent<WitnessPolicyEvent>(event).event);
};
const NEVER_ASKED = { state: 'never_asked', size: null, at: null, detail: null };

describe('the policy of witnesses', () => {
  it('is empty before anybody has set it', async () => {
    expect(await read()).toEqual({
      ...{ object: 'witness_policy', quorum: 0, witnesses: [], witnessed: null, updated_at: null },
    });
    expect((await owner.get(PATH, { Accept: 'text/plain' })).text).toBe('quorum none\n');
  });

  it('is set as a whole by an owner, and each difference is an event', async () => {
    const [one, two] = [witness('one'), witness('two', { vkey: mlDsa44('two.example/w') })];
    const { status, json } = await put({ quorum: 2, witnesses: [one, two] });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ...{ object: 'witness_policy', quorum: 2, witnessed: null },
      witnesses: [
        { ...one, algorithm: 'ed25519', standing: NEVER_ASKED },
        { ...two, algorithm: 'ml-dsa-44', standing: NEVER_ASKED },
      ],
    });
    expect(await read()).toEqual(json);
    const three = witness('three');
    await put({ quorum: 1, witnesses: [one, three] });
    await put({ quorum: 1, witnesses: [one, three] });
    expect((await events()).map(({ type, data }) => [type, 'name' in data ? data.name : data.quorum])).toEqual([
      ...[
        ['WitnessAdded', 'one'],
        ['WitnessAdded', 'two'],
        ['WitnessPolicyChanged', 2],
      ],
      ...[
        ['WitnessRemoved', 'two'],
        ['WitnessAdded', 'three'],
        ['WitnessPolicyChanged', 1],
      ],
    ]);
  });

  it('is a policy file both ways', async () => {
    const witnesses = ['a', 'b', 'c'].map((name) => witness(name));
    await put({ quorum: 2, witnesses });
    const { text, headers } = await owner.get(PATH, { Accept: 'text/plain' });
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(parsePolicy(Buffer.from(text))).toMatchObject({ quorum: 'witnesses', groups: [{ threshold: 2 }], logs: [] });
    await put({ quorum: 0, witnesses: [] });
    const log = `log ${encodeVkey(vkeyOf('l', SIGNATURE_TYPE.ed25519, SigningKey.generate().publicKey.bytes))}\n`;
    expect(await put(`# ours\n${log}${text}`, TEXT)).toMatchObject({ status: 200, text });
    expect(await read()).toMatchObject({ quorum: 2, witnesses });
    const [a] = witnesses;
    expect(
      (await put(`witness a ${a?.vkey} ${a?.url}/\nquorum a\n`, { 'Content-Type': 'text/plain' })).json,
    ).toMatchObject({
      ...{ quorum: 1, witnesses: [a] },
    });
  });

  it('is an owner’s to set, and every reader’s to read', async () => {
    const send = (method: string, key: Record<string, string>) =>
      fetch(`${bench.url}${PATH}`, {
        method,
        headers: { ...key, 'Content-Type': 'application/json' },
        ...(method === 'PUT' ? { body: JSON.stringify({ quorum: 0, witnesses: [] }) } : {}),
      });
    expect((await send('GET', bench.adminKey)).status).toBe(200);
    expect((await send('PUT', bench.adminKey)).status).toBe(403);
    expect((await send('PUT', bench.agentKey)).status).toBe(403);
  });
});

describe('who is asked no more, or how many fewer are enough, says an owner who signed in less than ten minutes ago', () => {
  const MINUTE = 60_000;
  const TOO_OLD = { status: 403, error: { code: 'recent_sign_in_required', type: 'permission_error', param: null } };
  const [kept, other, third] = [witness('kept'), witness('other'), witness('third')];

  beforeEach(async () => {
    await put({ quorum: 2, witnesses: [kept, other] });
  });

  it.each([
    ['a witness that is removed', { quorum: 1, witnesses: [kept] }],
    ['a witness that is replaced', { quorum: 2, witnesses: [kept, third] }],
    ['a witness that is asked elsewhere', { quorum: 2, witnesses: [kept, { ...other, url: 'https://new.example' }] }],
    ['a quorum that is lowered', { quorum: 1, witnesses: [kept, other] }],
    ['no witness at all', { quorum: 0, witnesses: [] }],
  ])('%s', async (_, weaker) => {
    const before = await read();
    expect(await bench.later(10 * MINUTE, () => put(weaker))).toMatchObject(TOO_OLD);
    expect(await read()).toEqual(before);
    expect(await bench.later(9 * MINUTE, () => put(weaker))).toMatchObject({ status: 200 });
    // It is so already.
    expect(await bench.later(11 * MINUTE, () => put(weaker))).toMatchObject({ status: 200 });
  });

  it('also as a policy file', async () => {
    const text = `witness kept ${kept.vkey} ${kept.url}\nquorum kept\n`;
    expect(await bench.later(10 * MINUTE, () => put(text, { 'Content-Type': 'text/plain' }))).toMatchObject(TOO_OLD);
    expect(await bench.later(9 * MINUTE, () => put(text, { 'Content-Type': 'text/plain' }))).toMatchObject({
      status: 200,
    });
  });

  it('and whoever adds one, or has more of them be enough, may have signed in long ago', async () => {
    const more = { quorum: 2, witnesses: [kept, other, third] };
    expect(await bench.later(11 * MINUTE, () => put(more))).toMatchObject({ status: 200 });
    expect(await bench.later(11 * MINUTE, () => put({ ...more, quorum: 3 }))).toMatchObject({ status: 200 });
  });
});

describe('whoever says which policy was read', () => {
  const [one, two] = [witness('one'), witness('two')];
  const expecting = (at: unknown, witnesses: readonly object[]) =>
    put({ quorum: 1, witnesses, expected_updated_at: at });

  it('replaces no other one, and may send the same again', async () => {
    await put({ quorum: 0, witnesses: [] });
    const { updated_at: before } = await read();
    expect(await bench.later(1_000, () => expecting(before, [one]))).toMatchObject({ status: 200 });
    const { json, status, error } = await bench.later(2_000, () => expecting(before, [one, two]));
    expect([status, error['code'], error['param']]).toEqual([409, 'conflict', 'expected_updated_at']);
    expect(json['updated_at']).toBeUndefined();
    expect((await bench.later(2_000, () => expecting(before, [one]))).status).toBe(200);
    expect((await expecting(null, [two])).status).toBe(409);
    const { updated_at: now, witnesses } = await read();
    expect(witnesses).toMatchObject([one]);
    expect((await bench.later(3_000, () => expecting(now, [one, two]))).status).toBe(200);
  });

  it('has read it in an answer', async () => {
    for (const at of ['yesterday', 7, '2026-10-01T12:00:00Z']) {
      const { status, error } = await expecting(at, [one]);
      expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', 'expected_updated_at']);
    }
  });
});

/** An expression for the slashes at an end took eleven seconds for them. */
const SLASHES = `https://one.example${'/'.repeat(60_000)}x`;
const LOG_KEY = encodeVkey(vkeyOf('log', SIGNATURE_TYPE.ed25519, SigningKey.generate().publicKey.bytes));
const [ONE, TWO] = [witness('one'), witness('two')];

describe('a policy of witnesses is refused', () => {
  it.each([
    ['a key that is none', [{ ...ONE, vkey: 'w1' }], 1, 'witnesses[0].vkey', 'is no verifier key'],
    ['a key of a log', [{ ...ONE, vkey: LOG_KEY }], 1, 'witnesses[0].vkey', 'is the key of a log'],
    [
      'a key whose id is another’s',
      [{ ...ONE, vkey: ONE.vkey.replace(/\+[0-9a-f]{8}\+/, '+00000000+') }],
      ...([1, 'witnesses[0].vkey', 'has another key id'] as const),
    ],
    ['two of one key', [ONE, { ...TWO, vkey: ONE.vkey }], 1, 'witnesses[1].vkey', 'is the key of witnesses[0]'],
    [
      'two keys of one witness',
      [ONE, { ...TWO, vkey: ed25519('one.example/w') }],
      ...([1, 'witnesses[1].vkey', 'it would count twice'] as const),
    ],
    ['two of one name', [ONE, { ...TWO, name: 'one' }], 1, 'witnesses[1].name', 'is the name of witnesses[0]'],
    ['two at one URL', [ONE, { ...TWO, url: `${ONE.url}/` }], 1, 'witnesses[1].url', 'is the URL of witnesses[0]'],
    ['plain text', [{ ...ONE, url: 'http://one.example' }], 1, 'witnesses[0].url', 'must begin with https://'],
    ['a query', [{ ...ONE, url: 'https://one.example/?a' }], 1, 'witnesses[0].url', 'must have no query'],
    ['an address of many slashes', [{ ...ONE, url: SLASHES }], 1, 'witnesses[0].url', 'at most 2048 characters'],
    ['a key name that no file can hold', [{ ...ONE, vkey: ed25519('a\x7fb') }], 1, 'witnesses[0].vkey', 'control'],
    ['a name with a space', [{ ...ONE, name: 'a b' }], 1, 'witnesses[0].name', 'without spaces'],
    ['the name of no quorum', [{ ...ONE, name: 'none' }], 1, 'witnesses[0].name', 'must not be none'],
    ['a quorum above their number', [ONE, TWO], 3, 'quorum', 'at most the number of witnesses, 2'],
    ['no quorum of some', [ONE], 0, 'quorum', 'must be from 1 to 1'],
    ['more than eight', Array.from({ length: 9 }, (_, at) => witness(`w${at}`)), 1, 'witnesses', 'at most 8'],
  ])('for %s', async (_, witnesses, quorum, param, message) => {
    const before = await read();
    const { status, error } = await put({ quorum, witnesses });
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', param]);
    expect(error['message']).toContain(message);
    expect(await read()).toEqual(before);
  });

  it('for an address that is not open to it', async () => {
    const { status, error } = await put({ quorum: 1, witnesses: [{ ...ONE, url: 'https://127.0.0.1' }] });
    expect([status, error['code'], error['param']]).toEqual([400, 'destination_blocked', 'witnesses[0].url']);
  });

  it.each([
    ['', 'no_quorum'],
    ['quorum none', 'unterminated'],
    [`witness one ${ONE.vkey}\nquorum one\n`, 'has no URL'],
    [`witness one ${ONE.vkey} ${ONE.url}\nwitness two ${TWO.vkey} ${TWO.url}\nquorum one\n`, 'one group with all'],
    [`witness one nonsense ${ONE.url}\nquorum one\n`, 'vkey in line 1'],
    [`witness one ${ONE.vkey} ${ONE.url}\nquorum none\n`, 'must be from 1 to 1'],
  ])('for the file %j', async (text, message) => {
    const { status, error } = await put(text, { 'Content-Type': 'text/plain' });
    expect([status, error['code']]).toEqual([400, 'validation_failed']);
    expect(error['message']).toContain(message);
  });

  it('for a body that is neither JSON nor text', async () => {
    const { status, error } = await put('a: 1', { 'Content-Type': 'application/yaml' });
    expect([status, error['code']]).toEqual([415, 'unsupported_media_type']);
    expect(error['message']).toContain('text/plain');
  });
});
