-- Witnesses of ledgers: how each stands, and what they hold against a ledger.
-- oldest-program: 0001

-- How far a witness has come with a tree. Lost, it is asked from nothing, and tells what it has.
create table if not exists ledger.witness_standings (
  org text not null,
  origin text not null,
  witness text not null,
  size bigint not null,
  cosigned_at text,
  result text not null,
  detail text,
  failures integer not null,
  next_try_at text,
  primary key (org, origin, witness)
);

-- Evidence: never changed, never removed. What a witness shows the second time may prove what its first word only said.
create table if not exists ledger.witness_disputes (
  org text not null,
  origin text not null,
  witness text not null,
  said text not null,
  name text not null,
  url text not null,
  their_size bigint,
  our_note text not null,
  their_note text,
  at text not null,
  primary key (org, origin, witness, said, at)
);
