/**
 * What readiness asks. Each answers one row with one column, `facts`, a JSON text. Columns that an older PostgreSQL lacks are
 * read through `to_jsonb(row) ->> 'column'`, which is null where there is none: one text for every version.
 */

/** $1: schemas, a JSON array of names. */
export const SERVER_SQL = `
select json_build_object(
  'version', current_setting('server_version_num')::int,
  'version_text', current_setting('server_version'),
  'in_recovery', pg_is_in_recovery(),
  'encoding', current_setting('server_encoding'),
  'standard_conforming_strings', current_setting('standard_conforming_strings'),
  'track_counts', current_setting('track_counts'),
  'schemas', (
    select coalesce(json_agg(json_build_object(
        'name', w.name, 'exists', n.oid is not null,
        'usage', n.oid is not null and has_schema_privilege(session_user, n.oid, 'USAGE')) order by w.place), '[]'::json)
      from json_array_elements_text($1::json) with ordinality w(name, place)
      left join pg_namespace n on n.nspname = w.name),
  'owned', (
    select coalesce(json_agg(format('%I.%I', n.nspname, c.relname) order by n.nspname, c.relname), '[]'::json)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname in (select json_array_elements_text($1::json))
       and c.relowner = (select oid from pg_roles where rolname = session_user))
)::text as facts`;

/** $1: the slot. */
export const LOG_SQL = `
select json_build_object(
  'wal_level', current_setting('wal_level'),
  'slots', (select count(*) from pg_replication_slots),
  'max_slots', current_setting('max_replication_slots')::int,
  'senders', (select count(*) from pg_stat_replication),
  'max_senders', current_setting('max_wal_senders')::int,
  'keep_mb', (select setting::bigint from pg_settings where name = 'max_slot_wal_keep_size'),
  'slot', (
    select json_build_object(
        'plugin', s.plugin, 'database', s.database, 'is_of_this_database', s.database is not distinct from current_database(),
        'temporary', s.temporary, 'active', s.active, 'two_phase', (to_jsonb(s) ->> 'two_phase')::boolean, 'wal_status', s.wal_status,
        'invalidation', to_jsonb(s) ->> 'invalidation_reason',
        'kept', pg_wal_lsn_diff(now_at.lsn, s.restart_lsn),
        'behind', pg_wal_lsn_diff(now_at.lsn, s.confirmed_flush_lsn))
      from pg_replication_slots s,
           lateral (select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end) now_at(lsn)
     where s.slot_name = $1)
)::text as facts`;

/** Schemas can be published from this version on, and are kept in a catalogue of their own. */
const PUBLISHED_SCHEMAS_VERSION = 150_000;

/** $1: the publication. No row: there is none. */
export const publicationSql = (version: number): string => `
select json_build_object(
  'all_tables', p.puballtables, 'insert', p.pubinsert, 'update', p.pubupdate, 'delete', p.pubdelete, 'truncate', p.pubtruncate,
  'via_root', p.pubviaroot, 'generated', to_jsonb(p) ->> 'pubgencols',
  'schemas', ${
    version < PUBLISHED_SCHEMAS_VERSION
      ? `'[]'::json`
      : `(select coalesce(json_agg(n.nspname order by n.nspname), '[]'::json)
            from pg_publication_namespace s join pg_namespace n on n.oid = s.pnnspid where s.pnpubid = p.oid)`
  }
)::text as facts from pg_publication p where p.pubname = $1`;

/** The tables that a publication names, and their partitions, down to the last. $1: the publication. */
const PUBLISHED = `
published as (
  select r.prrelid as root, r.prrelid as id, to_jsonb(r) as said
    from pg_publication p join pg_publication_rel r on r.prpubid = p.oid where p.pubname = $1
  union all
  select u.root, i.inhrelid, u.said
    from published u join pg_inherits i on i.inhparent = u.id join pg_class c on c.oid = i.inhrelid where c.relispartition
)`;

/**
 * Of each table that is changed itself (partitions, not what they are part of, but for the table named): what PostgreSQL asks
 * of it before an UPDATE or DELETE. $1: the publication.
 */
export const TABLES_SQL = `
with recursive ${PUBLISHED}, identity as (
  select u.root, u.id, u.said, c.relname, c.relkind, c.relreplident, c.relpersistence, n.nspname, k.indkey
    from published u join pg_class c on c.oid = u.id join pg_namespace n on n.oid = c.relnamespace
    left join lateral (
      select i.indkey from pg_index i
       where i.indrelid = c.oid and i.indisvalid and i.indimmediate
         and case c.relreplident when 'd' then i.indisprimary when 'i' then i.indisreplident else false end
       limit 1) k on true
   where c.relkind = 'r' or (c.relkind = 'p' and not c.relispartition)
)
select coalesce(json_agg(json_build_object(
    'schema', t.nspname, 'name', t.relname, 'kind', t.relkind, 'root', t.root::regclass::text,
    'identity', t.relreplident, 'has_key', t.indkey is not null,
    'stored_in_identity', exists (
      select from pg_attribute a where a.attrelid = t.id and a.attnum > 0 and not a.attisdropped and a.attgenerated = 's'
         and (t.relreplident = 'f' or a.attnum = any (t.indkey))),
    'has_virtual', exists (
      select from pg_attribute a where a.attrelid = t.id and a.attnum > 0 and not a.attisdropped and a.attgenerated = 'v'),
    'is_filtered', (t.said ->> 'prqual') is not null,
    'has_column_list', (t.said ->> 'prattrs') is not null,
    'is_unlogged', t.relpersistence <> 'p'
  ) order by t.nspname, t.relname), '[]'::json)::text as facts
  from identity t`;

/**
 * What the role of the agents may change, and what the config names, with whether it is published. $1: the publication;
 * $2: schemas, a JSON array; $3: named tables, a JSON array of {schema, name}.
 */
export const WRITABLE_SQL = `
with recursive ${PUBLISHED}, wanted as (
  select n.nspname::text as schema, c.relname::text as name, c.oid
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p') and not c.relispartition
     and n.nspname in (select json_array_elements_text($2::json))
     and has_table_privilege(session_user, c.oid, 'INSERT, UPDATE, DELETE')
  union
  select w.schema, w.name, c.oid
    from json_to_recordset($3::json) w(schema text, name text)
    left join pg_namespace n on n.nspname = w.schema
    left join pg_class c on c.relnamespace = n.oid and c.relname = w.name and c.relkind in ('r', 'p')
)
select coalesce(json_agg(json_build_object(
    'schema', w.schema, 'name', w.name, 'exists', w.oid is not null,
    'is_published', exists (select from published u where u.id = w.oid)
  ) order by w.schema, w.name), '[]'::json)::text as facts
  from wanted w`;

/** What the witness's role is, and which published tables it could change. $1: the publication. */
export const WITNESS_SQL = `
with recursive ${PUBLISHED}
select json_build_object(
  'role', session_user, 'is_superuser', r.rolsuper, 'replicates', r.rolreplication,
  'writes', (
    select coalesce(json_agg(distinct format('%I.%I', n.nspname, c.relname)), '[]'::json)
      from published u join pg_class c on c.oid = u.id join pg_namespace n on n.oid = c.relnamespace
     where has_table_privilege(session_user, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
)::text as facts from pg_roles r where r.rolname = session_user`;
