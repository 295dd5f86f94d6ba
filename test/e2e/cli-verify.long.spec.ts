import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SealKeyEntry } from '#libs/crypto';
import {
  at,
  bundleOf,
  contentOf,
  entryOf,
  givenChain,
  KEY,
  keyFrom,
  ORG,
  OTHER_ORG,
} from '../../libs/crypto/src/testing/given-chain.js';
import { runAgs } from '../support/run-ags.js';
import { objectsIn, runInProcess } from '../support/run-program.js';
import { startService } from '../support/service.js';

const DEEDS = 20;
/** Enough for threads to pay. */
const LARGE = 3_000;
const PIN = KEY.publicKey.fingerprint;
const OTHER_PIN = keyFrom('another').publicKey.fingerprint;

let folder: string;
let good: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-verify-'));
  good = await bundleOf(contentOf(givenChain(DEEDS)));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const saved = async (name: string, bytes: Uint8Array | string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
};

interface Verification {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly verdict: Readonly<Record<string, unknown>>;
  readonly error: Readonly<Record<string, unknown>>;
}

const verify = async (bundle: string, ...options: string[]): Promise<Verification> => {
  const run = await runInProcess(['verify', bundle, ...options, '--json']);
  return { ...run, verdict: objectsIn(run.stdout)[0] ?? {}, error: objectsIn(run.stderr)[0] ?? {} };
};

/** As the service publishes it. */
const keySetOf = (...keys: readonly SealKeyEntry[]): string => JSON.stringify({ object: 'seal_key_set', keys });

const trusting = (...pins: string[]): string[] => ['--org', ORG, ...pins.flatMap((pin) => ['--pin', pin])];

/** One deed of the chain, changed in its seal: the link to it holds, the seal does not. */
const withBadSeal = async (seq: number): Promise<Buffer> => {
  const deeds = givenChain(DEEDS).map((deed) =>
    deed.seq === seq ? { ...deed, seal: { ...deed.seal, signature: Buffer.alloc(64, 7).toString('base64url') } } : deed,
  );
  return bundleOf(contentOf(deeds));
};

describe('ags verify', () => {
  it('of an intact bundle ends with 0', async () => {
    const run = await verify(await saved('good.tar.gz', good), ...trusting(PIN));
    expect(run).toMatchObject({
      code: 0,
      stderr: '',
      verdict: {
        object: 'bundle_verdict',
        result: 'intact',
        reason: null,
        first_bad_seq: null,
        deeds: DEEDS,
        last_seq: DEEDS,
      },
    });
    expect(objectsIn(run.stdout)).toHaveLength(1);
  });

  it('reads a bundle from standard input, as a program with no service and no settings', async () => {
    const run = await runAgs(['verify', '-', ...trusting(PIN), '--json'], {
      env: { SERVICE_STATE_DIR: folder },
      input: good,
    });
    expect(run).toMatchObject({ code: 0, stderr: '', object: { result: 'intact', deeds: DEEDS } });
  });

  it.each([
    ['wrong in the middle', () => good.with(good.length >> 1, (good[good.length >> 1] ?? 0) ^ 1)],
    ['that ends in its last deed', () => good.subarray(0, -200)],
    ['that ends in its checksum', () => good.subarray(0, -6)],
  ])('says the same of a file %s as of a pipe that brings it', async (_title, damage) => {
    const bytes = Buffer.from(damage());
    const ofFile = await verify(await saved('damaged.tar.gz', bytes), ...trusting(PIN));
    const ofPipe = await runAgs(['verify', '-', ...trusting(PIN), '--json'], { input: bytes });
    expect(ofFile.code).toBe(1);
    expect(ofPipe).toMatchObject({ code: 1, object: ofFile.verdict });
  });

  it('takes several pins', async () => {
    expect(await verify(await saved('good.tar.gz', good), ...trusting(OTHER_PIN, PIN))).toMatchObject({ code: 0 });
  });

  it('names the first bad seq and ends with 1', async () => {
    const path = await saved('bad.tar.gz', await withBadSeal(7));
    const run = await verify(path, ...trusting(PIN));
    expect(run).toMatchObject({ code: 1, verdict: { result: 'broken', reason: 'bad_signature', first_bad_seq: 7 } });
    const asText = await runInProcess(['verify', path, ...trusting(PIN)]);
    expect(asText.code).toBe(1);
    expect(asText.stdout).toMatch(/^Broken at seq 7\./);
  });

  it('judges a large bundle, for which it starts threads, and ends', async () => {
    const deeds = givenChain(LARGE);
    const last = { ...deeds[LARGE - 1]!, seal: { ...deeds[LARGE - 1]!.seal, signature: deeds[0]!.seal.signature } };
    const whole = await saved('large.tar.gz', await bundleOf(contentOf(deeds)));
    const forged = await saved('forged.tar.gz', await bundleOf(contentOf(deeds.with(-1, last))));
    expect(await runAgs(['verify', whole, ...trusting(PIN), '--json'])).toMatchObject({
      code: 0,
      stderr: '',
      object: { result: 'intact', deeds: LARGE },
    });
    expect(await runAgs(['verify', forged, ...trusting(PIN), '--json'])).toMatchObject({
      code: 1,
      stderr: '',
      object: { result: 'broken', reason: 'bad_signature', first_bad_seq: LARGE },
    });
  });

  it.each([
    [
      'a deed under a key that is not pinned',
      () => good,
      [OTHER_PIN],
      ORG,
      { result: 'broken', reason: 'key_not_pinned', first_bad_seq: 1 },
    ],
    ['another organization’s bundle', () => good, [PIN], OTHER_ORG, { result: 'broken', reason: 'wrong_org' }],
    ['what is no bundle', () => Buffer.from('hello'), [PIN], ORG, { result: 'broken', reason: 'bad_gzip' }],
    [
      'a bundle that ends early',
      () => good.subarray(0, good.length - 100),
      [PIN],
      ORG,
      { result: 'incomplete', reason: 'truncated' },
    ],
    ['an empty file', () => Buffer.alloc(0), [PIN], ORG, { result: 'incomplete', reason: 'truncated' }],
  ])('of %s ends with 1', async (_title, bytes, pins, org, verdict) => {
    const path = await saved('file', bytes());
    const run = await verify(path, '--org', org, ...pins.flatMap((pin) => ['--pin', pin]));
    expect(run).toMatchObject({ code: 1, stderr: '', verdict });
  });

  it('finds a chain that was cut at the end by a head noted elsewhere', async () => {
    const [cut, whole] = [givenChain(DEEDS - 1), givenChain(DEEDS)];
    const path = await saved('cut.tar.gz', await bundleOf(contentOf(cut)));
    expect(await verify(path, ...trusting(PIN))).toMatchObject({ code: 0 });
    const head = `${DEEDS}:${whole.at(-1)?.seal.bodyHash ?? ''}`;
    expect(await verify(path, ...trusting(PIN), '--head', head)).toMatchObject({
      code: 1,
      verdict: { result: 'incomplete', reason: 'tail_missing', first_bad_seq: DEEDS },
    });
  });

  it.each([
    ['a file that is not there', 'nowhere.tar.gz'],
    ['a folder', '.'],
  ])('of %s ends with 2: that says nothing about a bundle', async (_title, name) => {
    const run = await verify(join(folder, name), ...trusting(PIN));
    expect(run).toMatchObject({ code: 2, stdout: '', error: { object: 'error', code: 'file_unusable' } });
  });

  it.each([
    ['no pin', ['--org', ORG]],
    ['no organization', ['--pin', PIN]],
    ['a pin of another form', ['--org', ORG, '--pin', PIN.toUpperCase()]],
    ['a head of another form', ['--org', ORG, '--pin', PIN, '--head', PIN]],
  ])('with %s ends with 2', async (_title, options) => {
    const run = await verify(await saved('good.tar.gz', good), ...options);
    expect(run).toMatchObject({ code: 2, stdout: '', error: { code: 'usage' } });
  });
});

describe('ags verify --keys', () => {
  const other = keyFrom('another');
  const revoked = entryOf(KEY, { revoked_at: at(9_000) });

  it('takes revocations from the file: one that the bundle hides, or that came after it', async () => {
    const path = await saved('unrevoked.tar.gz', good);
    expect(await verify(path, ...trusting(PIN))).toMatchObject({
      code: 0,
      verdict: { result: 'intact', keys_from: 'bundle' },
    });
    const keys = await saved('fetched.json', keySetOf(revoked));
    expect(await verify(path, ...trusting(PIN), '--keys', keys)).toMatchObject({
      code: 1,
      stderr: '',
      verdict: { result: 'broken', reason: 'seal_key_revoked', first_bad_seq: 1, keys_from: 'reader' },
    });
  });

  it('takes windows from the file, when the bundle moved them', async () => {
    const path = await saved('moved.tar.gz', good);
    const keys = await saved('fetched.json', keySetOf(entryOf(KEY, { retired_at: at(7) })));
    expect(await verify(path, ...trusting(PIN), '--keys', keys)).toMatchObject({
      code: 1,
      verdict: { result: 'broken', reason: 'outside_key_window', first_bad_seq: 7, links_intact: true },
    });
  });

  it('lets keys.json of the bundle decide nothing, also not against the file', async () => {
    const path = await saved('revoked.tar.gz', await bundleOf({ ...contentOf(givenChain(DEEDS)), keys: [revoked] }));
    expect(await verify(path, ...trusting(PIN))).toMatchObject({ code: 1, verdict: { reason: 'seal_key_revoked' } });
    const keys = await saved('fetched.json', keySetOf(entryOf(KEY)));
    expect(await verify(path, ...trusting(PIN), '--keys', keys)).toMatchObject({ code: 0 });
  });

  it.each([
    ['of another deployment', [entryOf(other)]],
    ['that lists no key', []],
  ])('knows no key of the bundle by a set %s', async (_title, entries) => {
    const path = await saved('good.tar.gz', good);
    const keys = await saved('fetched.json', keySetOf(...entries));
    expect(await verify(path, ...trusting(PIN, OTHER_PIN), '--keys', keys)).toMatchObject({
      code: 1,
      verdict: { result: 'broken', reason: 'unknown_key', first_bad_seq: 1, links_intact: true },
    });
  });

  it('takes what the service publishes, in any spelling, from standard input too', async () => {
    const options = {
      env: { SERVICE_STATE_DIR: folder },
      input: Buffer.from(`${keySetOf(revoked, entryOf(other))}\n`),
    };
    const path = await saved('good.tar.gz', good);
    expect(await runAgs(['verify', path, ...trusting(PIN), '--keys', '-', '--json'], options)).toMatchObject({
      code: 1,
      stderr: '',
      object: { reason: 'seal_key_revoked', keys: [{ deeds: DEEDS }, { deeds: 0 }] },
    });
    const pretty = JSON.stringify({ keys: [entryOf(KEY)], object: 'seal_key_set' }, null, 2);
    expect(await verify(path, ...trusting(PIN), '--keys', await saved('pretty.json', pretty))).toMatchObject({
      code: 0,
    });
  });

  it('takes the answer of a running service', async () => {
    const service = await startService();
    try {
      const action = { tool: 'nothing.here', args: {} };
      const { json } = await service.call('POST', '/v1/actions', { key: service.agentKey, body: action });
      expect(json).toMatchObject({ error: { action: { state: 'sealed' } } });
      const exported = await fetch(`${service.baseUrl}/v1/deeds/export`, {
        headers: { Authorization: `Bearer ${service.adminKey}` },
      });
      const path = await saved('exported.tar.gz', Buffer.from(await exported.arrayBuffer()));
      const keys = await saved('keys.json', (await service.call('GET', '/.well-known/service/keys.json')).text);
      const { head } = (await service.call('GET', '/v1/ledger/check', { key: service.adminKey })).json as {
        head: { seq: number; body_hash: string };
      };
      const options = ['--org', service.org, '--pin', service.pin, '--head', `${head.seq}:${head.body_hash}`];
      expect(await verify(path, ...options, '--keys', keys)).toMatchObject({
        code: 0,
        verdict: { result: 'intact', keys_from: 'reader', end_from: 'reader' },
      });
    } finally {
      await service.stop();
    }
  });

  it.each([
    ['is not there', () => join(folder, 'nowhere.json'), /nowhere\.json cannot be used: it is not there/],
    ['is a folder', () => folder, /cannot be used: it is a folder/],
    ['is empty', () => saved('empty.json', ''), /empty\.json is not readable as JSON .* Save what GET \/\.well-known/],
    [
      'holds an error of the service',
      () => saved('error.json', '{"error":{"code":"service_unavailable"}}'),
      /is not of the shape of a key set \(at error\)/,
    ],
    [
      'is keys.json of a bundle',
      () => saved('keys.json', JSON.stringify({ keys: [entryOf(KEY)] })),
      /is not of the shape of a key set \(at object\)/,
    ],
    [
      'has another public key under a kid',
      () => saved('forged.json', keySetOf({ ...entryOf(KEY), public_key: other.publicKey.text })),
      new RegExp(`lists another public key under the kid ${KEY.publicKey.kid} than its own`),
    ],
    ['has no end', () => '/dev/zero', /is not readable as JSON \(too_large at byte 4194304\)/],
  ])('with a file that %s ends with 2 and says what to do', async (_title, file, said) => {
    const run = await verify(await saved('good.tar.gz', good), ...trusting(PIN), '--keys', await file());
    expect(run).toMatchObject({ code: 2, stdout: '', error: { code: 'file_unusable' } });
    expect(run.error['message']).toMatch(said);
  });

  it('from the standard input that is the bundle ends with 2', async () => {
    expect(await verify('-', ...trusting(PIN), '--keys', '-')).toMatchObject({
      code: 2,
      stdout: '',
      error: { code: 'usage', message: expect.stringContaining('both the bundle and the key set') as string },
    });
  });
});

describe('the text of ags verify', () => {
  const told = async (...options: string[]): Promise<string> =>
    (await runInProcess(['verify', await saved('good.tar.gz', good), ...trusting(PIN), ...options])).stdout;
  const head = (): string => `${DEEDS}:${givenChain(DEEDS).at(-1)?.seal.bodyHash ?? ''}`;

  it('of an intact bundle says what it rests on and what would prove more', async () => {
    const text = await told();
    expect(text).toMatch(/^Intact: 20 deeds/);
    expect(text).toContain('keys judged by  the windows and revocations of the bundle itself');
    expect(text).toMatch(
      /Not proven.*:\n- when its seal keys were active.*--keys[^]*\n- that the chain ends at seq 20.*--head/,
    );
  });

  it('leaves out what --keys and --head proved', async () => {
    const keys = await saved('fetched.json', keySetOf(entryOf(KEY)));
    expect(await told('--keys', keys)).toContain(`keys judged by  the windows and revocations of --keys ${keys}`);
    expect(await told('--keys', keys)).not.toContain('- when its seal keys');
    expect(await told('--head', head())).not.toContain('- that the chain ends');
    expect(await told('--keys', keys, '--head', head())).not.toContain('Not proven');
  });

  const packedAgain = (): Buffer => {
    // What gzip writes of a file: the flag of a name, then the name.
    const header = Buffer.concat([good.subarray(0, 10), Buffer.from('deeds.tar\0')]);
    header[3] = 0x08;
    return Buffer.concat([header, good.subarray(10)]);
  };

  it.each([
    ['was packed again with its name', packedAgain, /The gzip header .* packed by gzip -n, it is one again\./s],
    ['was unpacked', () => gunzipSync(good), /The file is the archive of a bundle without its gzip.* gzip -n/s],
    ['is one of the files inside', () => Buffer.from('{"seq":1}\n'), /The file is not gzip, as a bundle is\./],
    ['ends with more than it began', () => Buffer.concat([good, good]), /The file is not one whole gzip member/],
  ])('of a file that %s says so', async (_title, bytes, said) => {
    const run = await runInProcess(['verify', await saved('other', bytes()), ...trusting(PIN)]);
    expect(run).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Broken\./) as string });
    expect(run.stdout).toMatch(said);
  });

  it.each([
    ['that is no bundle', () => Promise.resolve(Buffer.from('hello'))],
    ['whose first deed was changed', () => withBadSeal(1)],
  ])('of a file %s does not say whose word its keys were judged by', async (_title, bytes) => {
    const path = await saved('unjudged', await bytes());
    const keys = await saved('fetched.json', keySetOf(entryOf(KEY)));
    for (const options of [[], ['--keys', keys]]) {
      const { stdout } = await runInProcess(['verify', path, ...trusting(PIN), ...options]);
      expect(stdout).toContain('hashes and links hold  for no deed');
      expect(stdout).not.toContain('keys judged by');
    }
  });

  it('does not take an earlier head for the end', async () => {
    const earlier = `3:${givenChain(3).at(-1)?.seal.bodyHash ?? ''}`;
    expect(await told('--head', earlier)).toContain('- that the chain ends at seq 20');
  });
});
