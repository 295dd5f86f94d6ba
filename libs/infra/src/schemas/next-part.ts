import type { Schema, SchemaFunction, SchemaStep } from './schema-files.js';
import { UnfitDatabase } from './unfit-database.js';

/** A row of `schema_steps.applied`. */
export interface AppliedPart {
  readonly schema: string;
  readonly kind: 'step' | 'function';
  readonly name: string;
  /** The step's number; of a function, the newest step of the program that made it, or of a newer one with the same text. */
  readonly step: number;
  readonly sha256: string;
  readonly oldest_program: number;
}

/** What one transaction applies. */
export type Part =
  | { readonly kind: 'step'; readonly step: SchemaStep }
  | { readonly kind: 'functions'; readonly functions: readonly SchemaFunction[] };

/** The steps that a newer program has applied and this one does not know. */
export const newerStepsOf = ({ name, steps }: Schema, applied: readonly AppliedPart[]): readonly AppliedPart[] =>
  applied.filter(({ schema, kind, step }) => schema === name && kind === 'step' && step > steps.length);

/**
 * What is to be applied next; null if nothing is. Of a schema that a newer program has changed that is nothing: its
 * functions are the newer program's to make. Until it has made them, those of the program before serve, if they are there.
 *
 * @param applied what has been applied to the database, of this schema and maybe of others
 * @throws {UnfitDatabase} the database was changed by a program beside which this one must not run
 */
export const nextPart = (schema: Schema, applied: readonly AppliedPart[]): Part | null => {
  const own = applied.filter(({ schema: name }) => name === schema.name);
  const stepsApplied = new Map(own.filter(({ kind }) => kind === 'step').map((row) => [row.step, row]));
  for (const step of schema.steps) {
    const row = stepsApplied.get(step.number);
    if (row !== undefined && row.sha256 !== step.sha256) throw changedStep(schema, step, row);
  }
  const newer = newerStepsOf(schema, own);
  if (newer.length > 0) {
    if (newer.some((row) => row.oldest_program > schema.steps.length)) throw newerDatabase(schema, newer);
    const made = new Set(own.filter(({ kind }) => kind === 'function').map(({ name }) => name));
    const unmade = schema.functions.find(({ name }) => !made.has(name));
    if (unmade !== undefined) throw unfinishedUpgrade(schema, newer, unmade.name);
    return null;
  }
  const step = schema.steps.find(({ number }) => !stepsApplied.has(number));
  if (step !== undefined) return { kind: 'step', step };
  const functions = changedFunctions(schema, own);
  return functions.length === 0 ? null : { kind: 'functions', functions };
};

const changedFunctions = (schema: Schema, own: readonly AppliedPart[]): readonly SchemaFunction[] => {
  const made = new Map(own.filter(({ kind }) => kind === 'function').map((row) => [row.name, row]));
  return schema.functions.filter(({ name, sha256 }) => {
    const row = made.get(name);
    if (row === undefined) return true;
    if (row.sha256 === sha256) return false;
    if (row.step < schema.steps.length) return true;
    throw changedFunction(schema, name);
  });
};

const newerDatabase = ({ name, steps }: Schema, newer: readonly AppliedPart[]): UnfitDatabase =>
  new UnfitDatabase(
    `The schema ${name} of this database was changed by a newer version of the service (${newer.at(-1)?.name ?? ''}; ` +
      `this version knows ${steps.at(-1)?.name ?? ''}). Run that version.`,
  );

const unfinishedUpgrade = ({ name }: Schema, newer: readonly AppliedPart[], unmade: string): UnfitDatabase =>
  new UnfitDatabase(
    `The schema ${name} of this database was changed by a newer version of the service (${newer.at(-1)?.name ?? ''}), ` +
      `which has not finished: the function ${unmade} was never made. Start that version.`,
  );

const changedStep = ({ name }: Schema, step: SchemaStep, row: AppliedPart): UnfitDatabase =>
  new UnfitDatabase(
    `Step ${row.name} of the schema ${name} was applied to this database with another text than ${step.name} of this ` +
      'version has. Run the version that applied it. Whoever develops the service: undo the change of that file, and ' +
      'say what has to change in a new step.',
  );

const changedFunction = ({ name, steps }: Schema, changed: string): UnfitDatabase =>
  new UnfitDatabase(
    `The function ${changed} of the schema ${name} was made by a version of the service that knows the same steps ` +
      `(up to ${steps.at(-1)?.name ?? ''}) and has another text of it, so it is unknown which of the two is newer. Run ` +
      'that version. Whoever develops the service: a changed function comes with a new step, which may hold nothing but ' +
      'a comment.',
  );
