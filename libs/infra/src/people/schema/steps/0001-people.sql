-- Times are Unix milliseconds. Hashes compare byte for byte whatever the collation of the database. Addresses and mails
-- are sealed under the vault key; of secrets only hashes are here.
create schema if not exists people;

-- `address_change` is null while no change of the address is under way.
create table if not exists people.people (
  user_id text primary key,
  address_hash bytea not null unique,
  address bytea not null,
  address_change text
);

create table if not exists people.user_orgs (
  user_id text not null,
  org text not null,
  invited_as bytea,
  primary key (user_id, org)
);

create table if not exists people.sessions (
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
);

-- Told to whoever comes with the cookie of a session that ended elsewhere, for a day.
create table if not exists people.ended_sessions (
  token_hash bytea primary key,
  user_id text not null,
  why text not null,
  ended_ms bigint not null
);

-- `site` and `former_browser_hash`: who asked, so that a stranger's request neither voids nor uses up what is another's.
create table if not exists people.mail_orders (
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
  expires_ms bigint,
  site text not null default '',
  former_browser_hash bytea
);

-- `user_id` is null in a decoy. Of what one site asked for, one sign-in row an address is live: the newest. `misses`:
-- wrong codes, and how many of them are recorded, written with the miss, of decoys too.
create table if not exists people.tokens (
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
  replaced_ms bigint,
  site text not null default '',
  misses integer not null default 0,
  recorded_misses integer not null default 0,
  missed_ms bigint
);

create table if not exists people.outbox (
  id text primary key,
  address_hash bytea not null,
  message bytea,
  tries integer not null default 0,
  due_ms bigint not null,
  expires_ms bigint not null,
  sent_ms bigint,
  given_up_ms bigint
);

-- About which approvals mails were written, and the links in them. Nothing that signs anybody in reads these.
create table if not exists people.mailed_approvals (approval text primary key, expires_ms bigint not null);

create table if not exists people.approval_links (
  token_hash bytea primary key,
  mail text not null,
  org text not null,
  approval text not null,
  user_id text not null,
  requested_ms bigint not null,
  expires_ms bigint not null,
  used_ms bigint,
  agent text not null default ''
);

-- By client, since one client is not to have all codes paused.
create table if not exists people.code_misses (
  minute bigint not null,
  misses integer not null,
  network text not null default ''
);

-- For a database of an older program. Asked first: `add column if not exists` locks the table against everybody, even
-- where nothing is missing.
do $$
declare
  missing record;
begin
  for missing in
    select * from (values
      ('people.people', 'address_change', 'text'),
      ('people.user_orgs', 'invited_as', 'bytea'),
      ('people.mail_orders', 'site', 'text not null default '''''),
      ('people.mail_orders', 'former_browser_hash', 'bytea'),
      ('people.tokens', 'site', 'text not null default '''''),
      ('people.tokens', 'misses', 'integer not null default 0'),
      ('people.tokens', 'recorded_misses', 'integer not null default 0'),
      ('people.tokens', 'missed_ms', 'bigint'),
      ('people.approval_links', 'agent', 'text not null default '''''),
      ('people.code_misses', 'network', 'text not null default '''''))
      as expected (table_name, column_name, definition)
     where not exists (select from pg_attribute
                        where attrelid = table_name::regclass and attname = column_name and not attisdropped)
  loop
    execute format('alter table %s add column %I %s', missing.table_name, missing.column_name, missing.definition);
  end loop;
  if exists (select from pg_constraint
              where conrelid = 'people.code_misses'::regclass and conname = 'code_misses_pkey') then
    alter table people.code_misses drop constraint code_misses_pkey;
  end if;
end $$;

create index if not exists sessions_by_user on people.sessions (user_id);
create index if not exists ended_sessions_by_time on people.ended_sessions (ended_ms);
create index if not exists mail_orders_by_age on people.mail_orders (requested_ms);
create index if not exists tokens_by_miss on people.tokens (missed_ms) where misses > recorded_misses;
create index if not exists tokens_by_address on people.tokens (address_hash, requested_ms);
create index if not exists invitations_by_org on people.tokens (org, requested_ms) where purpose = 'invite';
create index if not exists outbox_by_due on people.outbox (due_ms) where message is not null;
create index if not exists approval_links_by_user on people.approval_links (user_id, requested_ms);
create unique index if not exists code_misses_by_network on people.code_misses (minute, network);
