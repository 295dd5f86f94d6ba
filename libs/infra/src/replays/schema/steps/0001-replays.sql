create schema if not exists replays;

-- Moments are texts of one length and zone, whose order is that of time in the collation "C". Sums and result are JSON
-- as text.
create table if not exists replays.replays (
  id text collate "C" primary key,
  org text not null,
  purpose text not null,
  policy text not null,
  version_id text not null,
  version integer not null,
  from_at text not null,
  to_at text not null,
  requested_by_type text not null,
  requested_by_id text,
  created_at text collate "C" not null,
  status text not null,
  total integer not null,
  done integer not null default 0,
  attempts integer not null default 0,
  cursor_at text,
  cursor_action text,
  sums text,
  result text,
  digest text,
  error_code text,
  ended_at text collate "C",
  in_force text
);

-- For a database of an older program. Asked first: `add column if not exists` locks the table against everybody, even
-- where nothing is missing.
do $$ begin
  if not exists (select from pg_attribute
                  where attrelid = 'replays.replays'::regclass and attname = 'in_force' and not attisdropped) then
    alter table replays.replays add column in_force text;
  end if;
end $$;

create index if not exists replays_by_time on replays.replays (org, created_at, id);
create index if not exists replays_open on replays.replays (created_at, id) where status in ('queued', 'running');
