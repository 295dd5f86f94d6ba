import type pg from 'pg';
import { sqlStateOf } from '../postgres/index.js';
import type { AppliedPart } from './next-part.js';

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
