create schema if not exists ledger;

-- How far the sealer has come, as a hint.
create table if not exists ledger.low_water (
  only_row boolean primary key default true check (only_row),
  store_id text not null,
  position bigint not null,
  stream text not null,
  revision bigint not null,
  event_id text not null
);

-- Organizations for which nothing can be sealed now, and since when.
create table if not exists ledger.parked (
  org text primary key,
  store_id text not null,
  position bigint not null,
  since text not null,
  reason text not null
);

create table if not exists ledger.seal_keys (kid text primary key, ciphertext bytea not null);
