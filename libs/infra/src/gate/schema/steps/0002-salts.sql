-- oldest-program: 0001
-- The roots of the salts under which deeds commit to a payload: one for each event that committed to it under its own, so
-- several where the same payload was written again. They go with the payload. A table of its own, because a column would
-- lock the payloads against a backup that reads them.
create table if not exists gate.payload_salts (
  owner text not null,
  kind text not null,
  digest text not null,
  salt text not null,
  primary key (owner, kind, digest, salt)
);
