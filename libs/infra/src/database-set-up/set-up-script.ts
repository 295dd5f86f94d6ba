import { quotedName } from './quoted.js';
import { setUpSql, type SetUpTerms } from './set-up-sql.js';

/** A comment ends with its line: a name that holds a line's end must not begin another. */
const comment = (text: string): string => `-- ${text.replace(/\p{Cc}|\u2028|\u2029/gu, ' ')}`;

/** The statements as one text for psql, with what no statement of it does. */
export const setUpScript = (terms: SetUpTerms, connector: string): string => {
  const { database, witness, agentRole, witnessRole, tables } = terms;
  const before = [
    comment(`Set-up of the connector ${connector} in the database ${quotedName(database)}. Running it again is safe.`),
    comment('Run it with psql, connected to that database as its owner, and not in one transaction (no psql -1).'),
    ...(witness === null
      ? []
      : [
          comment('First, if SHOW wal_level does not say logical (the server has to be restarted after it):'),
          comment(`  ALTER SYSTEM SET wal_level = 'logical';`),
          comment('So that a slot which nobody reads cannot fill the disk:'),
          comment(`  ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'; SELECT pg_reload_conf();`),
        ]),
    ...(tables.length === 0
      ? [comment('No table is named: add --table schema.table for each that agents work on.')]
      : []),
  ];
  const after = [
    comment('Then give the roles passwords, and store them as the credential of the connector (in psql, asked for):'),
    comment(`  \\password ${quotedName(agentRole)}`),
    ...(witness === null ? [] : [comment(`  \\password ${quotedName(witnessRole)}`)]),
    comment(`Then: npm run ags -- connectors test ${connector}`),
  ];
  const body = setUpSql(terms).flatMap(({ what, sql }) => [comment(what), sql, '']);
  return [...before, '', ...body, ...after].join('\n');
};
