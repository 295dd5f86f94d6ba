import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRoot, STRANGER } from '../support/as-stranger.js';
import { runAgsHere, type AgsRun } from '../support/run-ags.js';
import { removeStateDir, ROOT, startService, temporaryStateDir, type RunningService } from '../support/service.js';
import { upToDate } from '../support/up-to-date.js';

let service: RunningService;
let folder: string;
let restoredDir: string;
let restored: RunningService | null = null;
let file: string;
/** Has deeds of its beginning, and seals nothing after the backup. */
let quietOrg: string;
/** Of the tree that the service signs. */
let origin: string;
/** Sealed while the backup was taken. */
let sealed: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-backup-'));
  restoredDir = join(await temporaryStateDir(), 'restored');
  service = await startService({ env: { LOG_LEVEL: 'error' } });
  for (let number = 0; number < 5; number += 1) await act(service);
  quietOrg = String((await ags(service.stateDir, 'org', 'create', 'Quiet')).object['id']);
  expect(await ags(service.stateDir, 'org', 'stop', '--org', quietOrg)).toMatchObject({ code: 0 });
  // Its first checkpoint, whose key a deed registers, comes by itself within a minute: now, and not after the backup.
  expect(await ags(service.stateDir, 'ledger', 'checkpoint', '--org', quietOrg)).toMatchObject({ code: 0 });
  [file, sealed] = await backUpUnderCalls();
});
afterAll(async () => {
  await restored?.stop();
  await service?.stop();
  await removeStateDir(restoredDir);
  await rm(folder, { recursive: true, force: true });
});

const act = async (where: RunningService, key = service.agentKey): Promise<void> => {
  const body = { tool: 'crm.read', args: { at: Date.now() } };
  const answer = await where.call('POST', '/v1/actions', { key, body });
  expect(answer.error['action']).toMatchObject({ state: 'sealed' });
};

const ags = (stateDir: string, ...args: string[]): Promise<AgsRun> =>
  runAgsHere([...args, '--json'], { env: { SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0' } });

const headOf = (head: string): string[] => ['--org', service.org, '--head', head];

const backUpUnderCalls = async (): Promise<[string, number]> => {
  let isRunning = true;
  let count = 0;
  const calling = (async () => {
    for (; isRunning; count += 1) await act(service);
  })();
  const run = await ags(service.stateDir, 'backup', '--output', folder);
  isRunning = false;
  await calling;
  expect(run).toMatchObject({ code: 0, stderr: '', object: { object: 'backup' } });
  return [String(run.object['file']), count];
};

describe('ags backup, beside a running service', () => {
  it('writes one file, for its owner alone, and hinders no call', async () => {
    expect(sealed).toBeGreaterThan(3);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(file).toMatch(/ags-backup-\d{8}T\d{6}Z\.tar\.gz$/);
    expect(readdirSync(folder)).toEqual([file.slice(folder.length + 1)]);
    const listed = spawnSync('tar', ['tzf', file], { encoding: 'utf8' });
    expect([listed.status, listed.stderr]).toEqual([0, '']);
    for (const name of ['manifest.json', 'keys/pepper.key', 'keys/vault.key', 'postgres/backup_label', 'SHA256']) {
      expect(listed.stdout.split('\n')).toContain(name);
    }
  });

  it('takes a name that ends with a slash for a folder, and makes none', async () => {
    const missing = await ags(service.stateDir, 'backup', '--output', `${join(folder, 'not-mounted')}/`);
    expect(missing).toMatchObject({ code: 2, error: { code: 'file_unusable' } });
    expect(missing.error['message']).toContain('not-mounted/ is no folder');
    expect(readdirSync(folder)).not.toContain('not-mounted');
  });

  it('writes over no file', async () => {
    const path = join(folder, 'kept.tar.gz');
    await writeFile(path, 'kept');
    expect(await ags(service.stateDir, 'backup', '--output', path)).toMatchObject({
      code: 2,
      error: { code: 'file_unusable' },
    });
    expect(await readFile(path, 'utf8')).toBe('kept');
  });

  it('says that the target is full, and leaves nothing there', async () => {
    const target = join(folder, 'full');
    await mkdir(target);
    // The limit of a file's size stands for the end of a disk: the write fails in the middle.
    const command = `ulimit -f 64; exec "$0" "$@"`;
    const args = [join(ROOT, 'scripts', 'run.mjs'), 'cli', 'backup', '--output', target, '--json'];
    const child = spawn('bash', ['-c', command, process.execPath, ...args], {
      cwd: ROOT,
      env: service.environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, JSON.parse(said)]).toEqual([2, expect.objectContaining({ code: 'file_unusable' })]);
    expect(readdirSync(target)).toEqual([]);
    await act(service);
  });

  it('says that a folder cannot be written to', async () => {
    const run = await ags(service.stateDir, 'backup', '--output', '/proc/ags-backup.tar.gz');
    expect(run).toMatchObject({ code: 2, stdout: '', error: { code: 'file_unusable' } });
  });

  it('leaves nothing when it is interrupted', async () => {
    const target = join(folder, 'interrupted');
    await mkdir(target);
    const args = [join(ROOT, 'scripts', 'run.mjs'), 'cli', 'backup', '--output', target];
    const child = spawn(process.execPath, args, { cwd: ROOT, env: service.environment, stdio: 'ignore' });
    while (readdirSync(target).length === 0) await new Promise((resolve) => setImmediate(resolve));
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(readdirSync(target)).toEqual([]);
  });

  it('leaves a database of its own to its own means', async () => {
    const run = await runAgsHere(['backup', '--json'], {
      env: { ...service.environment, DATABASE_URL: 'postgres://ags:canary@127.0.0.1:1/service' },
    });
    expect(run).toMatchObject({ code: 2, error: { code: 'external_database' } });
    expect(run.error['message']).toContain('which this command cannot back up.');
  });
});

describe('ags restore', () => {
  const refused = async (bytes: Buffer): Promise<AgsRun> => {
    const path = join(folder, 'damaged.tar.gz');
    const stateDir = join(folder, 'never');
    await writeFile(path, bytes);
    const run = await ags(stateDir, 'restore', path);
    expect(existsSync(stateDir), 'a refused command changes nothing').toBe(false);
    return run;
  };

  it('refuses a file that was cut or changed, and puts nothing in place', async () => {
    const bytes = await readFile(file);
    const cuts = [0, 5, 1_000, Math.floor(bytes.length / 2), bytes.length - 1].map((end) => bytes.subarray(0, end));
    const flips = [12, 5_000, Math.floor(bytes.length / 3), bytes.length - 6].map((at) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      return changed;
    });
    for (const damaged of [...cuts, ...flips, Buffer.concat([bytes, Buffer.of(0)]), Buffer.from('hello')]) {
      expect(await refused(damaged)).toMatchObject({ code: 1, stdout: '', error: { code: 'backup_unusable' } });
    }
  });

  it('refuses a state directory that holds something, and a file that is not there', async () => {
    const run = await ags(service.stateDir, 'restore', file);
    expect(run).toMatchObject({ code: 1, error: { code: 'backup_unusable' } });
    expect(run.error['message']).toContain('is not empty');
    await act(service);
    expect(await ags(join(folder, 'never'), 'restore', '/nowhere')).toMatchObject({
      code: 2,
      error: { code: 'file_unusable' },
    });
  });

  it.runIf(isRoot)('puts nothing into a folder of another user, as root neither', async () => {
    const foreign = join(folder, 'foreign');
    await mkdir(foreign);
    await chown(foreign, STRANGER, STRANGER);
    const run = await ags(foreign, 'restore', file);
    expect(run).toMatchObject({ code: 2, stdout: '', error: { code: 'file_unusable' } });
    expect(run.error['message']).toContain(`belongs to user ${STRANGER}`);
    expect(readdirSync(foreign)).toEqual([]);
  });

  it('makes the deployment anew: the log whole, the chain one with that of the other', async () => {
    const run = await ags(restoredDir, 'restore', file);
    expect(run).toMatchObject({ code: 0, stderr: '', object: { object: 'restore', state_dir: restoredDir } });
    expect(existsSync(join(restoredDir, 'keys', 'pepper.key'))).toBe(true);
    expect(await ags(restoredDir, 'audit')).toMatchObject({ code: 0, object: { result: 'intact' } });
    const head = String(run.object['head']);
    const [own, other] = [
      await ags(restoredDir, 'events', 'export', '--to', head),
      await ags(service.stateDir, 'events', 'export', '--to', head),
    ];
    expect(own.objects.length).toBe(Number(head) + 1);
    expect(own.stdout).toBe(other.stdout);
  });

  it('lets every command read, and none append to the log, until somebody has decided', async () => {
    const log = async (): Promise<string> => (await ags(restoredDir, 'events', 'export')).stdout;
    const before = await log();
    const { objects: sealKeys } = await ags(restoredDir, 'seal-keys', 'list');
    const { objects: keys } = await ags(restoredDir, 'keys', 'list');
    const key = String(keys[0]?.['id']);
    for (const change of [
      ['init'],
      ['keys', 'create', '--agent', service.agent],
      ['keys', 'roll', key],
      ['keys', 'revoke', key],
      ['agents', 'create', 'late'],
      ['agents', 'stop', service.agent],
      ['org', 'create', 'Late'],
      ['org', 'stop'],
      ['seal-keys', 'rotate'],
      ['seal-keys', 'revoke', String(sealKeys[0]?.['kid'])],
    ]) {
      const run = await ags(restoredDir, ...change);
      expect([change, run.code, run.stdout, run.error['code']]).toEqual([change, 1, '', 'restore_unconfirmed']);
      expect(run.error['message']).toContain('confirm-restore --help');
    }
    for (const read of [['agents', 'list'], ['org', 'list'], ['audit']]) {
      expect([read, (await ags(restoredDir, ...read)).code]).toEqual([read, 0]);
    }
    expect(await log()).toBe(before);
  });

  it('seals nothing until somebody has decided', async () => {
    // Signed after the backup, which therefore knows nothing of it.
    origin = await signedBy(service);
    await expect(startService({ stateDir: restoredDir })).rejects.toThrow(/confirm-restore --help/);
    const { objects } = await ags(restoredDir, 'doctor');
    const found = objects.find(({ check }) => check === 'state_directory');
    expect(found).toMatchObject({ status: 'warning', next: expect.stringContaining('confirm-restore') as string });
    const { json } = await service.call('GET', '/v1/ledger/check', { key: service.adminKey });
    const { seq, body_hash: hash } = json['head'] as { seq: number; body_hash: string };
    // Sealed after the backup: the restored ledger would give the number out again.
    const behind = await ags(restoredDir, 'confirm-restore', ...headOf(`${seq}:${hash}`));
    expect(behind).toMatchObject({ code: 1, error: { code: 'restore_behind' } });
    await expect(startService({ stateDir: restoredDir })).rejects.toThrow(/confirm-restore --help/);
    const first = `1:${await firstHash()}`;
    // What was refused with the file is refused without it too: it is remembered.
    const remembered = ['confirm-restore', '--heads', join(service.stateDir, 'sealed-heads')];
    for (const args of [remembered, ['confirm-restore'], ['confirm-restore', ...headOf(first)]]) {
      expect(await ags(restoredDir, ...args)).toMatchObject({ code: 1, error: { code: 'restore_behind' } });
    }
    const missing = join(folder, 'sealed-heds');
    expect(await ags(restoredDir, 'confirm-restore', '--heads', missing)).toMatchObject({
      code: 2,
      error: {
        code: 'file_unusable',
        message: `${missing} cannot be used: it is not there. Check the path and try again.`,
      },
    });
    const confirmed = await ags(restoredDir, 'confirm-restore', ...headOf(first), '--accept-fork');
    expect(confirmed).toMatchObject({
      code: 0,
      object: {
        object: 'restore_confirmation',
        checked: [service.org],
        unchecked: [quietOrg],
        forked: [{ org: service.org }],
        origins: [{ org: service.org, origin: `${origin}/1` }],
      },
    });
    const noted = (await readFile(join(restoredDir, 'sealed-heads'), 'utf8')).match(/^org_\w+/gm)?.toSorted();
    expect(noted, 'a line for each ledger').toEqual([service.org, quietOrg].toSorted());
  });

  it('serves on: keys, lists, export and verification are those of before', async () => {
    const running = await startService({ stateDir: restoredDir, env: { LOG_LEVEL: 'error' } });
    restored = running;
    await act(running, service.agentKey);
    const { status, json } = await running.call('GET', '/v1/ledger/check', { key: service.adminKey });
    expect([status, json['result']]).toEqual([200, 'intact']);
    const listed = await upToDate(() => running.call('GET', '/v1/actions?limit=100', { key: service.adminKey }));
    expect((listed.json['data'] as unknown[]).length).toBeGreaterThan(5);
    const bundle = join(folder, 'deeds.tar.gz');
    const exported = await fetch(`${restored.baseUrl}/v1/deeds/export`, {
      headers: { Authorization: `Bearer ${service.adminKey}` },
    });
    await writeFile(bundle, Buffer.from(await exported.arrayBuffer()));
    expect(await signedBy(running), 'not what was signed by the other').toBe(`${origin}/1`);
    expect(await runAgsHere(['verify', bundle, '--org', service.org, '--pin', service.pin])).toMatchObject({ code: 0 });
    await restored.kill('SIGTERM');
    expect(await ags(restoredDir, 'audit')).toMatchObject({ code: 0, object: { result: 'intact' } });
  });
});

/** The origin under which it signs now. */
const signedBy = async ({ baseUrl }: RunningService): Promise<string> => {
  const headers = { Authorization: `Bearer ${service.adminKey}` };
  const answer = await fetch(`${baseUrl}/v1/ledger/checkpoint`, { method: 'POST', headers });
  expect(answer.ok).toBe(true);
  return ((await answer.json()) as { origin: string }).origin;
};

/** Of the first deed. */
const firstHash = async (): Promise<string> => {
  const { json } = await upToDate(() => service.call('GET', '/v1/deeds?limit=100', { key: service.adminKey }));
  const deeds = json['data'] as { seq: number; body_hash: string }[];
  return deeds.find(({ seq }) => seq === 1)?.body_hash ?? '';
};
