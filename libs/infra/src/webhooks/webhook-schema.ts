import type pg from 'pg';
import { addColumn, installSchema } from '../postgres/index.js';

/**
 * What is to be sent to webhooks. One row for each event and endpoint, written in the transaction that moves the checkpoint
 * past the event, and one row for each endpoint, which is the lock under which its deliveries are taken up. Times are Unix
 * milliseconds. `due_ms`: of a delivery under way the end of its claim; `claimer`: the process of the last one. `store_id` and `seq` are those of the last public event
 * that was folded; what happened before `since_ms` is passed over.
 */
const STATEMENTS = [
  `create schema if not exists webhooks`,
  `create table if not exists webhooks.endpoints (
     webhook text primary key,
     failing_since_ms bigint
   )`,
  `create table if not exists webhooks.deliveries (
     webhook text collate "C" not null,
     event text collate "C" not null,
     org text not null,
     type text not null,
     body text not null,
     traceparent text,
     status text not null,
     attempt integer not null default 0,
     is_second_try boolean not null default false,
     claim text,
     due_ms bigint not null,
     http_status integer,
     error_code text,
     created_ms bigint not null,
     ended_ms bigint,
     primary key (webhook, event)
   )`,
  addColumn('webhooks.deliveries', 'claimer', 'text'),
  `create index if not exists deliveries_open on webhooks.deliveries (webhook, due_ms, created_ms)
     where status in ('pending', 'delivering', 'retrying')`,
  `create index if not exists deliveries_by_time on webhooks.deliveries (webhook, created_ms, event)`,
  `create index if not exists deliveries_ended on webhooks.deliveries (ended_ms) where ended_ms is not null`,
  `create index if not exists deliveries_claimed on webhooks.deliveries (claimer) where status = 'delivering'`,
  `create table if not exists webhooks.checkpoint (
     name text primary key,
     store_id text not null,
     seq bigint not null,
     since_ms bigint
   )`,
];

export const installWebhookSchema = (pool: pg.Pool): Promise<void> => installSchema(pool, 'webhooks', STATEMENTS);
