import { type CheckFinding, failedCheck, passedCheck, skippedCheck } from '#libs/domain/connectors';
import { bySql, listed, warning } from './findings.js';
import { quotedName, quotedTable } from '../../../database-set-up/index.js';
import type { PublicationFacts, PublishedTable, WitnessedLog } from './readiness-facts.js';

const PUBLISHED_CHANGES = ['insert', 'update', 'delete', 'truncate'] as const;

export const publicationFinding = ({ publication, tables }: WitnessedLog, name: string): CheckFinding => {
  const quoted = quotedName(name);
  if (publication === null) {
    return failedCheck(
      `There is no publication ${quoted}.`,
      `Run npm run ags -- database setup, or have the owner of the database run:\nCREATE PUBLICATION ${quoted} WITH (publish_via_partition_root = true);`,
    );
  }
  return (
    tooWide(publication, quoted) ??
    tooLittle(publication, quoted) ??
    partly(tables, quoted) ??
    (tables.length === 0
      ? warning(
          `The publication ${quoted} names no table.`,
          `Run npm run ags -- database setup --table with each table.`,
        )
      : passedCheck(`The publication ${quoted} names its tables one by one, and publishes every change of them.`))
  );
};

/** A table that is made later, without a key, could not be updated any more: by the customer's own programs either. */
const tooWide = ({ all_tables, schemas }: PublicationFacts, quoted: string): CheckFinding | null => {
  if (!all_tables && schemas.length === 0) return null;
  const what = all_tables ? 'all tables' : `whole schemas (${listed(schemas.map(quotedName))})`;
  return failedCheck(
    `The publication ${quoted} is of ${what}: UPDATE and DELETE would fail on every table without a key, also on one that is made later.`,
    bySql(
      `DROP PUBLICATION ${quoted};`,
      `CREATE PUBLICATION ${quoted} WITH (publish_via_partition_root = true);`,
      `ALTER PUBLICATION ${quoted} ADD TABLE ONLY schema.table; -- each by its name`,
    ),
  );
};

const tooLittle = (publication: PublicationFacts, quoted: string): CheckFinding | null => {
  const missing = PUBLISHED_CHANGES.filter((change) => !publication[change]);
  const mend = [
    ...(missing.length === 0 ? [] : [`publish = 'insert, update, delete, truncate'`]),
    ...(publication.via_root ? [] : ['publish_via_partition_root = true']),
  ];
  if (mend.length === 0) return null;
  const detail =
    missing.length > 0
      ? `The publication ${quoted} does not publish ${missing.join(', ')}.`
      : `The publication ${quoted} names partitions rather than the tables they are of.`;
  return failedCheck(detail, bySql(`ALTER PUBLICATION ${quoted} SET (${mend.join(', ')});`));
};

/** Rows or columns that are left out are no evidence. */
const partly = (tables: readonly PublishedTable[], quoted: string): CheckFinding | null => {
  const some = tables
    .filter(({ is_filtered, has_column_list }) => is_filtered || has_column_list)
    .map(({ root }) => root);
  if (some.length === 0) return null;
  const roots = [...new Set(some)];
  return failedCheck(
    `The publication ${quoted} leaves out rows or columns of ${listed(roots)}.`,
    bySql(
      ...roots.flatMap((root) => [
        `ALTER PUBLICATION ${quoted} DROP TABLE ONLY ${root};`,
        `ALTER PUBLICATION ${quoted} ADD TABLE ONLY ${root};`,
      ]),
    ),
  );
};

/** What PostgreSQL would refuse an UPDATE or DELETE for, whoever sends it. */
export const replicaIdentityFinding = (
  { publication, tables }: WitnessedLog,
  publicationName: string,
): CheckFinding => {
  if (publication === null || publication.all_tables || publication.schemas.length > 0) {
    return skippedCheck('Which tables are published is a matter of the check publication.');
  }
  const faults = tables.flatMap((table) => {
    const fault = identityFault(table, publication, quotedName(publicationName));
    return fault === null ? [] : [fault];
  });
  if (faults.length > 0) {
    return failedCheck(
      `${faults
        .slice(0, 3)
        .map(({ what }) => what)
        .join(
          ' ',
        )}${faults.length > 3 ? ` So it is with ${faults.length - 3} more.` : ''} UPDATE and DELETE fail on such a table, whoever sends them.`,
      bySql(...new Set(faults.flatMap(({ mend }) => mend))),
    );
  }
  const unlogged = tables.filter(({ is_unlogged }) => is_unlogged).map(quotedTable);
  if (unlogged.length > 0) {
    return warning(
      `The change log does not hold what happens to ${listed(unlogged)}: it is unlogged or temporary.`,
      bySql(...unlogged.map((table) => `ALTER TABLE ${table} SET LOGGED;`)),
    );
  }
  return passedCheck('Every published table has a replica identity.');
};

const identityFault = (
  table: PublishedTable,
  publication: PublicationFacts,
  quoted: string,
): { readonly what: string; readonly mend: readonly string[] } | null => {
  const name = quotedTable(table);
  const withdraw = `ALTER PUBLICATION ${quoted} DROP TABLE ONLY ${table.root};`;
  const full = `ALTER TABLE ${name} REPLICA IDENTITY FULL; -- or give it a primary key`;
  if (table.identity === 'f' && table.has_virtual) {
    return {
      what: `${name} has REPLICA IDENTITY FULL and a virtual generated column, which no publication can hold.`,
      mend:
        table.kind === 'p'
          ? [withdraw]
          : [`ALTER TABLE ${name} REPLICA IDENTITY DEFAULT; -- with a primary key; else: ${withdraw}`],
    };
  }
  if (publication.generated === 'n' && table.stored_in_identity) {
    return {
      what: `The identity of ${name} holds a stored generated column that is not published.`,
      mend: [`ALTER PUBLICATION ${quoted} SET (publish_generated_columns = stored);`],
    };
  }
  if (table.identity === 'n') return { what: `${name} has REPLICA IDENTITY NOTHING.`, mend: [full] };
  if (table.identity === 'f' || table.has_key) return null;
  const what =
    table.identity === 'i'
      ? `${name} has a replica identity by an index that is gone.`
      : `${name} has neither a primary key nor REPLICA IDENTITY FULL.`;
  return { what, mend: [full] };
};

/** A change of a table that is not published leaves no trace, so that no call that makes one can be verified. */
export const publishedTablesFinding = ({ writable }: WitnessedLog): CheckFinding => {
  const gone = writable.filter(({ exists }) => !exists).map(quotedTable);
  const unseen = writable.filter(({ exists, is_published }) => exists && !is_published).map(quotedTable);
  if (gone.length === 0 && unseen.length === 0) {
    return passedCheck('Every table that agents may change is published.');
  }
  const said = [
    ...(unseen.length === 0 ? [] : [`Agents may change tables that are not published: ${listed(unseen)}.`]),
    ...(gone.length === 0 ? [] : [`The config names tables that there are not: ${listed(gone)}.`]),
  ];
  const fix =
    unseen.length === 0
      ? 'Change their names in the config.'
      : `Have \`npm run ags -- database setup --connector NAME ${unseen.map((table) => `--table '${table}'`).join(' ')}\` publish them: it leaves out what has neither a primary key nor REPLICA IDENTITY FULL, because publishing that would stop its UPDATE and DELETE for everybody.`;
  return warning(said.join(' '), fix);
};
