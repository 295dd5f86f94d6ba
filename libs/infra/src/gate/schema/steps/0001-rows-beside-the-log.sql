create schema if not exists gate;

-- What events name by its digest; inert until one does.
create table if not exists gate.payloads (
  owner text not null,
  kind text not null,
  digest text not null,
  org text not null,
  body text not null,
  created_at timestamptz not null default now(),
  number bigint not null generated always as identity,
  primary key (owner, kind, digest)
);
create unique index if not exists payloads_by_number on gate.payloads (number);

-- The sweepers' folds of the log, and how far each has come.
create table if not exists gate.open_executions (
  action text primary key,
  org text not null,
  connector text,
  opened bigint not null
);
create index if not exists open_executions_by_connector on gate.open_executions (org, connector);
create index if not exists open_executions_by_age on gate.open_executions (opened);

-- Timestamps are texts of one length in UTC, so in collation "C" their order is that of time.
create table if not exists gate.due_actions (
  action text primary key,
  kind text not null,
  due_at text collate "C" not null
);
create index if not exists due_actions_by_time on gate.due_actions (due_at, action);

create table if not exists gate.checkpoint (
  name text primary key,
  store_id text not null,
  position bigint not null
);

-- How far retention has removed payloads. Not unlogged: the cursor must be as durable as the removal of the payloads.
create table if not exists gate.retention (
  org text primary key,
  revision bigint not null,
  body_hash text not null
);

-- One row for each process. `beaten_at` is for display and for removing old rows only: silence is never judged by a time
-- of day.
create unlogged table if not exists gate.liveness (
  executor text primary key,
  beat bigint not null,
  beaten_at timestamptz not null default now()
);

-- For a database of an older program. Asked first: `add column if not exists` locks the table against everybody, even
-- where nothing is missing.
do $$ begin
  if not exists (select from pg_attribute
                  where attrelid = 'gate.liveness'::regclass and attname = 'beaten_at' and not attisdropped) then
    alter table gate.liveness add column beaten_at timestamptz not null default now();
  end if;
end $$;

-- Nonces of signed intents, until they expire.
create table if not exists gate.intent_nonces (
  agent text not null,
  nonce text not null,
  action text not null,
  digest text not null,
  reserved_ms bigint not null,
  expires_ms bigint not null,
  primary key (agent, nonce)
);
create index if not exists intent_nonces_by_expiry on gate.intent_nonces (expires_ms);

-- Places of calls that wait for an approval.
create table if not exists gate.approval_places (
  agent text not null,
  action text not null,
  reserved_ms bigint not null,
  primary key (agent, action)
);

create table if not exists gate.budget_reservations (
  action text not null,
  digest text not null,
  budget text not null,
  unit text not null,
  period text not null,
  starts_ms bigint not null,
  ends_ms bigint not null,
  amount bigint not null,
  at_ms bigint not null,
  is_confirmed boolean not null default false,
  primary key (action, digest, budget, unit)
);
drop index if exists gate.budget_reservations_by_time;
-- Unit and budget as one text, which is unique because no unit contains a space: the sum over a period uses this index.
-- One over the two columns was worse: until the tables were first analyzed, the planner also used it to find a call's
-- own rows, in place of the primary key, so each reservation read all rows of its budget.
create index if not exists budget_reservations_in_period
  on gate.budget_reservations ((budget_reservations.unit || ' ' || budget_reservations.budget), at_ms);
create index if not exists budget_reservations_by_end on gate.budget_reservations (ends_ms);
create index if not exists budget_reservations_unconfirmed on gate.budget_reservations (at_ms) where not is_confirmed;

-- Each counter is the sum of the reservations whose time lies in its period, so that a reservation need not add them up.
create table if not exists gate.budget_counters (
  budget text not null,
  unit text not null,
  starts_ms bigint not null,
  ends_ms bigint not null,
  used bigint not null,
  primary key (budget, unit, starts_ms, ends_ms)
);
