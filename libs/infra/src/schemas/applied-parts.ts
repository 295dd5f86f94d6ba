import type pg from 'pg';
import { sqlStateOf } from '../postgres/index.js';
import type { AppliedPart } from './next-part.js';
import type { Schema } from './schema-files.js';

const NO_SUCH_TABLE = '42P01';

export const RECORDS_TABLE = `
create schema if not exists schema_steps;
create table if not exists schema_steps.applied (
  schema text collate "C" not null,
  kind text collate "C" not null check (kind in ('step', 'function')),
  name text collate "C" not null,
  step integer not null check (step > 0),
  sha256 text collate "C" not null,
  oldest_program integer not null,
  applied_at timestamptz not null default now(),
  primary key (schema, kind, name)
)`;

/** What has been applied to the database, in the order of steps; null if nothing ever was. */
export const appliedParts = async (database: Pick<pg.ClientBase, 'query'>): Promise<readonly AppliedPart[] | null> => {
  try {
    const { rows } = await database.query<AppliedPart>(
      'select schema, kind, name, step, sha256, oldest_program from schema_steps.applied order by schema, kind, step',
    );
    return rows;
  } catch (error) {
    if (sqlStateOf(error) === NO_SUCH_TABLE) return null;
    throw error;
  }
};

/** Notes a step or a function as applied, within the transaction that applies it. */
export const noteApplied = async (database: Pick<pg.ClientBase, 'query'>, part: AppliedPart): Promise<void> => {
  await database.query(
    `insert into schema_steps.applied (schema, kind, name, step, sha256, oldest_program) values ($1, $2, $3, $4, $5, $6)
     on conflict (schema, kind, name) do update
       set step = excluded.step, sha256 = excluded.sha256, oldest_program = excluded.oldest_program, applied_at = now()`,
    [part.schema, part.kind, part.name, part.step, part.sha256, part.oldest_program],
  );
};

/**
 * Notes that the functions whose text is this program's are of its newest step, too. Within the transaction that applies
 * that step: another text of them, without a step after it, is then known to be of no newer program.
 */
export const noteUnchangedFunctions = async (
  database: Pick<pg.ClientBase, 'query'>,
  { name, steps, functions }: Schema,
): Promise<void> => {
  await database.query(
    `update schema_steps.applied set step = $2
      where schema = $1 and kind = 'function'
        and (name, sha256) in (select * from unnest($3::text[], $4::text[]))`,
    [name, steps.length, functions.map((made) => made.name), functions.map(({ sha256 }) => sha256)],
  );
};
