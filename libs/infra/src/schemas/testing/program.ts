import { createHash } from 'node:crypto';
import type { Schema } from '../schema-files.js';

export interface ProgramOptions {
  /** How many steps it knows. */
  readonly steps: number;
  /** What its function says. Default: `program` and how many steps it knows. */
  readonly made?: string;
  /** Of each of its steps from the second on. Default: the step itself. */
  readonly oldestProgram?: number;
  /** The step that fails, after it has written. */
  readonly failing?: number;
  /** Runs in each step. */
  readonly also?: string;
  /** Runs in the last step. */
  readonly inLast?: string;
}

/** What a program knows of a schema: each step adds a row to `things`, and the function `made_by` says whose it is. */
export const program = (schema: string, options: ProgramOptions): Schema => {
  const { steps: count, made = `program ${count}`, oldestProgram, failing, also = '', inLast = '' } = options;
  const steps = Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const lines = [
      ...(number === 1 ? [`create schema ${schema};`, `create table ${schema}.things (name text primary key);`] : []),
      `insert into ${schema}.things values ('step ${number}');`,
      also,
      number === count ? inLast : '',
      number === failing ? 'insert into nowhere values (1);' : '',
    ];
    const text = lines.join('\n');
    return { number, name: `000${number}-step`, text, sha256: sha256(text), oldestProgram: oldestProgram ?? number };
  });
  const text = `create or replace function ${schema}.made_by() returns text language sql as $$ select '${made}' $$;`;
  return { name: schema, steps, functions: [{ name: 'made-by', text, sha256: sha256(text) }] };
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
