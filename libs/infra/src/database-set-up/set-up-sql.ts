import { doBlock, quotedName, quotedTable, quotedText } from './quoted.js';
import { publishedTableBody, type SetUpTable } from './set-up-table.js';

export interface SetUpTerms {
  readonly database: string;
  readonly schemas: readonly string[];
  /** Null: no witness, so that nothing is published and no slot is made. */
  readonly witness: { readonly slot: string; readonly publication: string } | null;
  readonly tables: readonly SetUpTable[];
  readonly agentRole: string;
  readonly witnessRole: string;
  /** Of roles that are made. Without one, a role is made that nobody can log in as yet. See `scramVerifier`. */
  readonly verifiers?: { readonly agent?: string; readonly witness?: string };
}

type SetUpStep =
  'session' | 'agent_role' | 'witness_role' | 'grants' | 'table_grants' | 'publication' | 'published_table' | 'slot';

/** One statement that the owner of a database runs, on its own: not in one transaction with the others. */
export interface SetUpStatement {
  readonly step: SetUpStep;
  /** What it sees to, for a person. */
  readonly what: string;
  readonly sql: string;
}

/**
 * All that a database needs for a connector. Each statement looks first and changes nothing that is as wanted: running them
 * again is safe. A table that would make its owner's own statements fail is refused, and left as it was.
 */
export const setUpSql = (terms: SetUpTerms): readonly SetUpStatement[] => [
  {
    step: 'session',
    what: 'wait for no lock longer than five seconds, so that nothing else waits behind it',
    sql: `SET lock_timeout = '5s';`,
  },
  ...roles(terms),
  ...grants(terms),
  ...terms.tables.map((table) => tableGrants(table, terms.agentRole)),
  ...(terms.witness === null ? [] : published(terms, terms.witness)),
];

const roles = ({ agentRole, witnessRole, witness, verifiers = {} }: SetUpTerms): readonly SetUpStatement[] => [
  {
    step: 'agent_role',
    what: `the role ${quotedName(agentRole)}, which calls of agents are made as`,
    sql: role(agentRole, 'NOREPLICATION', verifiers.agent),
  },
  ...(witness === null
    ? []
    : [
        {
          step: 'witness_role' as const,
          what: `the role ${quotedName(witnessRole)}, which reads the change log and no table`,
          sql: role(witnessRole, 'REPLICATION', verifiers.witness),
        },
      ]),
];

const role = (name: string, replication: 'REPLICATION' | 'NOREPLICATION', verifier: string | undefined): string => {
  const quoted = quotedName(name);
  const password = verifier === undefined ? '' : ` PASSWORD ${quotedText(verifier)}`;
  const isRole = `SELECT FROM pg_catalog.pg_roles WHERE rolname = ${quotedText(name)}`;
  // Without a superuser's right nobody may name the attributes that are off by themselves.
  const attributes = replication === 'REPLICATION' ? 'LOGIN REPLICATION' : 'LOGIN';
  const corrected =
    replication === 'REPLICATION'
      ? `\n  ELSIF NOT EXISTS (${isRole} AND rolreplication) THEN\n    ALTER ROLE ${quoted} REPLICATION;`
      : '';
  return doBlock(
    `BEGIN
  IF NOT EXISTS (${isRole}) THEN
    CREATE ROLE ${quoted} ${attributes}${password};${corrected}
  END IF;
END`,
  );
};

/**
 * What is held already is not granted again: PostgreSQL answers a GRANT of somebody who may not grant with a warning alone, which
 * then says what is missing.
 */
const granted = (held: string, grant: string): string =>
  doBlock(`BEGIN
  IF NOT (${held}) THEN
    ${grant};
  END IF;
END`);

const grants = ({ database, schemas, agentRole, witnessRole, witness }: SetUpTerms): readonly SetUpStatement[] => [
  ...[agentRole, ...(witness === null ? [] : [witnessRole])].map((role) => ({
    step: 'grants' as const,
    what: `connecting to the database ${quotedName(database)} for ${quotedName(role)}`,
    sql: granted(
      `has_database_privilege(${quotedText(role)}, ${quotedText(database)}, 'CONNECT')`,
      `GRANT CONNECT ON DATABASE ${quotedName(database)} TO ${quotedName(role)}`,
    ),
  })),
  ...schemas.map((schema) => ({
    step: 'grants' as const,
    what: `the schema ${quotedName(schema)} for the agents`,
    sql: granted(
      `has_schema_privilege(${quotedText(agentRole)}, ${quotedText(schema)}, 'USAGE')`,
      `GRANT USAGE ON SCHEMA ${quotedName(schema)} TO ${quotedName(agentRole)}`,
    ),
  })),
];

const TABLE_RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;

/** With the sequences of its columns (`serial`): an INSERT draws from them. */
const tableGrants = (table: SetUpTable, agentRole: string): SetUpStatement => {
  const [quoted, grantee] = [quotedTable(table), quotedName(agentRole)];
  const [role, name] = [quotedText(agentRole), quotedText(quoted)];
  const held = TABLE_RIGHTS.map((right) => `has_table_privilege(${role}, ${name}, '${right}')`).join(' AND ');
  return {
    step: 'table_grants',
    what: `reading and changing ${quoted} for the agents`,
    sql: doBlock(
      `DECLARE
  drawn record;
BEGIN
  IF NOT (${held}) THEN
    GRANT ${TABLE_RIGHTS.join(', ')} ON TABLE ${quoted} TO ${grantee};
  END IF;
  FOR drawn IN
    SELECT s.oid AS id, s.oid::regclass AS name FROM pg_catalog.pg_class s
      JOIN pg_catalog.pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'a'
     WHERE s.relkind = 'S' AND d.refclassid = 'pg_class'::regclass AND d.refobjid = ${name}::regclass
  LOOP
    IF NOT has_sequence_privilege(${role}, drawn.id, 'USAGE') THEN
      EXECUTE format('GRANT USAGE ON SEQUENCE %s TO %I', drawn.name, ${role});
    END IF;
  END LOOP;
END`,
    ),
  };
};

const published = (terms: SetUpTerms, witness: NonNullable<SetUpTerms['witness']>): readonly SetUpStatement[] => [
  {
    step: 'publication',
    what: `the publication ${quotedName(witness.publication)}, which names each table`,
    sql: publication(witness.publication),
  },
  ...terms.tables.map((table) => ({
    step: 'published_table' as const,
    what: `${quotedTable(table)} in the publication${table.isFull ? ', with REPLICA IDENTITY FULL' : ''}`,
    sql: doBlock(publishedTableBody(table, witness.publication)),
  })),
  // Last: a slot that is older than its publication meets changes that the publication does not know.
  {
    step: 'slot',
    what: `the replication slot ${quotedName(witness.slot)}`,
    sql: `SELECT pg_create_logical_replication_slot(${quotedText(witness.slot)}, 'pgoutput')
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_replication_slots WHERE slot_name = ${quotedText(witness.slot)});`,
  },
];

/** PostgreSQL 18 and newer can publish stored generated columns, and must: else REPLICA IDENTITY FULL stops updates. */
const publication = (name: string): string => {
  const quoted = quotedName(name);
  const named = `p.pubname = ${quotedText(name)}`;
  return doBlock(
    `BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_publication p WHERE ${named}) THEN
    CREATE PUBLICATION ${quoted} WITH (publish_via_partition_root = true);
  END IF;
  IF EXISTS (SELECT FROM pg_catalog.pg_publication p WHERE ${named} AND p.puballtables) THEN
    RAISE EXCEPTION USING MESSAGE = ${quotedText(`The publication ${quoted} is of all tables.`)},
      HINT = ${quotedText(`Name another in witness.publication, or run DROP PUBLICATION ${quoted} first.`)};
  END IF;
  IF EXISTS (
    SELECT FROM pg_catalog.pg_publication p
     WHERE ${named} AND NOT (p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate AND p.pubviaroot)
  ) THEN
    ALTER PUBLICATION ${quoted} SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);
  END IF;
  IF EXISTS (SELECT FROM pg_catalog.pg_publication p WHERE ${named} AND to_jsonb(p) ->> 'pubgencols' = 'n') THEN
    EXECUTE ${quotedText(`ALTER PUBLICATION ${quoted} SET (publish_generated_columns = stored)`)};
  END IF;
END`,
  );
};
