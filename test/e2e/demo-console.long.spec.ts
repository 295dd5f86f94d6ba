import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentWith } from '../support/environment.js';
import { callAt, ROOT, temporaryStateDir } from '../support/service.js';
import { upToDate } from '../support/up-to-date.js';

const DEADLINE_MS = 600_000;
const TWO_WEEKS_MS = 14 * 24 * 3_600_000;

let folder: string;
let demo: ChildProcess;
let printed = '';
let baseUrl: string;
let headers: Record<string, string>;

const said = (words: RegExp): Promise<RegExpExecArray> =>
  new Promise((resolve, reject) => {
    const look = (): void => {
      const found = words.exec(printed);
      if (found) resolve(found);
    };
    demo.stdout?.on('data', look);
    demo.once('exit', () => reject(new Error(`the demo ended:\n${printed}`)));
    look();
  });

beforeAll(async () => {
  folder = await temporaryStateDir();
  demo = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'demo', '--console'], {
    cwd: ROOT,
    env: environmentWith({ TMPDIR: folder }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [demo.stdout, demo.stderr]) stream?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const [, url = '', token = ''] = await said(/(http:\/\/\S+)\/auth\/confirm#token=(\S+)/);
  baseUrl = url;
  const answer = await callAt(baseUrl, 'POST', '/v1/auth/callback', { body: { token } });
  const cookies = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  headers = { Cookie: cookies.join('; ') };
}, DEADLINE_MS);
afterAll(async () => {
  demo?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const read = async (path: string): Promise<Record<string, unknown>> => {
  const { status, json, text } = await upToDate(() => callAt(baseUrl, 'GET', path, { headers }));
  expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, '']);
  return json;
};
const rows = async (path: string): Promise<readonly Record<string, unknown>[]> =>
  (await read(path))['data'] as Record<string, unknown>[];

describe('npm run demo -- --console', () => {
  it('signs its visitor in as an owner', async () => {
    expect(await read('/v1/me')).toMatchObject({ membership: { role: 'owner' }, org: { name: 'Nordlicht Outdoor' } });
  });

  it.each([
    ['calls that ran', 'execution=succeeded'],
    ['calls that were refused', 'decision=deny'],
    ['calls that failed', 'execution=failed'],
    ['calls of which nobody knows what they did', 'execution=unknown'],
    ['changes that were read back as another', 'verdict=MISMATCH'],
    ['changes that were read back', 'verdict=VERIFIED&level=L1'],
  ])('shows %s', async (_what, filter) => {
    expect((await rows(`/v1/actions?${filter}`)).length).toBeGreaterThan(0);
  });

  it('shows what needs people, a stopped agent, and a version in shadow', async () => {
    expect((await rows('/v1/approvals')).length).toBe(2);
    expect(await rows('/v1/agents?status=stopped')).toMatchObject([{ name: 'import-agent' }]);
    const policies = await rows('/v1/policies');
    expect(
      policies.some(({ enforced_version, shadow_version }) => enforced_version !== null && shadow_version !== null),
    ).toBe(true);
    expect((await rows('/v1/actions?shadow_differs=true')).length).toBeGreaterThan(0);
    expect((await rows('/v1/approvals?status=denied,expired')).length).toBeGreaterThan(1);
  });

  it('has happened over two weeks, in one chain that holds', async () => {
    const before = new Date(Date.now() - TWO_WEEKS_MS + 86_400_000).toISOString();
    expect((await rows(`/v1/actions?created_at[lt]=${before}`)).length).toBeGreaterThan(0);
    expect(await read('/v1/ledger/check?last=10000')).toMatchObject({ result: 'intact' });
  });

  it(
    'ends with Ctrl-C, and leaves nothing behind',
    async () => {
      const exited = once(demo, 'exit');
      demo.kill('SIGINT');
      expect(await exited).toEqual([130, null]);
      expect(await readdir(folder)).toEqual([]);
    },
    DEADLINE_MS,
  );
});
