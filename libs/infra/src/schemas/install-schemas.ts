import type pg from 'pg';
import type { Logger } from '#libs/domain/kernel';
import { DatabaseClient, sqlStateOf } from '../postgres/index.js';
import { appliedParts, noteApplied, noteUnchangedFunctions, RECORDS_TABLE } from './applied-parts.js';
import { nextPart, type AppliedPart, type Part } from './next-part.js';
import { schemaOf, type Schema, type SchemaName } from './schema-files.js';
import { keptTable, tableHolders } from './table-holders.js';
import { UnfitDatabase } from './unfit-database.js';

/** Held by whoever changes a schema. Programs from before the steps hold it while they install the event store. */
const INSTALL_LOCK = 4702;
/** How often a part is tried if it ends in a deadlock with other users of its tables, or waits too long for a table. */
const TRIES = 5;
/** PostgreSQL documentation, appendix A: deadlock_detected. */
const DEADLOCK = '40P01';
/** Appendix A: lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03';
/** Whoever waits behind a part that waits for a table is served before its own statement times out, after 5 s. */
const LOCK_TIMEOUT_MS = 3_000;
/** A process that is frozen in the middle of a part keeps its tables no longer. A statement may take longer. */
const IDLE_TIMEOUT_MS = 10_000;
/** Raised by a step that finds the database unfit; its message says what to do. */
const UNFIT = 'AGU01';
/** How often a step that takes long is told of. */
const REPORT_EVERY_MS = 10_000;

export interface InstallOptions {
  /** Told of steps that take long. */
  readonly log?: Logger;
  readonly reportEveryMs?: number;
  /** How long a part waits for a table before it is tried again; 0 for ever. */
  readonly lockTimeoutMs?: number;
  /** How long the server waits for this process in the middle of a part. */
  readonly idleTimeoutMs?: number;
}

/**
 * Brings schemas up to this program's version. Any number of processes may do so at once, and any of them may end at any
 * moment: each step is one transaction with its record, and the next start goes on after the last one. If nothing is to
 * be done, the database is asked one question.
 *
 * @param at where: a pool, of which one connection is used, or a connection string
 * @returns how many parts this call has applied: steps, and the functions of a schema together
 * @throws {UnfitDatabase} the database cannot hold the schema, a newer program has changed it, or somebody keeps a table
 */
export const installSchemas = (
  at: string | pg.Pool,
  names: readonly SchemaName[],
  options: InstallOptions = {},
): Promise<number> => install(at, names.map(schemaOf), options);

/** Like {@link installSchemas}, with schemas that the caller has read. */
export const install = async (
  at: string | pg.Pool,
  schemas: readonly Schema[],
  options: InstallOptions = {},
): Promise<number> => {
  if (typeof at !== 'string') {
    const client = await at.connect();
    try {
      const count = await new Installation(client, options).run(schemas);
      client.release();
      return count;
    } catch (error) {
      // Closing the connection ends the transaction even if a rollback could not reach the server.
      client.release(true);
      throw error;
    }
  }
  const client = new DatabaseClient({ connectionString: at, application_name: 'ags schema' });
  await client.connect();
  try {
    return await new Installation(client, options).run(schemas);
  } finally {
    await client.end();
  }
};

/** One connection's work. */
class Installation {
  constructor(
    private readonly client: pg.ClientBase,
    private readonly options: InstallOptions,
  ) {}

  private get lockTimeoutMs(): number {
    return this.options.lockTimeoutMs ?? LOCK_TIMEOUT_MS;
  }

  async run(schemas: readonly Schema[]): Promise<number> {
    let applied = await this.applied();
    // All of them are judged before the first is changed.
    const behind = schemas.filter((schema) => nextPart(schema, applied) !== null);
    let count = 0;
    for (const schema of behind) {
      while (nextPart(schema, applied) !== null) {
        if (await this.applyNext(schema)) count += 1;
        applied = await this.applied();
      }
    }
    return count;
  }

  private async applied(): Promise<readonly AppliedPart[]> {
    const found = await appliedParts(this.client);
    if (found !== null) return found;
    await this.locked('', () => this.client.query(RECORDS_TABLE));
    return (await appliedParts(this.client)) ?? [];
  }

  /** @returns whether there was something left to apply when this process had its turn */
  private async applyNext(schema: Schema): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.locked(schema.name, async (says) => {
          const part = nextPart(schema, (await appliedParts(this.client)) ?? []);
          if (part === null) return false;
          says(`applies ${part.kind === 'step' ? `step ${part.step.name}` : 'its functions'}`);
          await this.apply(schema, part);
          return true;
        });
      } catch (error) {
        const state = sqlStateOf(error);
        if (state === UNFIT) throw new UnfitDatabase((error as Error).message, { cause: error });
        if (state !== DEADLOCK && state !== LOCK_NOT_AVAILABLE) throw error;
        if (tries < TRIES) continue;
        if (state === DEADLOCK) throw error;
        throw keptTable(schema, await tableHolders(this.client, this.lockTimeoutMs), error);
      }
    }
  }

  private async apply(schema: Schema, part: Part): Promise<void> {
    const newest = schema.steps.length;
    if (part.kind === 'step') {
      const { name, number: step, sha256, oldestProgram: oldest_program, text } = part.step;
      await this.client.query(text);
      await noteApplied(this.client, { schema: schema.name, kind: 'step', name, step, sha256, oldest_program });
      if (step === newest) await noteUnchangedFunctions(this.client, schema);
      return;
    }
    for (const { name, sha256, text } of part.functions) {
      await this.client.query(text);
      const row = { schema: schema.name, kind: 'function', name, step: newest, sha256, oldest_program: 1 } as const;
      await noteApplied(this.client, row);
    }
  }

  /** In a transaction that no other process changes a schema beside. */
  private async locked<Result>(
    schema: string,
    work: (says: (doing: string) => void) => Promise<Result>,
  ): Promise<Result> {
    const startedAt = performance.now();
    let doing = 'waits for another process that changes the database';
    const report = (): void => {
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      this.options.log?.info('the database is being brought up to date', { schema, doing, seconds });
    };
    const timer = setInterval(report, this.options.reportEveryMs ?? REPORT_EVERY_MS);
    try {
      const idleTimeoutMs = this.options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
      await this.client.query(
        'begin isolation level read committed; set local statement_timeout = 0; ' +
          `set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`,
      );
      // A statement of its own takes the lock: what follows sees all that was committed before.
      await this.client.query('select pg_advisory_xact_lock($1)', [INSTALL_LOCK]);
      // Not before: another process's part may take as long as it takes.
      await this.client.query(`set local lock_timeout = ${this.lockTimeoutMs}`);
      const result = await work((done) => (doing = done));
      await this.client.query('commit');
      return result;
    } catch (error) {
      await this.client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }
}
