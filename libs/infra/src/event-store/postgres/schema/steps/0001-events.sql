-- The log.
do $$ begin
  if current_setting('server_encoding') <> 'UTF8' then
    raise sqlstate 'AGU01' using message = format(
      'The database is encoded in %s, which cannot hold every event. Create one with encoding ''UTF8'' and name it where '
      'this one is named, as in DATABASE_URL.', current_setting('server_encoding'));
  end if;
end $$;

create schema if not exists event_store;

-- Positions have no gaps: the append function assigns them, not a sequence. Data and metadata are text, given back byte
-- for byte (jsonb would reorder members and refuse U+0000). Names are compared by bytes, whatever the collation of the
-- database.
create table if not exists event_store.events (
  position bigint primary key check (position >= 0),
  stream text collate "C" not null,
  revision bigint not null check (revision >= 0),
  id uuid not null,
  type text collate "C" not null,
  data text collate "C" not null,
  metadata text collate "C" not null,
  unique (stream, revision)
);

-- The event of a deed has 3 KB, mostly hashes and signatures. By default PostgreSQL would try in vain to compress it
-- and then move it to a TOAST table, which took a quarter of the time of the insert. Asked first, because the change
-- locks the table.
do $$ begin
  if not exists (select from pg_class
                  where oid = 'event_store.events'::regclass and reloptions @> '{toast_tuple_target=8160}') then
    alter table event_store.events set (toast_tuple_target = 8160);
  end if;
end $$;

-- Programs from before the steps look here: one that meets a version of more than 1 does not start, and so does not put
-- its own functions in the place of newer ones.
create table if not exists event_store.event_store_schema (
  version integer primary key,
  installed_at timestamptz not null default now()
);
insert into event_store.event_store_schema (version) values (1), (2) on conflict do nothing;
