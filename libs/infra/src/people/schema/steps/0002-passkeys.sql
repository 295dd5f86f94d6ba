-- Passkeys: what is known of one beside the log, what a device is to sign, and the mail about a new one.
-- oldest-program: 0001
-- An older program takes the order of such a mail for an invitation that never came, and drops it after a minute.

create table if not exists people.passkeys (
  credential text primary key,
  user_id text not null,
  org text not null,
  membership text not null,
  name text not null,
  is_offered boolean,
  sign_count bigint not null,
  last_used_ms bigint,
  counter_fell_ms bigint
);

create table if not exists people.passkey_challenges (
  challenge_hash bytea primary key,
  purpose text not null,
  holder text not null,
  expires_ms bigint not null
);

-- Of the order of a mail about a new passkey, with which it goes. A column would lock the orders against a backup.
create table if not exists people.passkey_mails (
  order_id text primary key references people.mail_orders on delete cascade,
  passkey_name text not null
);

create index if not exists passkeys_by_user on people.passkeys (user_id, org);
create index if not exists passkeys_by_fall on people.passkeys (org, counter_fell_ms) where counter_fell_ms is not null;
create index if not exists passkey_challenges_by_time on people.passkey_challenges (expires_ms);
