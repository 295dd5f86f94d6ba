import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../runtime/index.js';

/** Every schema of a deployment's PostgreSQL, in the order of installation: where its files lie, below libs/infra/src. */
const FOLDERS = {
  event_store: 'event-store/postgres/schema',
  read_models: 'read-models/schema',
  vault: 'vault/schema',
  connector_health: 'connector-health/schema',
  tool_definitions: 'tool-definitions/schema',
  gate: 'gate/schema',
  agents: 'agents/schema',
  ledger: 'ledger/schema',
  idempotency: 'idempotency/schema',
  people: 'people/schema',
  replays: 'replays/schema',
  webhooks: 'webhooks/schema',
  known_event_store: 'event-store/known-store-schema',
  first_organization: 'agents/first-organization-schema',
} as const;

export type SchemaName = keyof typeof FOLDERS;

/** A change of a schema: what a file `steps/NNNN-….sql` holds. */
export interface SchemaStep {
  /** From 1 on, without gaps. */
  readonly number: number;
  /** Of the file, without `.sql`. */
  readonly name: string;
  readonly text: string;
  /** Of the text, in hex. */
  readonly sha256: string;
  /** Programs whose newest step of the schema is this one or a later one may start when the step has been applied. */
  readonly oldestProgram: number;
}

/** What a file `functions/….sql` holds: `create or replace function`. */
export interface SchemaFunction {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

export interface Schema {
  readonly name: string;
  readonly steps: readonly SchemaStep[];
  readonly functions: readonly SchemaFunction[];
}

/** The schemas that a start installs. `first_organization` is installed by whoever prepares a deployment. */
export const startedSchemas = (hasLog: boolean): readonly SchemaName[] =>
  (Object.keys(FOLDERS) as SchemaName[]).filter(
    (name) => name !== 'first_organization' && (hasLog || name !== 'event_store'),
  );

/** The files lie beside the code: a build copies them to where it puts that code. */
const folderOfCode = (): string => {
  const dist = join(packageRoot(), 'dist');
  const isBuilt = fileURLToPath(import.meta.url).startsWith(`${dist}${sep}`);
  return join(isBuilt ? dist : packageRoot(), 'libs', 'infra', 'src');
};

const known = new Map<SchemaName, Schema>();

/** As this program knows it. Read once. */
export const schemaOf = (name: SchemaName): Schema => {
  const schema = known.get(name) ?? readSchema(name, join(folderOfCode(), FOLDERS[name]));
  known.set(name, schema);
  return schema;
};

const STEP_FILE = /^(\d{4})-[a-z0-9-]+\.sql$/;
/** A line of a step: the program from which on the step may be met. Without it, only programs that have the step start. */
const OLDEST_PROGRAM = /^-- oldest-program: (\d{4})$/m;

/** @param folder holds `steps` and, if the schema has any, `functions` */
export const readSchema = (name: string, folder: string): Schema => {
  const steps = filesIn(join(folder, 'steps')).map(({ file, ...content }) => {
    const number = Number(STEP_FILE.exec(file)?.[1]);
    const oldestProgram = Number(OLDEST_PROGRAM.exec(content.text)?.[1] ?? number);
    return { number, oldestProgram, ...content };
  });
  const misplaced = steps.find((step, index) => step.number !== index + 1 || step.oldestProgram > step.number);
  if (misplaced !== undefined || steps.length === 0) {
    const where = misplaced === undefined ? '' : `, unlike ${misplaced.name}`;
    throw new Error(
      `${folder}/steps must hold files NNNN-name.sql, numbered from 0001 on without gaps, whose line ` +
        `\`-- oldest-program: NNNN\` names no later step${where}.`,
    );
  }
  return { name, steps, functions: filesIn(join(folder, 'functions')).map(({ file: _, ...content }) => content) };
};

interface SqlFile {
  readonly file: string;
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

const filesIn = (folder: string): readonly SqlFile[] => {
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.sql')) : [];
  return files.sort().map((file) => {
    // As it is committed, also where a checkout has changed the ends of its lines.
    const text = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n');
    return { file, name: file.slice(0, -'.sql'.length), text, sha256: createHash('sha256').update(text).digest('hex') };
  });
};
