import { quotedName } from '../../../database-set-up/index.js';

/** Roles of PostgreSQL's own that reach the files or the programs of its machine. */
const SERVER_ROLES = ['pg_write_server_files', 'pg_execute_server_program', 'pg_read_server_files'] as const;
/** Those that make grants meaningless: calls work, and the owner should know. */
const WIDE_ROLES = [
  'pg_write_all_data',
  'pg_read_all_data',
  'pg_maintain',
  'pg_signal_backend',
  'pg_create_subscription',
  'pg_database_owner',
] as const;

const jsonArray = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/**
 * What the role of this connection may do, by itself or by any role that it is a member of: whoever may SET ROLE has all of it.
 * One row with one column, `facts`, a JSON text, so that no reader of types stands between. PostgreSQL 14 and newer.
 */
export const AGENT_ROLE_SQL = `
with reachable as (
  select r.* from pg_catalog.pg_roles r where pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
), own as (
  select r.* from pg_catalog.pg_roles r where r.rolname = session_user
)
select pg_catalog.json_build_object(
  'role', session_user,
  'is_superuser', own.rolsuper,
  'superuser_by', (select min(rolname::text) from reachable where rolsuper and rolname <> session_user and not own.rolsuper),
  'bypasses_rls', exists (select from reachable where rolbypassrls),
  'may_replicate', exists (select from reachable where rolreplication),
  'may_create_roles', exists (select from reachable where rolcreaterole),
  'may_create_databases', exists (select from reachable where rolcreatedb),
  'server_roles', (select coalesce(json_agg(rolname order by rolname), '[]'::json) from reachable where rolname in (${jsonArray(SERVER_ROLES)})),
  'wide_roles', (select coalesce(json_agg(rolname order by rolname), '[]'::json) from reachable where rolname in (${jsonArray(WIDE_ROLES)}))
)::text as facts from own`;

/** The row of {@link AGENT_ROLE_SQL}. */
export interface AgentRoleRow {
  readonly facts: string;
}

export interface AgentRoleFacts {
  readonly role: string;
  readonly is_superuser: boolean;
  readonly superuser_by: string | null;
  readonly bypasses_rls: boolean;
  readonly may_replicate: boolean;
  readonly may_create_roles: boolean;
  readonly may_create_databases: boolean;
  readonly server_roles: readonly string[];
  readonly wide_roles: readonly string[];
}

export const agentRoleFacts = ({ facts }: AgentRoleRow): AgentRoleFacts => JSON.parse(facts) as AgentRoleFacts;

/** A fault of the role, and the SQL that takes it away. */
export interface RoleFault {
  readonly what: string;
  readonly mend: string;
}

/** Why no agent may work as this role; empty where one may. */
export const agentRoleFaults = (facts: AgentRoleFacts): readonly RoleFault[] => {
  const role = quotedName(facts.role);
  const attribute = (isSo: boolean, what: string, word: string): RoleFault[] =>
    isSo ? [{ what, mend: `ALTER ROLE ${role} ${word};` }] : [];
  const faults = [
    ...attribute(facts.is_superuser, 'is a superuser', 'NOSUPERUSER'),
    ...(facts.superuser_by === null
      ? []
      : [
          {
            what: `may become the superuser ${quotedName(facts.superuser_by)}`,
            mend: `REVOKE ${quotedName(facts.superuser_by)} FROM ${role};`,
          },
        ]),
    ...attribute(facts.bypasses_rls, 'passes by row level security (BYPASSRLS)', 'NOBYPASSRLS'),
    ...attribute(facts.may_replicate, 'may replicate, which reads everything (REPLICATION)', 'NOREPLICATION'),
    ...attribute(facts.may_create_roles, 'may make roles (CREATEROLE)', 'NOCREATEROLE'),
    ...facts.server_roles.map((name) => ({
      what: `is a member of ${name}, which reaches the machine of the database`,
      mend: `REVOKE ${quotedName(name)} FROM ${role};`,
    })),
  ];
  // A superuser is a member of everything: the rest says nothing more.
  return facts.is_superuser ? faults.slice(0, 1) : faults;
};

/** What calls work with all the same, and its owner should know. */
export const agentRoleConcerns = (facts: AgentRoleFacts): readonly RoleFault[] => {
  const role = quotedName(facts.role);
  return [
    ...(facts.may_create_databases ? [{ what: 'may make databases', mend: `ALTER ROLE ${role} NOCREATEDB;` }] : []),
    ...facts.wide_roles.map((name) => ({
      what: `is a member of ${name}, beyond what tables are granted to it`,
      mend: `REVOKE ${quotedName(name)} FROM ${role};`,
    })),
  ];
};

/**
 * Asked once a connection, before the first statement of an agent.
 * @returns a sentence about the role that may be shown (`database_role_unsafe`); null where it is safe
 */
export const whyUnsafe = (row: AgentRoleRow): string | null => {
  const facts = agentRoleFacts(row);
  const faults = agentRoleFaults(facts);
  if (faults.length === 0) return null;
  return `The role ${quotedName(facts.role)} of the connector ${faults.map(({ what }) => what).join(', and ')}.`;
};
