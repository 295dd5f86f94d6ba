import type pg from 'pg';
import { LOG_LOCK } from '#libs/infra/event-store';
import { installSchema } from '#libs/infra/postgres';

/**
 * An append of events (docs/adr/0003) and the payloads that they name, in one transaction. The lock of the log comes first:
 * of two that write the same payload, one would otherwise hold the row and wait for the lock that the other holds.
 */
const APPEND = `
create or replace function gate.append(
  in_streams text[], in_expected bigint[],
  in_event_streams text[], in_revisions bigint[], in_ids uuid[], in_types text[], in_data text[], in_metadata text[],
  in_owners text[], in_kinds text[], in_digests text[], in_orgs text[], in_bodies text[]
) returns table (stream text, is_recorded boolean, revision bigint, log_position bigint)
language plpgsql volatile
as $function$
begin
  perform pg_advisory_xact_lock(${LOG_LOCK});
  insert into gate.payloads (owner, kind, digest, org, body)
    select * from unnest(in_owners, in_kinds, in_digests, in_orgs, in_bodies) on conflict do nothing;
  return query select * from event_store.append(
    in_streams, in_expected, in_event_streams, in_revisions, in_ids, in_types, in_data, in_metadata);
end
$function$`;

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
  APPEND,
];

export const installGateSchema = (pool: pg.Pool): Promise<void> => installSchema(pool, 'gate', STATEMENTS);
