import type pg from 'pg';
import { LOG_LOCK } from '#libs/infra/event-store';
import { addColumn, installSchema } from '#libs/infra/postgres';
import { BUDGET_STATEMENTS } from './budget-schema.js';

/**
 * An append of events (docs/adr/0003) and the payloads that they name, in one transaction. The lock of the log is taken
 * first. Otherwise, of two appends with the same payload, one could hold the payload row and wait for the lock, while
 * the other holds the lock and waits for the row.
 */
const APPEND = `
create or replace function gate.append(
  in_streams text[], in_expected bigint[],
  in_event_streams text[], in_revisions bigint[], in_ids uuid[], in_types text[], in_data text[], in_metadata text[],
  in_requiring text[], in_required text[], in_required_revisions bigint[],
  in_owners text[], in_kinds text[], in_digests text[], in_orgs text[], in_bodies text[]
) returns table (stream text, is_recorded boolean, revision bigint, log_position bigint)
language plpgsql volatile
as $function$
begin
  perform pg_advisory_xact_lock(${LOG_LOCK});
  insert into gate.payloads (owner, kind, digest, org, body)
    select * from unnest(in_owners, in_kinds, in_digests, in_orgs, in_bodies) on conflict do nothing;
  return query select * from event_store.append(
    in_streams, in_expected, in_event_streams, in_revisions, in_ids, in_types, in_data, in_metadata,
    in_requiring, in_required, in_required_revisions);
end
$function$`;

/**
 * Like `gate.append`, with companion appends (such as deeds) after the first `in_count` appends; their events come
 * after the first `in_event_count` events. The companions are written if the log ends at `in_head`, the streams of
 * `in_demanded` are at their revisions, and every append has the right revision. Otherwise only the first appends are
 * written. The last column says whether the companions were.
 */
const APPEND_ACCOMPANIED = `
create or replace function gate.append_accompanied(
  in_count integer, in_event_count integer, in_head bigint, in_demanded text[], in_demanded_revisions bigint[],
  in_streams text[], in_expected bigint[],
  in_event_streams text[], in_revisions bigint[], in_ids uuid[], in_types text[], in_data text[], in_metadata text[],
  in_requiring text[], in_required text[], in_required_revisions bigint[],
  in_owners text[], in_kinds text[], in_digests text[], in_orgs text[], in_bodies text[]
) returns table (stream text, is_recorded boolean, revision bigint, log_position bigint, is_accompanied boolean)
language plpgsql volatile
as $function$
#variable_conflict use_column
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'gate.append_accompanied needs read committed: an older snapshot would not see the log'
      using errcode = 'invalid_transaction_state';
  end if;

  perform pg_advisory_xact_lock(${LOG_LOCK});
  if cardinality(in_owners) > 0 then
    insert into gate.payloads (owner, kind, digest, org, body)
      select * from unnest(in_owners, in_kinds, in_digests, in_orgs, in_bodies) on conflict do nothing;
  end if;

  insert into event_store.events (position, stream, revision, id, type, data, metadata)
  select in_head + n.ordinal, n.stream, n.revision, n.id, n.type, n.data, n.metadata
    from unnest(in_event_streams, in_revisions, in_ids, in_types, in_data, in_metadata)
         with ordinality as n (stream, revision, id, type, data, metadata, ordinal)
   where in_head = (select coalesce(max(e.position), -1) from event_store.events e)
     and not exists (
           select from unnest(in_streams || in_demanded || in_required,
                              in_expected || in_demanded_revisions || in_required_revisions) as asked (stream, expected)
            where asked.expected <> coalesce(
                    (select max(e.revision) from event_store.events e where e.stream = asked.stream), -1));
  if found then
    is_recorded := true;
    log_position := in_head;
    is_accompanied := true;
    return next;
    return;
  end if;

  return query select appended.*, false from event_store.append(
    in_streams[:in_count], in_expected[:in_count], in_event_streams[:in_event_count], in_revisions[:in_event_count],
    in_ids[:in_event_count], in_types[:in_event_count], in_data[:in_event_count], in_metadata[:in_event_count],
    in_requiring, in_required, in_required_revisions) as appended;
end
$function$`;

/**
 * Tables of the gate beside the log: payloads (inert until an event names them), how far retention has removed them,
 * nonces of signed intents (until they expire), reservations of budgets, places of waiting calls, the sweepers' folds
 * of the log with their checkpoints, and one liveness row per process.
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
  // Timestamps are texts of one length in UTC, so in collation "C" their order is that of time.
  `create table if not exists gate.due_actions (
     action text primary key,
     kind text not null,
     due_at text collate "C" not null
   )`,
  `create index if not exists due_actions_by_time on gate.due_actions (due_at, action)`,
  `create table if not exists gate.checkpoint (
     name text primary key,
     store_id text not null,
     position bigint not null
   )`,
  // Not unlogged: the cursor must be as durable as the removal of the payloads.
  `create table if not exists gate.retention (
     org text primary key,
     revision bigint not null,
     body_hash text not null
   )`,
  `create unlogged table if not exists gate.liveness (
     executor text primary key,
     beat bigint not null
   )`,
  // For display and for removing old rows only. Silence is never judged by a time of day.
  addColumn('gate.liveness', 'beaten_at', 'timestamptz not null default now()'),
  `create table if not exists gate.intent_nonces (
     agent text not null,
     nonce text not null,
     action text not null,
     digest text not null,
     reserved_ms bigint not null,
     expires_ms bigint not null,
     primary key (agent, nonce)
   )`,
  `create index if not exists intent_nonces_by_expiry on gate.intent_nonces (expires_ms)`,
  `create table if not exists gate.approval_places (
     agent text not null,
     action text not null,
     reserved_ms bigint not null,
     primary key (agent, action)
   )`,
  ...BUDGET_STATEMENTS,
  APPEND,
  APPEND_ACCOMPANIED,
];

export const installGateSchema = (pool: pg.Pool): Promise<void> => installSchema(pool, 'gate', STATEMENTS);
