import { execFile } from 'node:child_process';
import { appendFile, chmod, chown, copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { ownServerIn, type OwnServer } from './own-server.js';
import type { TcpProxy } from './tcp-proxy.js';

/** A PostgreSQL that follows another one, asynchronously: what it has not heard of is lost when it takes over. */
export interface StandbyServer extends OwnServer {
  /** Resolves when it has replayed all that its primary has written so far. */
  caughtUp(): Promise<void>;
  /** From now on it takes writes. */
  promote(): Promise<void>;
}

/** @param replication stands between the two */
export const startStandby = async (primary: OwnServer, replication: TcpProxy): Promise<StandbyServer> => {
  const stateDir = await mkdtemp(join(tmpdir(), 'ags-own-server-'));
  if (process.getuid?.() === 0) await chmod(stateDir, 0o711);
  await copyFile(join(primary.stateDir, 'postgres.password'), join(stateDir, 'postgres.password'));
  await copyData(primary, stateDir, new URL(replication.through(primary.connectionString('postgres'))));
  const server = await ownServerIn(stateDir);
  return {
    ...server,
    caughtUp: async () => {
      const written = await ask(primary, 'select pg_current_wal_lsn()::text as answer');
      const isReplayed = `select (pg_last_wal_replay_lsn() >= '${written}')::text as answer`;
      while ((await ask(server, isReplayed)) !== 'true');
    },
    promote: async () => {
      await ask(server, 'select pg_promote()::text as answer');
    },
  };
};

/** PostgreSQL's low-level base backup (its manual, 'Making a Base Backup Using the Low Level API'). */
const copyData = async (primary: OwnServer, stateDir: string, { username, password, port }: URL): Promise<void> => {
  const [from, to] = [join(primary.stateDir, 'postgres'), join(stateDir, 'postgres')];
  const session = new pg.Client({ connectionString: primary.connectionString('postgres') });
  await session.connect();
  await session.query(`select pg_backup_start('standby', fast => true)`);
  // With the owner of its files, which is not ours as root.
  await promisify(execFile)('cp', ['--archive', from, to]);
  const { rows } = await session.query<{ label: string }>(
    'select labelfile as label from pg_backup_stop(wait_for_archive => false)',
  );
  await session.end();
  await rm(join(to, 'postmaster.pid'));
  const source = `host=127.0.0.1 port=${port} user=${username} password=${decodeURIComponent(password)}`;
  await appendFile(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  const { uid, gid } = await stat(to);
  for (const [name, text] of Object.entries({ backup_label: rows[0]?.label ?? '', 'standby.signal': '' })) {
    await writeFile(join(to, name), text);
    await chown(join(to, name), uid, gid);
  }
};

const ask = async (server: OwnServer, question: string): Promise<string> => {
  const client = new pg.Client({ connectionString: server.connectionString('postgres') });
  await client.connect();
  try {
    return (await client.query<{ answer: string }>(question)).rows[0]?.answer ?? '';
  } finally {
    await client.end();
  }
};
