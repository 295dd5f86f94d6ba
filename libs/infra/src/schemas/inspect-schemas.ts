import type pg from 'pg';
import { appliedParts } from './applied-parts.js';
import { newerStepsOf, nextPart } from './next-part.js';
import { schemaOf, type SchemaName } from './schema-files.js';
import { UnfitDatabase } from './unfit-database.js';

/** How the schemas of a database stand to this program's. */
export interface SchemaReport {
  /** Those of which a step is noted as applied, of all schemas that there are. */
  readonly noted: readonly string[];
  /** Those that a start would bring up to date. */
  readonly behind: readonly string[];
  /** Those that a newer program has changed in a way that this one may run beside. */
  readonly newer: readonly string[];
  /** What a start would end with, one sentence or more for each schema. */
  readonly unfit: readonly string[];
}

/** Reads only. */
export const inspectSchemas = async (pool: pg.Pool, names: readonly SchemaName[]): Promise<SchemaReport> => {
  const applied = (await appliedParts(pool)) ?? [];
  const noted = [...new Set(applied.filter(({ kind }) => kind === 'step').map(({ schema }) => schema))];
  const report = { noted, behind: [] as string[], newer: [] as string[], unfit: [] as string[] };
  for (const schema of names.map(schemaOf)) {
    try {
      if (nextPart(schema, applied) !== null) report.behind.push(schema.name);
      else if (newerStepsOf(schema, applied).length > 0) report.newer.push(schema.name);
    } catch (error) {
      if (!(error instanceof UnfitDatabase)) throw error;
      report.unfit.push(error.message);
    }
  }
  return report;
};
