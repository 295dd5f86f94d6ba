import type pg from 'pg';
import { addColumn, installSchema } from '../postgres/index.js';

// Times are Unix milliseconds. Hashes compare byte for byte whatever the database's collation. Addresses and mails are
// sealed under the vault key; of secrets only hashes are here.
const STATEMENTS = [
  `create schema if not exists people`,
  `create table if not exists people.people (
     user_id text primary key,
     address_hash bytea not null unique,
     address bytea not null
   )`,
  // Null while no change of the address is under way.
  addColumn('people.people', 'address_change', 'text'),
  `create table if not exists people.user_orgs (user_id text not null, org text not null, primary key (user_id, org))`,
  addColumn('people.user_orgs', 'invited_as', 'bytea'),
  `create table if not exists people.sessions (
     session text primary key,
     token_hash bytea not null unique,
     csrf_hash bytea not null,
     user_id text not null,
     org text not null,
     membership text not null,
     via text not null,
     created_ms bigint not null,
     last_seen_ms bigint not null,
     expires_ms bigint not null,
     idle_expires_ms bigint not null,
     network text not null,
     user_agent text
   )`,
  `create index if not exists sessions_by_user on people.sessions (user_id)`,
  // Told to whoever comes with the cookie of a session that ended elsewhere, for a day.
  `create table if not exists people.ended_sessions (
     token_hash bytea primary key,
     user_id text not null,
     why text not null,
     ended_ms bigint not null
   )`,
  `create index if not exists ended_sessions_by_time on people.ended_sessions (ended_ms)`,
  `create table if not exists people.mail_orders (
     id text primary key,
     kind text not null,
     address_hash bytea not null,
     address bytea not null,
     browser_hash bytea,
     next text,
     user_id text,
     org text,
     membership text,
     invitation text,
     requested_ms bigint not null,
     expires_ms bigint
   )`,
  // Who asked, so that a stranger's request neither voids nor uses up what is another's.
  addColumn('people.mail_orders', 'site', "text not null default ''"),
  addColumn('people.mail_orders', 'former_browser_hash', 'bytea'),
  `create index if not exists mail_orders_by_age on people.mail_orders (requested_ms)`,
  // `user_id` is null in a decoy. Of what one site asked for, one sign-in row an address is live: the newest.
  `create table if not exists people.tokens (
     token_hash bytea primary key,
     purpose text not null,
     user_id text,
     address_hash bytea not null,
     org text,
     invitation text,
     next text,
     code_hash bytea,
     browser_hash bytea,
     attempts integer not null default 0,
     requested_ms bigint not null,
     expires_ms bigint not null,
     used_ms bigint,
     replaced_ms bigint
   )`,
  addColumn('people.tokens', 'site', "text not null default ''"),
  // Wrong codes, and how many of them are recorded: written with the miss, of decoys too.
  addColumn('people.tokens', 'misses', 'integer not null default 0'),
  addColumn('people.tokens', 'recorded_misses', 'integer not null default 0'),
  addColumn('people.tokens', 'missed_ms', 'bigint'),
  `create index if not exists tokens_by_miss on people.tokens (missed_ms) where misses > recorded_misses`,
  `create index if not exists tokens_by_address on people.tokens (address_hash, requested_ms)`,
  `create index if not exists invitations_by_org on people.tokens (org, requested_ms) where purpose = 'invite'`,
  `create table if not exists people.outbox (
     id text primary key,
     address_hash bytea not null,
     message bytea,
     tries integer not null default 0,
     due_ms bigint not null,
     expires_ms bigint not null,
     sent_ms bigint,
     given_up_ms bigint
   )`,
  `create index if not exists outbox_by_due on people.outbox (due_ms) where message is not null`,
  // About which approvals mails were written, and the links in them. Nothing that signs anybody in reads these.
  `create table if not exists people.mailed_approvals (approval text primary key, expires_ms bigint not null)`,
  `create table if not exists people.approval_links (
     token_hash bytea primary key,
     mail text not null,
     org text not null,
     approval text not null,
     user_id text not null,
     requested_ms bigint not null,
     expires_ms bigint not null,
     used_ms bigint
   )`,
  addColumn('people.approval_links', 'agent', "text not null default ''"),
  `create index if not exists approval_links_by_user on people.approval_links (user_id, requested_ms)`,
  `create table if not exists people.code_misses (minute bigint primary key, misses integer not null)`,
  // By client, since one client is not to have all codes paused.
  addColumn('people.code_misses', 'network', "text not null default ''"),
  `do $drop$ begin
     if exists (select from pg_constraint
                 where conrelid = 'people.code_misses'::regclass and conname = 'code_misses_pkey') then
       alter table people.code_misses drop constraint code_misses_pkey;
     end if;
   end $drop$`,
  `create unique index if not exists code_misses_by_network on people.code_misses (minute, network)`,
];

export const installPeopleSchema = (pool: pg.Pool): Promise<void> => installSchema(pool, 'people', STATEMENTS);
