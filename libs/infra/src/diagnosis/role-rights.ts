import type pg from 'pg';
import { DEPLOYMENT_TABLES, tablesOf } from './deployment-tables.js';

/** Rights of one kind on things of one kind, in the words of GRANT. */
export interface LackingRights {
  /** `update, delete` */
  readonly privileges: string;
  /** `gate.checkpoint, idempotency.request`, or `schema gate` */
  readonly place: string;
}

/** What the role of these settings may do. Names are as SQL writes them. */
export interface RoleState {
  readonly role: string;
  readonly isStandby: boolean;
  readonly lacks: readonly LackingRights[];
  /** Roles that own some of it, as whom this one may not act. */
  readonly owners: readonly string[];
}

/** $1 and $2: names of tables and, for each, one privilege. */
const THERE = `
with needed as (
  select asked.name, asked.privilege, asked.place, n.oid as schema, n.nspname, c.oid as relation, c.relowner
    from unnest($1::text[], $2::text[]) with ordinality as asked (name, privilege, place)
    join pg_namespace n on n.nspname = split_part(asked.name, '.', 1)
    join pg_class c on c.relnamespace = n.oid and c.relname = split_part(asked.name, '.', 2) and c.relkind = 'r')`;

/** An upgrade makes what is new in each schema, and new schemas; PostgreSQL asks for the right to in any case. */
const LACKS = `${THERE}, lacking as (
  select '' as kind, name, privilege, place from needed where not has_table_privilege(relation, privilege)
  union
  select 'schema ', nspname, asked.privilege, asked.place
    from needed, unnest(array['usage', 'create']) with ordinality as asked (privilege, place)
   where not has_schema_privilege(schema, asked.privilege)
  union
  select 'database ', quote_ident(current_database()), 'create', 1
   where not has_database_privilege(current_database(), 'create')
), rights as (
  select kind, name, string_agg(privilege, ', ' order by place) as privileges from lacking group by kind, name)
select privileges, kind || string_agg(name, ', ' order by name) as place
  from rights group by kind, privileges order by kind, privileges`;

/** An upgrade changes tables and functions, and a rebuild of projections replaces tables: their owner alone may. */
const OWNERS = `${THERE}, owned as (
  select relowner as owner from needed
  union
  select p.proowner from pg_proc p where p.pronamespace in (select schema from needed where nspname <> 'public'))
select quote_ident(pg_get_userbyid(owner)) as owner from owned where not pg_has_role(owner, 'usage') order by 1`;

const ROLE = `select quote_ident(current_user) as role, pg_is_in_recovery() as is_standby`;

/**
 * Whether the role of the settings may do everything that the service does in a database. A table that is not there is
 * passed over. Reads only.
 *
 * @param hasLog whether the log is in this database, too
 */
export const inspectRole = async (pool: pg.Pool, hasLog: boolean): Promise<RoleState> => {
  const rights = tablesOf(hasLog).flatMap((name) =>
    (DEPLOYMENT_TABLES[name] ?? []).map((privilege) => [name, privilege] as const),
  );
  const asked = [rights.map(([name]) => name), rights.map(([, privilege]) => privilege)];
  const { rows } = await pool.query<{ role: string; is_standby: boolean }>(ROLE);
  const lacks = await pool.query<LackingRights>(LACKS, asked);
  const owners = await pool.query<{ owner: string }>(OWNERS, asked);
  return {
    role: rows[0]?.role ?? '',
    isStandby: rows[0]?.is_standby ?? false,
    lacks: lacks.rows,
    owners: owners.rows.map(({ owner }) => owner),
  };
};
