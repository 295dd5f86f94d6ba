import type pg from 'pg';
import type { Schema } from './schema-files.js';
import { UnfitDatabase } from './unfit-database.js';

/** Of what other roles do, a role may not see all: a transaction of which it does not see the age counts as old. */
const HOLDERS = `
select format('process %s (%s) holds %s', pid,
              coalesce(nullif(concat_ws(', ', nullif(application_name, ''), state), ''), 'not shown'),
              string_agg(distinct relation::regclass::text, ', ')) as held
  from pg_locks join pg_stat_activity using (pid) join pg_class on pg_class.oid = relation
 where locktype = 'relation' and granted and relkind = 'r' and pid <> pg_backend_pid()
   and database = (select oid from pg_database where datname = current_database())
   and relnamespace::regnamespace::text !~ '^pg_|^information_schema$'
   and (xact_start < clock_timestamp() - $1::integer * interval '1 millisecond') is not false
 group by pid, application_name, state, xact_start
 order by xact_start nulls last`;

/** Who has held tables of this database for so long, and which, one text for each. */
export const tableHolders = async (
  database: Pick<pg.ClientBase, 'query'>,
  longerThanMs: number,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ held: string }>(HOLDERS, [longerThanMs]);
  return rows.map(({ held }) => held);
};

/** What a start ends with where a table could not be had. */
export const keptTable = ({ name }: Schema, holders: readonly string[], cause: unknown): UnfitDatabase =>
  new UnfitDatabase(
    `The schema ${name} of this database could not be changed: others kept a table, which was waited for several times. ` +
      (holders.length === 0
        ? 'Nobody keeps one any more. Start again.'
        : `Now ${holders.join('; ')}. Let them finish, or end them with \`select pg_terminate_backend(process)\`, and ` +
          'start again.'),
    { cause },
  );
