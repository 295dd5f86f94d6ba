import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { layReadyDatabase } from '../../../../test/support/ready-database.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { parseConfig } from '../config/index.js';
import { isEmbeddedPostgresRunning } from '../postgres/index.js';
import { type DatabaseLogin, type DemoDatabase, isDemoWanted, startDemoDatabase } from './index.js';
import { demoRows } from './demo-rows.js';

let stateDir: string;
const held: DemoDatabase[] = [];

const start = async (): Promise<DemoDatabase> => {
  const demo = await startDemoDatabase({ stateDir, log: silentLogger });
  held.push(demo);
  return demo;
};

const newStateDir = async (): Promise<void> => {
  stateDir = await mkdtemp(join(tmpdir(), 'ags-demo-database-'));
  if (process.getuid?.() === 0) await chmod(stateDir, 0o711);
  const home = join(stateDir, 'demo');
  await mkdir(home, { mode: 0o711 });
  await layReadyDatabase(home);
};

const removeStateDir = async (): Promise<void> => {
  for (const demo of held.splice(0)) await demo.release();
  await rm(stateDir, { recursive: true, force: true });
};

const as = ({ host, port, database }: DemoDatabase, { username, password }: DatabaseLogin): string =>
  `postgres://${username}:${password}@${host}:${port}/${database}`;

/** Rows of one statement, on a connection of its own. */
const ask = async (connectionString: string, sql: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

const stateOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'done',
    (error: unknown) => String((error as { code?: unknown }).code),
  );

const COUNTS = `select (select count(*)::int from customers) as customers, (select count(*)::int from orders) as orders,
  (select count(*)::int from refunds) as refunds`;

describe('the demo database', () => {
  let demo: DemoDatabase;
  beforeAll(async () => {
    await newStateDir();
    demo = await start();
  });
  afterAll(removeStateDir);

  it('holds the invented shop, of which the agent sees every row', async () => {
    expect(demo.isNew).toBe(true);
    expect(await ask(as(demo, demo.agent), COUNTS)).toEqual([{ customers: 20, orders: 60, refunds: 5 }]);
    const [first] = await ask(as(demo, demo.agent), 'select name, plan from customers where id = 1');
    expect(first).toEqual({ name: 'Ada Lindqvist', plan: 'solo' });
    expect(demoRows()).toEqual(demoRows());
  });

  it('refunds of an order end with it, and orders with their customer', async () => {
    const client = new pg.Client({ connectionString: as(demo, demo.agent) });
    await client.connect();
    await client.query('begin');
    await client.query('delete from customers where id in (select customer_id from orders where id = 4)');
    const { rows } = await client.query<{ left: number }>(
      'select count(*)::int as left from refunds where order_id = 4',
    );
    await client.query('rollback');
    await client.end();
    expect(rows).toEqual([{ left: 0 }]);
  });

  it('writes its log so that a decoder can follow it, and bounds what a forgotten slot keeps', async () => {
    const settings = await ask(
      demo.ownerConnectionString,
      `select name, setting from pg_settings where name in
         ('listen_addresses', 'max_slot_wal_keep_size', 'password_encryption', 'wal_level') order by name`,
    );
    expect(settings.map(({ setting }) => setting)).toEqual(['127.0.0.1', '256', 'scram-sha-256', 'logical']);
    const published = await ask(
      demo.ownerConnectionString,
      `select tablename, relreplident from pg_publication_tables
         join pg_class on relname = tablename where pubname = 'ags_demo' order by tablename`,
    );
    expect(published).toEqual(
      ['customers', 'orders', 'refunds'].map((tablename) => ({ tablename, relreplident: 'f' })),
    );
  });

  it('gives the agent rows and nothing else, and lets the witness replicate and change nothing', async () => {
    const [agent, witness] = [as(demo, demo.agent), as(demo, demo.witness)];
    expect(await stateOf(ask(agent, `update customers set plan = 'team' where id = 2`))).toBe('done');
    expect(await stateOf(ask(agent, 'truncate refunds'))).toBe('42501');
    expect(await stateOf(ask(agent, 'create table mine ()'))).toBe('42501');
    expect(await stateOf(ask(agent, `select pg_create_logical_replication_slot('x', 'pgoutput')`))).toBe('42501');
    expect(await ask(witness, COUNTS)).toEqual([{ customers: 20, orders: 60, refunds: 5 }]);
    expect(await stateOf(ask(witness, `update customers set plan = 'team' where id = 2`))).toBe('42501');
    const slot = `select pg_create_logical_replication_slot('x', 'pgoutput', true)`;
    expect(await stateOf(ask(witness, slot))).toBe('done');
    expect(
      await ask(
        demo.ownerConnectionString,
        `select rolname from pg_roles where rolname like 'ags_%' and (rolsuper or rolcreaterole or rolcreatedb or rolbypassrls)`,
      ),
    ).toEqual([]);
  });

  it('opens to nobody without the password', async () => {
    const wrong = as(demo, { ...demo.agent, password: demo.witness.password });
    expect(await stateOf(ask(wrong, 'select 1'))).toBe('28P01');
    const file = join(stateDir, 'demo', 'postgres.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(demo.agent.password);
  });
});

describe('the demo database, started again', () => {
  beforeEach(newStateDir);
  afterEach(removeStateDir);

  it('is filled once: two that start it share it, and what was changed stays changed', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    expect([one.isNew, other.isNew].toSorted()).toEqual([false, true]);
    expect(one.port).toBe(other.port);
    await ask(as(one, one.agent), `update orders set status = 'cancelled' where id = 60`);
    await ask(as(one, one.agent), 'delete from customers where id = 20');
    for (const demo of held.splice(0)) await demo.release();
    expect(await isEmbeddedPostgresRunning(stateDir, 'demo')).toBe(false);

    const again = await start();
    expect([again.isNew, again.port, again.agent]).toEqual([false, one.port, one.agent]);
    expect(await ask(as(again, again.agent), 'select status from orders where id = 60')).toEqual([
      { status: 'cancelled' },
    ]);
    expect(await ask(as(again, again.agent), 'select id from customers where id = 20')).toEqual([]);
  });

  it('answers again after a kill -9, at the same address and with every row', async () => {
    const demo = await start();
    await ask(as(demo, demo.agent), `update customers set city = 'Oslo' where id = 14`);
    const pid = Number(readFileSync(join(stateDir, 'demo', 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGKILL');
    await expect
      .poll(() => ask(as(demo, demo.agent), 'select city from customers where id = 14').catch(() => null))
      .toEqual([{ city: 'Oslo' }]);
    expect(await ask(as(demo, demo.agent), COUNTS)).toEqual([{ customers: 20, orders: 60, refunds: 5 }]);
  });

  it('does not wait for an operator where another PostgreSQL version made it: it is moved aside, and made anew', async () => {
    await (await start()).release();
    held.length = 0;
    writeFileSync(join(stateDir, 'demo', 'postgres', 'PG_VERSION'), '9\n');
    const demo = await start();
    expect(demo.isNew).toBe(true);
    expect((await readdir(join(stateDir, 'demo'))).filter((name) => name.startsWith('postgres-data-9-'))).toHaveLength(
      1,
    );
  });

  it('runs beside the database of the service, which is none of its business', async () => {
    await start();
    expect(await isEmbeddedPostgresRunning(stateDir)).toBe(false);
    expect(await readdir(stateDir)).toEqual(['demo']);
  });
});

describe('SERVICE_DEMO', () => {
  it('brings the demo where the service brings its database, too: in dev, without DATABASE_URL', () => {
    const isWanted = (settings: Record<string, string>): boolean => isDemoWanted(parseConfig(settings));
    const production = { SERVICE_ENV: 'production', SERVICE_BASE_URL: 'https://ags.example' };
    expect(isWanted({})).toBe(true);
    expect(isWanted({ SERVICE_DEMO: 'off' })).toBe(false);
    expect(isWanted({ DATABASE_URL: 'postgres://x@127.0.0.1:9/x' })).toBe(false);
    expect(isWanted(production)).toBe(false);
  });
});
