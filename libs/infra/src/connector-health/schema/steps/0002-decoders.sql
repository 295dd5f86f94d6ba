-- oldest-program: 0001
-- How the decoder of a connector's change log is. `reason` is null where nothing is wrong, and `since_ms` when it became
-- what it is; `seen_ms` is when the decoder looked last, both in Unix milliseconds. `position` is a place in the log,
-- `X/Y`. A row is there as long as a slot may be.
create table if not exists connectors.decoders (
  connector text collate "C" primary key,
  org text not null,
  name text not null,
  reason text,
  lag_bytes bigint,
  position text,
  since_ms bigint not null,
  seen_ms bigint not null
);
create index if not exists decoders_by_org on connectors.decoders (org, name);
