create schema if not exists idempotency;

-- `id` is a digest, so keys compare byte for byte whatever the collation of the database, and a row's size is bounded.
-- `answer_status` is null while the first request runs. Headers and body are text: the database never reads them.
create table if not exists idempotency.request (
  id bytea primary key,
  fingerprint text not null,
  command_id text not null,
  claim text not null,
  locked_until_ms bigint not null,
  expires_at_ms bigint not null,
  answer_status integer,
  answer_headers text,
  answer_body text
);
create index if not exists request_by_expiry on idempotency.request (expires_at_ms);
