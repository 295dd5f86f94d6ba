import { once } from 'node:events';
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLineOf, processIdentity } from './live-process.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { isOutOfSpace } from './refused-writes.js';
import { readIfPresent, SUPERUSER, syncDirectory, type ServerPurpose, type ServerSite } from './server-site.js';

const STOP_DEADLINE_MS = 30_000;
const POLL_MS = 20;
const LOG_LIMIT_BYTES = 8 * 1024 * 1024;
const LOG_TAIL_BYTES = 2_000;

/**
 * Below the ports that systems give to clients. A client that redials the port of a stopped server could otherwise
 * connect to itself.
 */
const LOWEST_PORT = 15_432;
const HIGHEST_PORT = 32_000;

/** A number that no process has: kernels stop at 2^22. */
const NO_PROCESS = 2_147_483_647;

/**
 * Settings of the server: small, and the same on every machine. They are passed on the command line, so that an upgrade
 * changes them for existing data directories too.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // No socket, because the path limit of a socket is shorter than many a state directory.
  unix_socket_directories: '',
  wal_level: 'logical',
  // Enough for two of each program and some operators: a worker holds 14 connections, a projector 16
  // (docs/deployment.md).
  max_connections: '150',
  shared_buffers: '64MB',
  huge_pages: 'off',
  // No separate processes for features that a small database does not need.
  io_method: 'sync',
  max_logical_replication_workers: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] %a ',
};

/** What differs for what a server is for. */
const SETTINGS_FOR: Readonly<Record<ServerPurpose, Readonly<Record<string, string>>>> = {
  service: {},
  demo: {
    max_connections: '40',
    shared_buffers: '16MB',
    // A slot that nobody reads any more is given up before it fills the disk.
    max_slot_wal_keep_size: '256MB',
    max_wal_size: '128MB',
  },
};

export interface Postmaster {
  readonly pid: number;
  readonly identity: string;
  readonly port: number;
}

/** The live server on the site's data directory, whether it is ready or not; null if there is none. */
export const findPostmaster = async (site: Pick<ServerSite, 'dataDir'>): Promise<Postmaster | null> => {
  const lines = (await pidFileText(site))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  const identity = processIdentity(pid);
  if (identity === null || !commandLineOf(pid)?.includes(site.dataDir)) return null;
  return { pid, identity, port: Number(lines[3]) };
};

/**
 * How the remains of an interrupted attempt are removed. Its initdb may have outlived the process that started it, and
 * still creates files there until it misses one of its own. That usually takes a second, and removal is retried for
 * about ten.
 */
const REMOVAL = { recursive: true, force: true, maxRetries: 19, retryDelay: 50 } as const;

/** Creates the data directory if there is none. Returns whether it did. */
export const initializeDataDirectory = async (site: ServerSite): Promise<boolean> => {
  for (const name of await readdir(site.home)) {
    if (name.startsWith('postgres.new-')) await rm(join(site.home, name), REMOVAL);
  }
  if (existsSync(join(site.dataDir, 'PG_VERSION'))) return false;
  const draft = join(site.home, `postgres.new-${randomBytes(8).toString('hex')}`);
  await mkdir(draft, { mode: 0o700 });
  const passwordFile = join(draft, 'password');
  await writeFile(passwordFile, site.password, { mode: 0o600 });
  if (site.account) {
    // The folder comes last, because from then on that user may put anything into it.
    await chown(passwordFile, site.account.uid, site.account.gid);
    await chown(draft, site.account.uid, site.account.gid);
  }
  await initdb(site, join(draft, 'data'), passwordFile);
  await rename(join(draft, 'data'), site.dataDir);
  await syncDirectory(site.home);
  await rm(draft, { recursive: true, force: true });
  return true;
};

const initdb = async (site: ServerSite, directory: string, passwordFile: string): Promise<void> => {
  const logFrom = await logSize(site);
  const child = await runLogged(site, 'initdb', [
    ...['--pgdata', directory, '--username', SUPERUSER, '--pwfile', passwordFile],
    ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C', '--data-checksums', '--no-instructions'],
  ]);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return;
  const said = await logSince(site, logFrom);
  throw new EmbeddedPostgresError(
    isOutOfSpace(said)
      ? `No database can be made in ${site.home}: no space is left on that disk. Free some, then start again.`
      : `initdb failed:\n${said}`,
  );
};

/**
 * Starts a server and returns without waiting until it is ready. The server runs in a session of its own, where the
 * terminal's Ctrl-C and signals to our process group do not reach it.
 */
export const spawnPostmaster = async (site: ServerSite, port: number): Promise<SpawnedPostmaster> => {
  await rotateLog(site);
  await disownPidFile(site);
  const logFrom = await logSize(site);
  const settings = Object.entries({ ...SETTINGS, ...SETTINGS_FOR[site.purpose], port: String(port) });
  const child = await runLogged(site, 'postgres', [
    ...['-D', site.dataDir],
    ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  child.unref();
  return {
    pid: child.pid as number,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    log: () => logSince(site, logFrom),
  };
};

export interface SpawnedPostmaster {
  readonly pid: number;
  hasExited(): boolean;
  /** What the server has written to its log since it was started. */
  log(): Promise<string>;
}

/** Stops a server by a fast shutdown; after half a minute by an immediate one, from which the next start recovers. */
export const stopPostmaster = async ({ pid, identity }: Postmaster): Promise<void> => {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (processIdentity(pid) !== identity) return;
    process.kill(pid, signal);
    const startedAt = performance.now();
    while (processIdentity(pid) === identity && performance.now() - startedAt < STOP_DEADLINE_MS) await delay(POLL_MS);
  }
};

/** The remembered port if it is free (or may not change), else another free one, which is remembered from now on. */
export const choosePort = async (site: ServerSite, mustKeep: boolean): Promise<number> => {
  const remembered = Number(await readIfPresent(site.portFile));
  if (remembered > 0 && (mustKeep || (await isFree(remembered)))) return remembered;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = LOWEST_PORT + (randomBytes(4).readUInt32BE() % (HIGHEST_PORT - LOWEST_PORT));
    if (!(await isFree(port))) continue;
    const draft = `${site.portFile}.new`;
    await writeFile(draft, String(port), { mode: 0o600 });
    await rename(draft, site.portFile);
    return port;
  }
  throw new EmbeddedPostgresError(`No port between ${LOWEST_PORT} and ${HIGHEST_PORT} is free on 127.0.0.1.`);
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((settle) => {
    const probe = createServer();
    probe.once('error', () => settle(false));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => settle(true)));
  });

const pidFileOf = (site: Pick<ServerSite, 'dataDir'>): string => join(site.dataDir, 'postmaster.pid');

/**
 * Prepares the pid file of a dead server for a new start. PostgreSQL removes that file itself, after checking that no
 * process of the dead server is left, but refuses if another process has the same number now (usual in containers). So
 * only the number is replaced: removing the whole file would also remove that check.
 */
const disownPidFile = async (site: ServerSite): Promise<void> => {
  const text = await pidFileText(site);
  if (text === null || (await findPostmaster(site))) return;
  // Created beside the data directory: inside it the server's user, who is not root as we may be, could have placed a
  // link.
  const draft = join(site.home, `postmaster.pid.${randomBytes(8).toString('hex')}`);
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text.replace(/^-?\d+/, String(NO_PROCESS)));
    if (site.account) await file.chown(site.account.uid, site.account.gid);
  } finally {
    await file.close();
  }
  await rename(draft, pidFileOf(site));
};

const PID_FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The text of the pid file; null if there is none. A link or a pipe is not the server's file, and is not followed. */
const pidFileText = async (site: Pick<ServerSite, 'dataDir'>): Promise<string | null> => {
  try {
    const file = await open(pidFileOf(site), PID_FILE_FLAGS);
    try {
      return (await file.stat()).isFile() ? await file.readFile('utf8') : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP') return null;
    throw error;
  }
};

const runLogged = async (site: ServerSite, program: string, args: readonly string[]): Promise<ChildProcess> => {
  const log = await open(site.logFile, 'a', 0o600);
  try {
    const options: SpawnOptions = {
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      ...(site.account ? { uid: site.account.uid, gid: site.account.gid } : {}),
    };
    const child = spawn(join(site.binaries, 'bin', program), args, options);
    await once(child, 'spawn');
    return child;
  } finally {
    await log.close();
  }
};

const rotateLog = async (site: ServerSite): Promise<void> => {
  if ((await logSize(site)) > LOG_LIMIT_BYTES) await rename(site.logFile, `${site.logFile}.old`);
};

const logSize = async (site: ServerSite): Promise<number> =>
  existsSync(site.logFile) ? (await stat(site.logFile)).size : 0;

const logSince = async (site: ServerSite, from: number): Promise<string> =>
  (await readFile(site.logFile)).subarray(from).subarray(-LOG_TAIL_BYTES).toString('utf8').trim();
