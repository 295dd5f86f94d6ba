-- Checkpoints: the keys that sign them, the hashes of the trees, and the ledgers for which nothing is signed.
-- oldest-program: 0001

create table if not exists ledger.checkpoint_keys (kid text primary key, ciphertext bytea not null);

-- Full tiles of 256 hashes (tlog-tiles). They come back from the ledgers, and so does the frontier.
create table if not exists ledger.tiles (
  org text not null,
  level smallint not null,
  index bigint not null,
  hashes bytea not null,
  primary key (org, level, index)
);

-- How far a tree is: its size, and the hashes of its partial tiles one behind the other.
create table if not exists ledger.frontiers (org text primary key, size bigint not null, hashes bytea not null);

create table if not exists ledger.broken_ledgers (
  org text primary key,
  reason text not null,
  size bigint not null,
  signed_size bigint not null,
  since text not null
);
