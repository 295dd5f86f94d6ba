import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleOf, contentOf, givenChain, KEY, ORG } from '../../libs/crypto/src/testing/given-chain.js';
import { environmentWith } from '../support/environment.js';
import { removeStateDir, ROOT, temporaryStateDir } from '../support/service.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-npm-'));
  await writeFile(join(folder, 'deeds.tar.gz'), await bundleOf(contentOf(givenChain(3))));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** npm itself, as a person or a script calls it. */
const npm = async (cwd: string, args: readonly string[], settings: Readonly<Record<string, string>> = {}) => {
  const env = { ...environmentWith(settings), npm_config_update_notifier: 'false' };
  const child = spawn('npm', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
};

const TRUST = ['--org', ORG, '--pin', KEY.publicKey.fingerprint];

describe('npm run ags', () => {
  it('takes relative paths from the folder that it is called in, wherever the project is', async () => {
    const args = ['--prefix', ROOT, 'run', '--silent', 'ags', '--', 'verify', './deeds.tar.gz', ...TRUST, '--json'];
    const { code, stdout } = await npm(folder, args);
    expect(JSON.parse(stdout)).toMatchObject({ result: 'intact', deeds: 3 });
    expect(code).toBe(0);
  });

  it('takes them from there too when that is a folder of the project', async () => {
    const run = await npm(join(ROOT, 'docs'), ['run', '--silent', 'ags', '--', 'verify', 'nothing.tar.gz', ...TRUST]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(`${join(ROOT, 'docs', 'nothing.tar.gz')} cannot be used: it is not there.`);
  });

  it('is what the help calls it, so that it can be copied', async () => {
    const { code, stdout } = await npm(ROOT, ['run', '--silent', 'ags', '--', 'keys', 'roll', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run ags -- keys roll \[options\] <key>/);
    expect(stdout).toContain('$ npm run ags -- keys roll svc_live_k3y9prf0 --overlap 0');
  });

  it('names a next step that can be run as it stands', async () => {
    const stateDir = await temporaryStateDir();
    const settings = { SERVICE_STATE_DIR: stateDir };
    const { stderr } = await npm(ROOT, ['run', '--silent', 'ags', '--', 'keys', 'list'], settings);
    const [, step = ''] = /`(npm .*?)`/.exec(stderr) ?? [];
    expect(step).toBe('npm run ags -- init');
    expect(await npm(ROOT, step.split(' ').slice(1), settings)).toMatchObject({ code: 0 });
    const listed = await npm(ROOT, ['run', '--silent', 'ags', '--', 'keys', 'list'], settings);
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('svc_live_') });
    await removeStateDir(stateDir);
  });
});
