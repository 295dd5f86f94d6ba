import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { encodeVkey, parsePublicKeyText } from '#libs/crypto';
import { checkpointVkey } from '#libs/domain/ledger';
import { environmentWith } from '../support/environment.js';
import { type Browser, PeopleBench } from '../support/people-bench.js';
import { runAgs } from '../support/run-ags.js';
import { ROOT } from '../support/service.js';

/** The service in development, and the witness as a customer runs it: a process of its own behind HTTP. */
let bench: PeopleBench;
let owner: Browser;
let folder: string;
let witness: { readonly child: ChildProcess; readonly url: string; readonly vkeys: readonly string[] };

const make = async () => (await owner.post('/v1/ledger/checkpoint')).json;
const publicKeyAt = async (path: string): Promise<string> => {
  const { keys } = (await owner.get(path)).json as { keys: { public_key: string }[] };
  return keys[0]?.public_key ?? '';
};

beforeAll(async () => {
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  owner = await bench.ownerBrowser();
  folder = await mkdtemp(join(tmpdir(), 'witnessed-'));
  await vi.waitFor(async () => expect((await owner.post('/v1/ledger/checkpoint')).status).toBe(200), 20_000);
  witness = await served(await publicKeyAt('/.well-known/service/checkpoint-keys.json'));
});
afterAll(async () => {
  witness.child.kill('SIGTERM');
  await bench.close();
  await rm(folder, { recursive: true });
});

const served = async (publicKey: string): Promise<typeof witness> => {
  const state = join(folder, 'witness');
  const { code } = await runAgs(['witness', 'init', '--state', state, '--name', 'partner.example/w1']);
  expect(code).toBe(0);
  const trust = ['--trust', 'ags.example.com/ledger', publicKey];
  const args = ['witness', 'serve', '--state', state, ...trust, '--port', '0', '--json'];
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'cli', ...args], {
    cwd: ROOT,
    env: environmentWith({}),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, ...(JSON.parse(line) as { url: string; vkeys: string[] }) };
};

it('is witnessed from the policy to the verdict on a bundle', async () => {
  const witnesses = [{ name: 'partner', vkey: witness.vkeys[0], url: witness.url }];
  expect((await owner.send('PUT', '/v1/ledger/witnesses', { quorum: 1, witnesses })).status).toBe(200);
  expect((await owner.get('/v1/ledger/checkpoint?witnessed=true')).error['code']).toBe('not_found');

  const made = await make();
  expect(made).toMatchObject({
    ...{ quorum: 'met', witnessed_by: [{ name: 'partner' }] },
    witnesses: [{ name: 'partner', state: 'current', detail: null }],
  });
  expect((await owner.get('/v1/ledger/checkpoint?witnessed=true')).text).toBe(made['note']);
  expect((await owner.get('/v1/ledger/witnesses')).json).toMatchObject({
    witnesses: [{ standing: { state: 'current', size: made['size'], next_try_at: null } }],
    witnessed: { size: made['size'] },
  });
  const json = { Accept: 'application/json' };
  expect((await owner.get('/v1/ledger/checkpoints?covering=1', json)).json).toMatchObject({
    ...{ object: 'checkpoint', quorum: 'met', size: made['size'], witnessed_by: [{ name: 'partner' }] },
  });

  const [bundle, policy] = [join(folder, 'deeds.tar.gz'), join(folder, 'policy.txt')];
  const exported = await fetch(`${bench.url}/v1/deeds/export?format=service.bundle/2`, { headers: bench.adminKey });
  await writeFile(bundle, Buffer.from(await exported.arrayBuffer()));
  await writeFile(policy, (await owner.get('/v1/ledger/witnesses', { Accept: 'text/plain' })).text);
  const pin = parsePublicKeyText(await publicKeyAt('/.well-known/service/keys.json')).fingerprint;
  const log = checkpointVkey(
    `ags.example.com/ledger/${bench.org}`,
    await publicKeyAt('/.well-known/service/checkpoint-keys.json'),
  );
  const asked = ['--checkpoint-key', encodeVkey(log), '--witnesses', policy];
  const { object, code } = await runAgs(['verify', bundle, '--org', bench.org, '--pin', pin, ...asked, '--json']);
  expect([code, object]).toMatchObject([
    0,
    { quorum: 'met', end_from: 'witnesses', witnesses: [{ name: 'partner', counts: true }] },
  ]);
});

it('is asked about by passes of the worker alone, too', async () => {
  expect((await owner.send('PATCH', '/v1/org', { name: 'Another' })).status).toBe(200);
  const before = ((await owner.get('/v1/ledger/witnesses')).json['witnessed'] as { size: number }).size;
  // The minute of the checkpoint, and the quarter of one of the witnesses.
  await vi.waitFor(
    async () => {
      const { witnessed } = (await owner.get('/v1/ledger/witnesses')).json as { witnessed: { size: number } };
      expect(witnessed.size).toBeGreaterThan(before);
    },
    { timeout: 100_000, interval: 2_000 },
  );
});
