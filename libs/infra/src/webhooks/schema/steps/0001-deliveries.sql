create schema if not exists webhooks;

-- One row for each endpoint, which is the lock under which its deliveries are taken up. Times are Unix milliseconds.
create table if not exists webhooks.endpoints (
  webhook text primary key,
  failing_since_ms bigint
);

-- What is to be sent: one row for each event and endpoint, written in the transaction that moves the checkpoint past the
-- event. `due_ms`: of a delivery under way the end of its claim; `claimer`: the process of the last one.
create table if not exists webhooks.deliveries (
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
  claimer text,
  primary key (webhook, event)
);

-- For a database of an older program. Asked first: `add column if not exists` locks the table against everybody, even
-- where nothing is missing.
do $$ begin
  if not exists (select from pg_attribute
                  where attrelid = 'webhooks.deliveries'::regclass and attname = 'claimer' and not attisdropped) then
    alter table webhooks.deliveries add column claimer text;
  end if;
end $$;

create index if not exists deliveries_open on webhooks.deliveries (webhook, due_ms, created_ms)
  where status in ('pending', 'delivering', 'retrying');
create index if not exists deliveries_by_time on webhooks.deliveries (webhook, created_ms, event);
create index if not exists deliveries_ended on webhooks.deliveries (ended_ms) where ended_ms is not null;
create index if not exists deliveries_claimed on webhooks.deliveries (claimer) where status = 'delivering';

-- `store_id` and `seq` are those of the last public event that was folded; what happened before `since_ms` is passed
-- over.
create table if not exists webhooks.checkpoint (
  name text primary key,
  store_id text not null,
  seq bigint not null,
  since_ms bigint
);
