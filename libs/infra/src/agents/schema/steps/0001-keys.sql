create schema if not exists agents;

-- Who holds a key: known by its prefix, which never changes hands.
create table if not exists agents.key_prefixes (
  prefix text primary key,
  org text not null,
  agent text,
  last_used_ms bigint
);

-- Which pepper the keys of this database are hashed under, by a keyed value that says nothing about it.
create table if not exists agents.pepper_check (
  only_row boolean primary key default true check (only_row),
  check_value bytea not null
);

-- For a database of an older program. Asked first: `add column if not exists` locks the table against everybody, even
-- where nothing is missing.
do $$ begin
  if not exists (select from pg_attribute
                  where attrelid = 'agents.key_prefixes'::regclass and attname = 'last_used_ms' and not attisdropped) then
    alter table agents.key_prefixes add column last_used_ms bigint;
  end if;
end $$;
