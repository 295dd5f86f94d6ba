create schema if not exists connectors;

-- The last test of each connector. `starts_ms`: when tests of the last minute began, in Unix milliseconds; `tested_ms`:
-- when the one began whose result is in `test`, as JSON. The three of a result are null until there is one.
create table if not exists connectors.health (
  connector text collate "C" primary key,
  org text not null,
  name text not null,
  starts_ms bigint[] not null,
  tested_ms bigint,
  status text,
  test text
);
create index if not exists health_failing on connectors.health (org, tested_ms) where status = 'failing';
