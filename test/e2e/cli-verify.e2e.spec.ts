import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bundleOf,
  contentOf,
  givenChain,
  KEY,
  keyFrom,
  ORG,
  OTHER_ORG,
} from '../../libs/crypto/src/testing/given-chain.js';
import { runAgs } from '../support/run-ags.js';
import { objectsIn, runInProcess } from '../support/run-program.js';

const DEEDS = 20;
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
