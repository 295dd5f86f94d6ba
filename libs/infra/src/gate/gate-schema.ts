import type pg from 'pg';
import { installSchema } from '#libs/infra/postgres';

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
  // For housekeeping alone: who is silent is never judged by a time of day.
  `alter table gate.liveness add column if not exists beaten_at timestamptz not null default now()`,
];

export const installGateSchema = (pool: pg.Pool): Promise<void> => installSchema(pool, 'gate', STATEMENTS);
