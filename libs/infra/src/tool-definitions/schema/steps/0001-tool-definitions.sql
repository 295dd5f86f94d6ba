create schema if not exists connectors;

-- What servers say of their tools: one row for each definition that a connector's log names, or named a moment ago.
create table if not exists connectors.tool_definitions (
  connector text collate "C" not null,
  digest text collate "C" not null,
  org text not null,
  name text not null,
  body text not null,
  written_at timestamptz not null default now(),
  primary key (connector, digest)
);
