import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, ORG, packed } from '../../libs/crypto/src/testing/given-chain.js';
import { vkeyText } from '../../libs/crypto/src/testing/given-witnessed.js';
import {
  HELD,
  encoded,
  ledgerKey,
  linesOf,
  witnessed,
  witnessedBundle,
} from '../../libs/crypto/src/testing/witnessed-bundle.js';
import { objectsIn, runInProcess } from '../support/run-program.js';

const TRUST = ['--org', ORG, '--pin', KEY.publicKey.fingerprint];
const UNPACKED = 'it was unpacked. Packed by gzip -n';

let folder: string;
let changed: string;
let unpacked: string;
let pipe: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'refused-'));
  const lines = encoded(linesOf(witnessed.slice(0, HELD))).map((line) =>
    Buffer.from(line.toString().replace('"amount":80.5', '"amount":80.6')),
  );
  changed = join(folder, 'changed.tar.gz');
  await writeFile(changed, await packed(await witnessedBundle({ lines })));
  unpacked = join(folder, 'unpacked.tar.gz');
  await writeFile(unpacked, gunzipSync(await packed(await witnessedBundle())));
  pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
});
afterAll(() => rm(folder, { recursive: true }));

describe('a bundle that is refused', () => {
  it.each([
    ['list', () => [changed]],
    ['find', () => [changed]],
    ['show', () => [changed, 'act_01h2xcejqtf2nbrexx3vqjhp46']],
    ['html', () => [changed, join(folder, 'pages')]],
  ])('is one error object for a program: bundle %s', async (command, args) => {
    const { code, stdout, stderr } = await runInProcess(['bundle', command, ...args(), ...TRUST, '--json']);
    expect([code, stdout, stderr.split('\n').length]).toEqual([1, '', 2]);
    expect(objectsIn(stderr)).toEqual([
      { object: 'error', code: 'bundle_not_intact', message: expect.stringContaining('Broken at seq 1.') as string },
    ]);
  });

  it.each([
    ['with pins', TRUST, 1],
    ['without pins', [], 2],
  ])('is told to be unpacked, as by verify, %s', async (_, trust, exitCode) => {
    const { code, stderr } = await runInProcess(['bundle', 'list', unpacked, ...trust]);
    expect([code, stderr]).toEqual([exitCode, expect.stringContaining(UNPACKED)]);
    expect((await runInProcess(['verify', unpacked, ...TRUST])).stdout).toContain(UNPACKED);
  });

  it('is told to be a pipe, before anything is read from it', async () => {
    const { code, stderr } = await runInProcess(['bundle', 'list', pipe, ...TRUST]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('save it to a file')]);
    expect((await runInProcess(['ledger', 'compare', pipe, changed])).code).toBe(2);
  });

  it('has a name that says nothing in the program’s place', async () => {
    const name = join(folder, 'a\nIntact: all of it');
    const answers = await Promise.all([
      runInProcess(['verify', name, ...TRUST]),
      runInProcess(['verify', changed, ...TRUST, '--keys', name]),
      runInProcess(['verify', changed, ...TRUST, '--witnesses', name]),
      runInProcess(['ledger', 'compare', name, changed]),
      runInProcess(['bundle', 'list', name]),
    ]);
    for (const { stderr } of answers) expect(stderr).toContain('a\\u000aIntact');
  });

  it('is not judged by a checkpoint key whose digits are of another one', async () => {
    const vkey = vkeyText(ledgerKey).replace(/\+[0-9a-f]{8}\+/, '+00000000+');
    const { code, stderr } = await runInProcess(['verify', changed, ...TRUST, '--checkpoint-key', vkey]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('not those of this name and this key')]);
  });
});
