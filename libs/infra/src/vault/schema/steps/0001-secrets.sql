-- Without a schema: the tables lie, and are read, where the settings of the connection say.
create table if not exists vault_secrets (
  org text not null,
  object text not null,
  version text not null,
  field text not null,
  stream text not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  primary key (org, object, version, field)
);
create index if not exists vault_secrets_by_age on vault_secrets (created_at);

-- Which key the secrets of this database are sealed under.
create table if not exists vault_key_check (
  only_row boolean primary key default true check (only_row),
  check_value text not null
);
