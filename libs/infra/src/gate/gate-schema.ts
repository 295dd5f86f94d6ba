import type pg from 'pg';

/**
 * Rows of the gate beside the log: payloads (inert until an event names them), the sweepers' own tables with
 * their checkpoints, and one row a process that shows that it lives.
 */
const STATEMENTS = [
  `create schema if not exists gate`,
  `create table if not exists gate.payloads (
     owner text not null,
     kind text not null,
     digest text not null,
     org text not null,
     body text not null,
     created_at timestamptz not null default now(),
     number bigint not null generated always as identity,
     primary key (owner, kind, digest)
   )`,
  `create unique index if not exists payloads_by_number on gate.payloads (number)`,
  `create table if not exists gate.open_executions (
     action text primary key,
     org text not null,
     connector text,
     opened bigint not null
   )`,
  `create index if not exists open_executions_by_connector on gate.open_executions (org, connector)`,
  `create index if not exists open_executions_by_age on gate.open_executions (opened)`,
  `create table if not exists gate.checkpoint (
     name text primary key,
     store_id text not null,
     position bigint not null
   )`,
  `create unlogged table if not exists gate.liveness (
     executor text primary key,
     beat bigint not null
   )`,
];

/** May be run at every start, also by several processes at once. */
export const installGateSchema = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    // `if not exists` does not keep two creators apart; the lock does.
    await client.query("select pg_advisory_xact_lock(hashtext('install gate schema'))");
    for (const statement of STATEMENTS) await client.query(statement);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
};
