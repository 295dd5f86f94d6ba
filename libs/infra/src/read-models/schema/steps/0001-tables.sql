-- Ids, names and codes are bytes (collate "C"). Keysets walk their index backwards, so no index is descending. Rows come
-- back from the log: a later step may drop and create a table anew, and the projection whose version it raises fills it.
create schema if not exists read_models;

create table if not exists read_models.projection_checkpoints (
  name text collate "C" primary key,
  store_id text collate "C" not null,
  version integer not null,
  position bigint not null
);

create table if not exists read_models.actions (
  id text collate "C" primary key,
  org text collate "C" not null,
  agent text collate "C" not null,
  tool text collate "C" not null,
  state text collate "C" not null,
  decision text collate "C",
  verdict text collate "C",
  level text collate "C",
  error_code text collate "C",
  on_behalf_of text collate "C",
  created_at timestamptz(3) not null,
  deed text collate "C",
  sealed_at timestamptz(3),
  folded text not null,
  rule_id text collate "C",
  session text collate "C",
  execution text collate "C",
  shadow_differs boolean not null default false,
  key text collate "C"
);

create table if not exists read_models.approvals (
  id text collate "C" primary key,
  org text collate "C" not null,
  action text collate "C" not null,
  agent text collate "C" not null,
  tool text collate "C" not null,
  status text collate "C" not null,
  expires_at timestamptz(3) not null,
  deed text collate "C",
  folded text not null
);

create table if not exists read_models.deeds (
  id text collate "C" primary key,
  org text collate "C" not null,
  seq bigint not null,
  kind text collate "C" not null,
  action text collate "C",
  agent text collate "C",
  issued_at timestamptz(3) not null,
  body_hash text collate "C" not null,
  prev_hash text collate "C",
  kid text collate "C" not null,
  signature text collate "C" not null,
  about text
);

create table if not exists read_models.connectors (
  id text collate "C" primary key,
  org text collate "C" not null,
  name text collate "C" not null,
  type text collate "C" not null,
  status text collate "C" not null,
  created_at timestamptz(3) not null,
  folded text not null
);

create table if not exists read_models.policies (
  id text collate "C" primary key,
  org text collate "C" not null,
  name text collate "C" not null,
  created_at timestamptz(3) not null,
  latest_version_id text collate "C"
);

create table if not exists read_models.policy_versions (
  id text collate "C" primary key,
  org text collate "C" not null,
  policy text collate "C" not null,
  version integer not null,
  source text collate "C" not null,
  source_bytes integer not null,
  source_hash text collate "C" not null,
  version_hash text collate "C" not null,
  notes text collate "C",
  author text not null,
  origin text collate "C" not null,
  created_at timestamptz(3) not null
);

create table if not exists read_models.policy_slots (
  org text collate "C" not null,
  mode text collate "C" not null,
  policy text collate "C",
  version_id text collate "C",
  changed_at timestamptz(3) not null,
  primary key (org, mode)
);

create table if not exists read_models.agents (
  id text collate "C" primary key,
  org text collate "C" not null,
  name text collate "C" not null,
  status text collate "C" not null,
  created_at timestamptz(3) not null,
  folded text not null
);

create table if not exists read_models.security_events (
  id text collate "C" primary key,
  org text collate "C" not null,
  type text collate "C" not null,
  user_id text collate "C",
  session text collate "C",
  via text collate "C",
  why text collate "C",
  created_at timestamptz(3) not null,
  actor text,
  key text,
  export text
);

create table if not exists read_models.hourly_counts (
  id text collate "C" primary key,
  org text collate "C" not null,
  hour timestamptz(3) not null,
  agent text collate "C" not null,
  tool text collate "C" not null,
  decision text collate "C",
  source text collate "C",
  rule_id text collate "C",
  status text collate "C" not null,
  execution text collate "C",
  verdict text collate "C",
  level text collate "C",
  actions bigint not null
);

create table if not exists read_models.hourly_totals (
  id text collate "C" primary key,
  org text collate "C" not null,
  hour timestamptz(3) not null,
  decision text collate "C",
  source text collate "C",
  status text collate "C" not null,
  verdict text collate "C",
  actions bigint not null
);

-- No index of public events but the keys: rows are read by `seq`, and every recorded action writes five of them.
create table if not exists read_models.public_events (
  seq bigint primary key,
  evt text collate "C" not null,
  org text collate "C" not null,
  type text collate "C" not null,
  agent text collate "C",
  livemode boolean not null,
  trace text,
  thin text not null,
  at timestamptz(3) not null
);

create table if not exists read_models.briefed_actions (
  id text collate "C" primary key,
  brief text not null
);

create table if not exists read_models.public_event_floors (
  store_id text collate "C" primary key,
  seq bigint not null
);

-- For a database of an older program, whose rows the projections then make anew. Each is asked first: these changes lock
-- the table against everybody, even where nothing is missing.
do $$
declare
  missing record;
begin
  for missing in
    select * from (values
      ('read_models.actions', 'rule_id', 'text collate "C"'),
      ('read_models.actions', 'session', 'text collate "C"'),
      ('read_models.actions', 'execution', 'text collate "C"'),
      ('read_models.actions', 'shadow_differs', 'boolean not null default false'),
      ('read_models.actions', 'key', 'text collate "C"'),
      ('read_models.deeds', 'about', 'text'),
      ('read_models.security_events', 'actor', 'text'),
      ('read_models.security_events', 'key', 'text'),
      ('read_models.security_events', 'export', 'text'))
      as expected (table_name, column_name, definition)
     where not exists (select from pg_attribute
                        where attrelid = table_name::regclass and attname = column_name and not attisdropped)
  loop
    execute format('alter table %s add column %I %s', missing.table_name, missing.column_name, missing.definition);
  end loop;
  if exists (select from pg_attribute where attrelid = 'read_models.security_events'::regclass
              and attname in ('user_id', 'session') and attnotnull) then
    alter table read_models.security_events alter column user_id drop not null, alter column session drop not null;
  end if;
  -- `folded` has 2 KB or more, which PostgreSQL would try to make shorter each time, for little. It stays in the table
  -- beside: `q` reads the others.
  if exists (select from pg_attribute where attrelid = 'read_models.actions'::regclass
              and attname = 'folded' and attstorage <> 'e') then
    alter table read_models.actions alter column folded set storage external;
  end if;
end $$;

create index if not exists actions_by_time on read_models.actions (org, created_at, id);
create index if not exists actions_by_agent on read_models.actions (org, agent, created_at, id);
create index if not exists actions_by_tool on read_models.actions (org, tool, created_at, id);
create index if not exists actions_by_key on read_models.actions (org, key, created_at, id);
create index if not exists actions_on_behalf_of on read_models.actions (org, on_behalf_of, created_at, id)
  where on_behalf_of is not null;
create index if not exists actions_by_rule on read_models.actions (org, rule_id, created_at, id)
  where rule_id is not null;
create index if not exists actions_by_session on read_models.actions (org, session, created_at, id)
  where session is not null;
-- What most actions are has no index of these, so that an ordinary action costs nothing more: they find what is rare.
create index if not exists actions_unsealed on read_models.actions (org, created_at, id) where state <> 'sealed';
create index if not exists actions_shadow_differs on read_models.actions (org, created_at, id) where shadow_differs;
create index if not exists actions_by_execution on read_models.actions (org, execution, created_at, id)
  where execution <> 'succeeded';
create index if not exists actions_by_error on read_models.actions (org, error_code, created_at, id)
  where error_code is not null;
create index if not exists actions_by_decision on read_models.actions (org, decision, created_at, id)
  where decision <> 'allow';
create index if not exists actions_by_verdict on read_models.actions (org, verdict, created_at, id)
  where verdict <> 'VERIFIED';
create index if not exists actions_by_level on read_models.actions (org, level, created_at, id) where level <> 'L0';

create index if not exists approvals_by_expiry on read_models.approvals (org, expires_at, id);
create index if not exists approvals_by_status on read_models.approvals (org, status, expires_at, id);
create index if not exists approvals_by_agent on read_models.approvals (org, agent, expires_at, id);
create index if not exists approvals_by_tool on read_models.approvals (org, tool, expires_at, id);

create index if not exists deeds_by_seq on read_models.deeds (org, seq);
create index if not exists deeds_by_kind on read_models.deeds (org, kind, seq);
create index if not exists deeds_by_action on read_models.deeds (org, action, seq) where action is not null;
create index if not exists deeds_by_agent on read_models.deeds (org, agent, seq) where agent is not null;
create index if not exists deeds_by_time on read_models.deeds (org, issued_at, seq);

create index if not exists connectors_by_time on read_models.connectors (org, created_at, id);
create index if not exists policies_by_time on read_models.policies (org, created_at, id);
create index if not exists policy_versions_by_number on read_models.policy_versions (org, policy, version);
create index if not exists agents_by_time on read_models.agents (org, created_at, id);
create index if not exists security_events_by_time on read_models.security_events (org, created_at, id);
create index if not exists hourly_counts_by_hour on read_models.hourly_counts (org, hour);
create index if not exists hourly_totals_by_hour on read_models.hourly_totals (org, hour);

-- Programs from before the steps look here: one that meets a name that it does not know does not start.
create table if not exists read_models.migrations (
  id serial,
  timestamp bigint not null,
  name character varying not null,
  constraint "PK_8c82d7f526340ab734260ea46be" primary key (id)
);
insert into read_models.migrations (timestamp, name)
select 1796100000000, 'GoOnBySteps1796100000000'
 where not exists (select from read_models.migrations where name = 'GoOnBySteps1796100000000');
