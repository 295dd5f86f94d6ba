import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyBundle } from '#libs/crypto';
import { honestBundle, HONEST_OPTIONS } from '../../libs/crypto/src/testing/bundle-attacks.js';
import { streamOf } from '../../libs/crypto/src/testing/given-chain.js';
import { verdictText } from '../../apps/cli/src/commands/verdict-text.js';

const ENTRIES = ['manifest.json', 'keys.json', 'deeds.ndjson'];
const ORIGINAL = 'Take the file that the export answered, unchanged.';

let folder: string;
let bundle: Buffer;

beforeAll(async () => {
  bundle = await honestBundle();
  folder = mkdtempSync(join(tmpdir(), 'repacked-'));
  writeFileSync(join(folder, 'bundle.tar'), gunzipSync(bundle));
  execFileSync('tar', ['-xf', 'bundle.tar', ...ENTRIES], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The files of the bundle, packed again by tar. */
const repacked = (...args: string[]): Buffer =>
  gzipSync(execFileSync('tar', ['-cf', '-', '-C', folder, ...args], { encoding: 'buffer' }));

const said = async (bytes: Buffer): Promise<string> =>
  verdictText(await verifyBundle(streamOf([bytes]), HONEST_OPTIONS), undefined, bytes.subarray(0, 2_048));

describe('of a bundle that was packed again, a person is told', () => {
  it('what its headers say that a bundle does not, and to take the original', async () => {
    const text = await said(repacked('--mtime=2026-11-01', '--owner=somebody:1000', ...ENTRIES));
    expect(text).toContain('an owner');
    expect(text).toContain('a time');
    expect(text).toContain(ORIGINAL);
  });

  it('which file stands first where another must', async () => {
    const text = await said(repacked(...ENTRIES.map((name) => `./${name}`)));
    expect(text).toContain('The first file of the archive is called "./manifest.json"');
    expect(text).toContain(ORIGINAL);
  });

  it('that the fault stands behind the first header', async () => {
    const text = await said(gzipSync(Buffer.concat([gunzipSync(bundle), Buffer.alloc(512)])));
    expect(text).toContain('behind its first header');
    expect(text).toContain(ORIGINAL);
  });

  it('nothing that drives a terminal', async () => {
    const tar = gunzipSync(bundle);
    tar.write('\u009b31m', 0, 'latin1');
    expect(await said(gzipSync(tar))).toContain('"?31mfest.json"');
  });
});
