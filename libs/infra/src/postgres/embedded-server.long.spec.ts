import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { postmasterPidIn } from '../../../../test/support/own-server.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { type SourceProcess, type SourceProcessOptions, startSource } from '../../../../test/support/source-process.js';
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from './index.js';
import { processIdentity } from './live-process.js';

const CHILD = new URL('../../../../test/support/embedded-server.child.ts', import.meta.url);
const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65_534, gid: 65_534 };

describe('the embedded PostgreSQL', () => {
  let stateDir: string;
  const held: EmbeddedPostgres[] = [];
  const children: SourceProcess[] = [];

  // Created once, because a first start takes a second and most tests are about later starts.
  let prepared: string;
  beforeAll(async () => {
    prepared = await temporaryFolder();
    await (await startEmbeddedPostgres({ stateDir: join(prepared, 'state'), log: silentLogger })).release();
  });
  afterAll(() => rm(prepared, { recursive: true, force: true }));

  beforeEach(async () => {
    stateDir = join(await temporaryFolder(), 'state');
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill('SIGKILL')));
    for (const server of held.splice(0)) await server.release();
    // A server that was left running is adopted and released, which stops it.
    if (existsSync(join(stateDir, 'postgres', 'postmaster.pid'))) await (await start()).release();
    held.length = 0;
    await rm(join(stateDir, '..'), { recursive: true, force: true });
  });

  const copyPrepared = (): void => void execFileSync('cp', ['-a', join(prepared, 'state'), stateDir]);
  const start = async (): Promise<EmbeddedPostgres> => {
    const server = await startEmbeddedPostgres({ stateDir, log: silentLogger });
    held.push(server);
    return server;
  };
  const startElsewhere = (options: SourceProcessOptions = {}): SourceProcess => {
    const child = startSource(CHILD, { args: [stateDir], ...options });
    children.push(child);
    return child;
  };
  const isRunning = (pid: number): boolean => processIdentity(pid) !== null;

  it.skipIf(!isRoot)('changes no file of root that a link in its folder leads to', async () => {
    copyPrepared();
    const victim = join(stateDir, '..', 'victim');
    writeFileSync(victim, 'root’s own', { mode: 0o600 });
    const pidFile = join(stateDir, 'postgres', 'postmaster.pid');
    writeFileSync(pidFile, '999999\nwhat another user says\n', { mode: 0o644 });
    symlinkSync(victim, `${pidFile}.new`);
    await start();
    expect([readFileSync(victim, 'utf8'), statSync(victim).uid]).toEqual(['root’s own', 0]);
  });

  it('refuses a password file that others can read', async () => {
    copyPrepared();
    const file = join(stateDir, 'postgres.password');
    await chmod(file, 0o644);
    await expect(start()).rejects.toThrow(`${file} is readable by others. Run chmod 0600 on it.`);
  });

  it.each(['0770', '0755'])('sets a data directory of mode %s back to be private to the server', async (mode) => {
    copyPrepared();
    const dataDir = join(stateDir, 'postgres');
    await chmod(dataDir, Number.parseInt(mode, 8));
    expect(await ask(await start(), 'select 1 as one')).toBe(1);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  it.skipIf(!isRoot)('says at once which user must own the data directory', async () => {
    copyPrepared();
    const dataDir = join(stateDir, 'postgres');
    const { uid, gid } = statSync(dataDir);
    await chown(dataDir, 0, 0);
    const refused = `${dataDir} belongs to user 0, and PostgreSQL runs as user ${uid}. Run: chown -R ${uid}:${gid} '${dataDir}'`;
    await expect(start()).rejects.toThrow(refused);
    execFileSync('sh', ['-c', refused.slice(refused.indexOf('chown'))]);
    expect(await ask(await start(), 'select 1 as one')).toBe(1);
  });

  it.each(['', 'no number\n'])('says at once that its pid file holds %j, and what to do', async (text) => {
    copyPrepared();
    const pidFile = join(stateDir, 'postgres', 'postmaster.pid');
    const owner = statSync(join(stateDir, 'postgres'));
    writeFileSync(pidFile, text, { mode: 0o600 });
    await chown(pidFile, owner.uid, owner.gid);
    await expect(start()).rejects.toThrow(`then run: rm '${pidFile}'.`);
    await rm(pidFile);
    expect(await ask(await start(), 'select 1 as one')).toBe(1);
  });

  it('reports any other fatal error of the server at once, in the server’s words', async () => {
    copyPrepared();
    await rm(join(stateDir, 'postgres', 'global', 'pg_control'));
    await expect(start()).rejects.toThrow(/could not open file .*pg_control.* Mend that, or restore a backup/s);
  });

  it('is started and stopped by its only user', async () => {
    const server = await start();
    const pid = postmasterPidIn(stateDir);
    expect(await ask(server, 'show wal_level')).toBe('logical');
    expect(await ask(server, 'show data_checksums')).toBe('on');
    expect(await ask(server, 'show server_encoding')).toBe('UTF8');
    expect(await ask(server, 'select datcollate from pg_database')).toBe('C');
    expect(await ask(server, 'show listen_addresses')).toBe('127.0.0.1');
    await server.release();
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(join(stateDir, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  it('keeps its data, address and password across restarts', async () => {
    copyPrepared();
    const first = await start();
    await run(first, 'create table kept as select 7 as value');
    const address = first.connectionString('postgres');
    await first.release();
    const second = await start();
    expect(second.connectionString('postgres')).toBe(address);
    expect(await ask(second, 'select value from kept')).toBe(7);
  });

  it('requires a password, which only its user can read', async () => {
    copyPrepared();
    const server = await start();
    const address = new URL(server.connectionString('postgres'));
    const { password } = address;
    address.password = 'guessed';
    await expect(connect(address.href)).rejects.toMatchObject({ code: '28P01' });
    expect(statSync(join(stateDir, 'postgres.password')).mode & 0o777).toBe(0o600);
    expect(statSync(stateDir).mode & 0o777).toBe(isRoot ? 0o711 : 0o700);
    expect(readFileSync(join(stateDir, 'postgres.log'), 'utf8')).not.toContain(password);
  });

  it('is shared by processes, and stopped by the last of them', async () => {
    copyPrepared();
    const [first, second] = [startElsewhere(), startElsewhere()];
    const addresses = await Promise.all([first.nextLine(), second.nextLine()]);
    expect(addresses[0]).toEqual(addresses[1]);
    const pid = postmasterPidIn(stateDir);
    first.write('release');
    expect(await first.nextLine()).toEqual({ released: true });
    expect(isRunning(pid)).toBe(true);
    second.write('release');
    expect(await second.nextLine()).toEqual({ released: true });
    expect(isRunning(pid)).toBe(false);
  });

  it('keeps running if the process that started it is killed, and is adopted by the next process', async () => {
    copyPrepared();
    const starter = startElsewhere();
    await starter.nextLine();
    const pid = postmasterPidIn(stateDir);
    await starter.kill('SIGKILL');
    expect(isRunning(pid)).toBe(true);
    const adopted = await start();
    expect(postmasterPidIn(stateDir)).toBe(pid);
    await adopted.release();
    expect(isRunning(pid)).toBe(false);
  });

  it('starts again with all committed data after server and process were killed', async () => {
    copyPrepared();
    const starter = startElsewhere();
    const { address } = await starter.nextLine();
    const client = await connect(address as string);
    await client.query('create table committed as select 7 as value');
    const pid = postmasterPidIn(stateDir);
    await starter.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await client.end();
    expect(postmasterPidIn(stateDir)).toBe(pid);
    const server = await start();
    expect(postmasterPidIn(stateDir)).not.toBe(pid);
    expect(await ask(server, 'select value from committed')).toBe(7);
  });

  it('starts despite a stale pid file whose number another process has now', async () => {
    copyPrepared();
    const first = await start();
    const pidFile = join(stateDir, 'postgres', 'postmaster.pid');
    const lines = readFileSync(pidFile, 'utf8').split('\n');
    await first.release();
    const owner = statSync(join(stateDir, 'postgres'));
    // The process runs as the server's own user, so that PostgreSQL itself would take it for the server.
    const stranger = startElsewhere(isRoot ? { uid: owner.uid, gid: owner.gid } : {});
    writeFileSync(pidFile, [stranger.pid, ...lines.slice(1)].join('\n'));
    const second = await start();
    expect(await ask(second, 'select 7')).toBe(7);
  });

  it('is started again at the same address if it ends while in use', async () => {
    copyPrepared();
    const server = await start();
    const pid = postmasterPidIn(stateDir);
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect(await ask(server, 'select 7')).toBe(7), { timeout: 20_000, interval: 100 });
    expect(postmasterPidIn(stateDir)).not.toBe(pid);
    // The server answers a moment before its starter is counted as a user again, and only a user stops it on release.
    const USERS = `select count(*)::integer from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted`;
    await vi.waitFor(async () => expect(await ask(server, USERS)).toBe(1), { timeout: 20_000, interval: 20 });
    await server.release();
    expect(existsSync(join(stateDir, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('does not get the %s of its starter’s process group', async (signal) => {
    copyPrepared();
    const starter = startElsewhere();
    await starter.nextLine();
    const pid = postmasterPidIn(stateDir);
    process.kill(-starter.pid, signal);
    await starter.kill(signal);
    const server = await start();
    expect(postmasterPidIn(stateDir)).toBe(pid);
    expect(await ask(server, 'select 7')).toBe(7);
  });

  it('recovers from a first start that was killed half way', async () => {
    const interrupted = startElsewhere();
    // initdb works in a directory of its own, which becomes the data directory once it is complete.
    await vi.waitFor(
      () =>
        expect(existsSync(stateDir) && readdirSync(stateDir).some((name) => name.startsWith('postgres.new-'))).toBe(
          true,
        ),
      { timeout: 20_000, interval: 5 },
    );
    await interrupted.kill('SIGKILL');
    const server = await start();
    expect(await ask(server, 'select 7')).toBe(7);
    expect(readdirSync(stateDir).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);
  });

  it('starts while the initdb of a killed start still runs', async () => {
    copyPrepared();
    const left = join(stateDir, 'postgres.new-0123456789abcdef', 'data');
    await mkdir(left, { recursive: true });
    // Like an orphaned initdb, it creates one file after another until it is done or its folder is gone.
    const orphan = spawn('/bin/sh', [
      '-c',
      'i=0; while [ $i -lt 6000 ]; do : > "$0/$i" || exit; i=$((i+1)); done',
      left,
    ]);
    const ended = once(orphan, 'exit');
    await vi.waitFor(() => expect(readdirSync(left).length).toBeGreaterThan(100), { timeout: 20_000, interval: 5 });
    const server = await start();
    await ended;
    expect(await ask(server, 'select 7')).toBe(7);
    expect(readdirSync(stateDir).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);
  });

  it('does not open a data directory without its password', async () => {
    copyPrepared();
    await rm(join(stateDir, 'postgres.password'));
    await expect(start()).rejects.toThrow(/postgres\.password is missing.*backup/);
  });

  describe.skipIf(!isRoot)('under root', () => {
    it('runs as the user postgres or nobody', async () => {
      copyPrepared();
      await start();
      const owner = statSync(join(stateDir, 'postgres')).uid;
      expect(owner).not.toBe(0);
      expect(readFileSync(`/proc/${postmasterPidIn(stateDir)}/status`, 'utf8')).toMatch(
        new RegExp(`^Uid:\\s${owner}\\s`, 'm'),
      );
    });

    it('says which folder the server’s user cannot pass through, and what to do', async () => {
      const closed = join(stateDir, '..', 'closed');
      await mkdir(closed, { mode: 0o700 });
      const attempt = startEmbeddedPostgres({ stateDir: join(closed, 'state'), log: silentLogger });
      await expect(attempt).rejects.toBeInstanceOf(EmbeddedPostgresError);
      await expect(attempt).rejects.toThrow(`cannot pass through ${closed} to`);
      await expect(attempt).rejects.toThrow('Set SERVICE_STATE_DIR');
    });

    it('leaves a directory that an ordinary user made to that user', async () => {
      await chmod(join(stateDir, '..'), 0o777);
      const ordinary = startElsewhere(NOBODY);
      await ordinary.nextLine();
      expect(statSync(stateDir).mode & 0o777).toBe(0o700);
      ordinary.write('release');
      await ordinary.nextLine();
      await start();
      expect(statSync(join(stateDir, 'postgres')).uid).toBe(NOBODY.uid);
    });

    it('tells an ordinary user which user the directory belongs to', async () => {
      copyPrepared();
      await chmod(stateDir, 0o777);
      const ordinary = startElsewhere(NOBODY);
      expect(await ordinary.nextLine()).toEqual({ failed: expect.stringContaining('belongs to user') as unknown });
    });
  });
});

const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'ags-embedded-'));
  // The server may run as a user of its own, who must be able to pass through the folder.
  await chmod(folder, 0o755);
  return folder;
};

const connect = async (address: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: address });
  client.on('error', () => undefined);
  await client.connect();
  return client;
};

const run = async (server: EmbeddedPostgres, sql: string): Promise<pg.QueryResult<Record<string, unknown>>> => {
  const client = await connect(server.connectionString('postgres'));
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
};

/** The first value of the first row. */
const ask = async (server: EmbeddedPostgres, sql: string): Promise<unknown> =>
  Object.values((await run(server, sql)).rows[0] ?? {})[0];
