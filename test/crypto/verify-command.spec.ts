import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeVkey } from '#libs/crypto';
import { KEY, ORG, packed, rawOf } from '../../libs/crypto/src/testing/given-chain.js';
import {
  anna,
  BOTH_TEXT,
  HELD,
  ledgerKey,
  noteText,
  treeText,
  witnessed,
  witnessedBundle,
} from '../../libs/crypto/src/testing/witnessed-bundle.js';
import { objectsIn, runInProcess } from '../support/run-program.js';

const VKEY = encodeVkey(ledgerKey.vkey);

let folder: string;
let bundle: string;
let policy: string;

const saved = async (name: string, bytes: Uint8Array | string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
};

const verify = (path: string, ...options: readonly string[]) =>
  runInProcess(['verify', path, '--org', ORG, '--pin', KEY.publicKey.fingerprint, ...options]);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-witnessed-'));
  bundle = await saved('bundle.tar.gz', await packed(await witnessedBundle()));
  policy = await saved('policy.txt', BOTH_TEXT);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('ags verify of a bundle with a checkpoint', () => {
  it('asks the witnesses of the policy, and says who has seen it and what is given', async () => {
    const { code, stdout } = await verify(bundle, '--checkpoint-key', VKEY, '--witnesses', policy, '--json');
    expect(code).toBe(0);
    expect(objectsIn(stdout)[0]).toMatchObject({ result: 'intact', quorum: 'met', evidence: { removed: 1 } });
    const { stdout: text } = await verify(bundle, '--witnesses', policy);
    expect(text).toMatch(/checkpoint +of 12 deeds by governance\.example.*, signed by a key you trust/);
    expect(text).toMatch(/witnessed +by anna, 2026-09-21T14:14:20\.000Z/);
    expect(text).toMatch(
      /evidence +\d+ given, 1 removed by retention, 1 missing, 0 not given, 4 by the service’s word/,
    );
  });

  it('ends with 1 where too few of them have cosigned, or there is no checkpoint', async () => {
    const note = noteText(treeText(witnessed), ledgerKey, anna);
    const one = await saved('one.tar.gz', await packed(await witnessedBundle({ note })));
    const { code, stdout } = await verify(one, '--witnesses', policy);
    expect([code, stdout.split('\n')[0]]).toEqual([1, 'Incomplete.']);
    expect(stdout).toMatch(/quorum +too few witnesses/);
    const none = await saved('none.tar.gz', await packed(rawOf(witnessed.slice(0, HELD))));
    expect((await verify(none, '--checkpoint-key', VKEY)).code).toBe(1);
    expect((await verify(none)).code).toBe(0);
  });

  it('trusts no other log', async () => {
    const other = encodeVkey(anna.vkey);
    expect((await verify(bundle, '--checkpoint-key', other)).code).toBe(2);
  });

  it.each([
    [
      'a file that is no policy',
      async () => ['--witnesses', await saved('none.txt', 'quorum\n')],
      /is no policy of witnesses/,
    ],
    [
      'a policy without a log',
      async () => ['--witnesses', await saved('log.txt', 'quorum none\n')],
      /--checkpoint-key/,
    ],
    ['a file that is not there', () => Promise.resolve(['--witnesses', join(folder, 'absent')]), /absent/],
    ['a key that is none', () => Promise.resolve(['--checkpoint-key', 'key']), /verifier key of a log/],
  ])('ends with 2 for %s', async (_name, options, message) => {
    const { code, stderr } = await verify(bundle, ...(await options()));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
