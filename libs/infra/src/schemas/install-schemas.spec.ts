import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Logger } from '#libs/domain/kernel';
import { createEmptyDatabase, createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { install, installSchemas } from './install-schemas.js';
import { startedSchemas } from './schema-files.js';
import { program } from './testing/program.js';
import { UnfitDatabase } from './unfit-database.js';

/** Whoever holds this advisory lock stops a step that asks for it. */
const GATE = 77;
const PATIENCE = { timeout: 20_000, interval: 10 };

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createEmptyDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 8 });
  // The table of records is there: what ends at a commit ends at one of a step.
  await install(pool, [program('first', { steps: 1 })]);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const things = async (schema: string): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(`select name from ${schema}.things order by name`);
  return rows.map(({ name }) => name);
};
const exists = async (schema: string): Promise<boolean> =>
  (await pool.query(`select from pg_namespace where nspname = $1`, [schema])).rowCount === 1;
/** What the schema's function says: the version of the program that made it. */
const madeBy = async (schema: string): Promise<unknown> =>
  (await pool.query<{ made: string }>(`select ${schema}.made_by() as made`)).rows[0]?.made;
const applied = async (schema: string): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select name from schema_steps.applied where schema = $1 order by kind desc, step`,
    [schema],
  );
  return rows.map(({ name }) => name);
};
/** While the test holds the lock that the newest step of a program asks for. */
const heldWithin = async (work: () => Promise<void>): Promise<void> => {
  const holder = new pg.Client({ connectionString: database.connectionString });
  await holder.connect();
  await holder.query('select pg_advisory_lock($1)', [GATE]);
  try {
    await work();
  } finally {
    await holder.end();
  }
};
const untilWaiting = (count: number): Promise<void> =>
  vi.waitFor(async () => {
    const waiting = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
    );
    expect(waiting.rowCount).toBe(count);
  }, PATIENCE);

describe('schemas', () => {
  it('are installed once by several processes that start together', async () => {
    const fresh = await createEmptyDatabase();
    const names = startedSchemas(true);
    const counts = await Promise.all([1, 2, 3].map(() => installSchemas(fresh.connectionString, names)));
    const client = new pg.Client({ connectionString: fresh.connectionString });
    await client.connect();
    const { rows } = await client.query<{ parts: number }>(
      `select count(distinct (schema, kind, case kind when 'step' then step end))::integer as parts from schema_steps.applied`,
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(rows[0]?.parts);
    expect(await installSchemas(fresh.connectionString, names)).toBe(0);
    await client.end();
    await fresh.drop();
  });

  it('that are up to date wait for no lock of theirs, and for nobody who changes one', async () => {
    const whole = await createWholeDatabase();
    const [reader, other] = [1, 2].map(() => new pg.Client({ connectionString: whole.connectionString })) as [
      pg.Client,
      pg.Client,
    ];
    for (const client of [reader, other]) await client.connect();
    const { rows } = await reader.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema', 'schema_steps')`,
    );
    await reader.query(`begin; lock table ${rows.map(({ name }) => name).join(', ')} in access exclusive mode`);
    await other.query('begin; select pg_advisory_xact_lock(4702)');
    expect(await installSchemas(whole.connectionString, startedSchemas(true))).toBe(0);
    for (const client of [reader, other]) await client.end();
    await whole.drop();
  });

  it('cannot be installed in a database that cannot hold every text', async () => {
    const name = `ascii_${process.pid}`;
    await pool.query(`create database ${name} template template0 encoding 'SQL_ASCII' locale 'C'`);
    const address = new URL(database.connectionString);
    address.pathname = `/${name}`;
    const attempt = installSchemas(address.href, ['event_store']);
    await expect(attempt).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(attempt).rejects.toThrow(/encoded in SQL_ASCII.* Create one with encoding 'UTF8'/);
    await pool.query(`drop database ${name}`);
  });

  it('tell programs from before the steps, which look for versions of their own, not to start', async () => {
    const whole = await createWholeDatabase();
    const client = new pg.Client({ connectionString: whole.connectionString });
    await client.connect();
    const { rows } = await client.query('select max(version) from event_store.event_store_schema');
    expect(rows).toEqual([{ max: 2 }]);
    expect((await client.query('select name from read_models.migrations')).rows).toEqual([
      { name: 'GoOnBySteps1796100000000' },
    ]);
    await client.end();
    await whole.drop();
  });
});

describe('a step', () => {
  it('that fails leaves nothing behind, and the next try goes on with it', async () => {
    const broken = program('half', { steps: 2, failing: 2 });
    await expect(install(pool, [broken])).rejects.toMatchObject({ code: '42P01' });
    expect(await applied('half')).toEqual(['0001-step']);
    expect(await things('half')).toEqual(['step 1']);
    expect(await install(pool, [program('half', { steps: 2 })])).toBe(2);
    expect(await things('half')).toEqual(['step 1', 'step 2']);
  });

  // Three steps, and then the function.
  it.each([1, 2, 3, 4])(
    'stays applied once where the process ends at commit %i, before it or after it',
    async (nth) => {
      for (const when of ['before', 'after'] as const) {
        const schema = `crash_${nth}_${when}`;
        const whole = program(schema, { steps: 3 });
        await expect(install(endingAt(nth, when), [whole])).rejects.toThrow('the process ended');
        const left = await install(pool, [whole]);
        expect(left).toBe(4 - nth + (when === 'before' ? 1 : 0));
        expect(await things(schema)).toEqual(['step 1', 'step 2', 'step 3']);
        expect(await madeBy(schema)).toBe('program 3');
        expect(await applied(schema)).toEqual(['0001-step', '0002-step', '0003-step', 'made-by']);
      }
    },
  );

  it('is tried again after a deadlock, and given up in the end', async () => {
    await pool.query('create sequence tries');
    const deadlocks = (below: number): string =>
      `do $$ begin if nextval('tries') < ${below} then raise 'deadlock' using errcode = '40P01'; end if; end $$;`;
    await install(pool, [program('crossed', { steps: 1, also: deadlocks(4) })]);
    expect(await things('crossed')).toEqual(['step 1']);
    const never = program('never', { steps: 1, also: deadlocks(1_000) });
    await expect(install(pool, [never])).rejects.toMatchObject({ code: '40P01' });
    expect(await exists('never')).toBe(false);
  });

  it('that waits too long for a table lets others go first, is tried again, and in the end says who holds it', async () => {
    await install(pool, [program('kept', { steps: 1 })]);
    await pool.query('create sequence kept_tries');
    const tried = `select nextval('kept_tries'); lock table kept.things in access exclusive mode;`;
    const newer = program('kept', { steps: 2, inLast: tried });
    const reader = new pg.Client({ connectionString: database.connectionString, application_name: 'a backup' });
    await reader.connect();
    await reader.query('begin; lock table kept.things in access share mode');
    const attempt = install(pool, [newer], { lockTimeoutMs: 50 });
    await expect(attempt).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(attempt).rejects.toThrow(
      /schema kept .* process \d+ \(a backup, idle in transaction\) holds kept\.things\. .* start again/,
    );
    expect((await pool.query('select last_value::integer as tries from kept_tries')).rows).toEqual([{ tries: 5 }]);
    expect(await applied('kept')).toEqual(['0001-step', 'made-by']);
    await reader.end();
    expect(await install(pool, [newer])).toBe(2);
  });

  it('whose process is frozen in the middle of it is taken back by the server, and others go on', async () => {
    const newer = program('frozen', { steps: 2, inLast: 'lock table frozen.things in share mode;' });
    await install(pool, [program('frozen', { steps: 1 })]);
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    const first = install(frozenAtCommit(stop), [newer], { idleTimeoutMs: 2_000 });
    const refused = expect(first).rejects.toThrow('not queryable');
    await stopped;
    // It waits for the table, and so for the server.
    await pool.query(`insert into frozen.things values ('an append')`);
    expect(await install(pool, [newer])).toBe(2);
    await refused;
    expect(await things('frozen')).toEqual(['an append', 'step 1', 'step 2']);
  });

  it('whose text was changed after it was applied is refused, and nothing is changed', async () => {
    await install(pool, [program('edited', { steps: 1 })]);
    const edited = program('edited', { steps: 2, also: '-- edited' });
    const attempt = install(pool, [program('beside', { steps: 1 }), edited]);
    await expect(attempt).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(attempt).rejects.toThrow(/Step 0001-step of the schema edited .* another text .* in a new step/);
    expect(await applied('edited')).toEqual(['0001-step', 'made-by']);
    expect(await exists('beside')).toBe(false);
  });

  it('that takes long, or waits for another process, says so again and again', async () => {
    const lines: object[] = [];
    const info: Logger['info'] = (message, fields) => lines.push({ message, ...fields });
    const log: Logger = { debug: () => undefined, info, warn: () => undefined, error: () => undefined };
    const slow = program('slow', { steps: 1, also: `select pg_advisory_xact_lock(${GATE});` });
    let runs: Promise<readonly number[]> | undefined;
    await heldWithin(async () => {
      runs = Promise.all([1, 2].map(() => install(pool, [slow], { log, reportEveryMs: 5, lockTimeoutMs: 0 })));
      await vi.waitFor(() => {
        for (const doing of ['applies step 0001-step', 'waits for another process that changes the database']) {
          const said = { message: 'the database is being brought up to date', schema: 'slow', doing, seconds: 0 };
          const told = lines.filter((line) => JSON.stringify({ ...line, seconds: 0 }) === JSON.stringify(said));
          expect(told.length).toBeGreaterThan(1);
        }
      }, PATIENCE);
    });
    expect((await runs)?.reduce((sum, count) => sum + count, 0)).toBe(2);
  });
});

describe('a function', () => {
  it('is made anew by a program of a newer step, and only then', async () => {
    await install(pool, [program('made', { steps: 1 })]);
    expect(await madeBy('made')).toBe('program 1');
    expect(await install(pool, [program('made', { steps: 2 })])).toBe(2);
    expect(await madeBy('made')).toBe('program 2');
    const unchanged = program('made', { steps: 3, made: 'program 2' });
    // The step alone.
    expect(await install(pool, [unchanged])).toBe(1);
  });

  it('that was changed without a new step is refused', async () => {
    await install(pool, [program('quiet', { steps: 1 })]);
    const attempt = install(pool, [program('quiet', { steps: 1, made: 'another' })]);
    await expect(attempt).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(attempt).rejects.toThrow(/The function made-by of the schema quiet .* comes with a new step/);
    expect(await madeBy('quiet')).toBe('program 1');
  });

  it('that was changed without a new step is refused, though a step about something else came before', async () => {
    await install(pool, [program('still', { steps: 1, made: 'the same' })]);
    expect(await install(pool, [program('still', { steps: 2, made: 'the same' })])).toBe(1);
    const attempt = install(pool, [program('still', { steps: 2, made: 'another' })]);
    await expect(attempt).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(attempt).rejects.toThrow(/The function made-by of the schema still .* comes with a new step/);
    expect(await madeBy('still')).toBe('the same');
    expect(await install(pool, [program('still', { steps: 3, made: 'another' })])).toBe(2);
    expect(await madeBy('still')).toBe('another');
  });
});

describe('an older process in the middle of an upgrade', () => {
  it('does not put its functions back, nor stop what the newer one goes on with', async () => {
    const [older, newer] = [program('mixed', { steps: 1 }), program('mixed', { steps: 3, oldestProgram: 1 })];
    await install(pool, [older]);
    // The newer one ends after its second step: the functions are still the older one's.
    await expect(install(endingAt(1, 'after'), [newer])).rejects.toThrow('the process ended');
    expect(await applied('mixed')).toEqual(['0001-step', '0002-step', 'made-by']);
    expect(await install(pool, [older])).toBe(0);
    expect(await install(pool, [newer])).toBe(2);
    expect(await madeBy('mixed')).toBe('program 3');
    expect(await install(pool, [older])).toBe(0);
    expect(await madeBy('mixed')).toBe('program 3');
  });

  it('that waited while the newer one changed the database leaves it as it is', async () => {
    const start = program('waited', { steps: 1, oldestProgram: 1 });
    const middle = program('waited', { steps: 2, oldestProgram: 1 });
    const newest = program('waited', {
      steps: 3,
      oldestProgram: 1,
      inLast: `select pg_advisory_xact_lock(${GATE});`,
    });
    await install(pool, [start]);
    // As if the program of the second step had ended before it made its function.
    await expect(install(endingAt(1, 'after'), [middle])).rejects.toThrow('the process ended');
    let runs: Promise<readonly number[]> | undefined;
    await heldWithin(async () => {
      const first = install(pool, [newest], { lockTimeoutMs: 0 });
      await untilWaiting(1);
      // It may wait for its turn for as long as the other one takes.
      runs = Promise.all([first, install(pool, [middle], { lockTimeoutMs: 1 })]);
      await untilWaiting(2);
    });
    expect(await runs).toEqual([2, 0]);
    expect(await madeBy('waited')).toBe('program 3');
  });

  it('does not start without its functions, which the newer one has not made yet', async () => {
    const [older, newer] = [program('bare', { steps: 1 }), program('bare', { steps: 2, oldestProgram: 1 })];
    await expect(install(endingAt(2, 'after'), [newer])).rejects.toThrow('the process ended');
    expect(await applied('bare')).toEqual(['0001-step', '0002-step']);
    const attempt = install(pool, [older]);
    await expect(attempt).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(attempt).rejects.toThrow(
      'The schema bare of this database was changed by a newer version of the service (0002-step), which has not ' +
        'finished: the function made-by was never made. Start that version.',
    );
    expect(await install(pool, [newer])).toBe(1);
    expect(await install(pool, [older])).toBe(0);
  });

  it('ends with what to do where a newer step says that it must not run beside it', async () => {
    const [older, newer] = [program('closed', { steps: 1 }), program('closed', { steps: 2 })];
    await install(pool, [older]);
    await expect(install(endingAt(1, 'after'), [newer])).rejects.toThrow('the process ended');
    const attempt = install(pool, [older]);
    await expect(attempt).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(attempt).rejects.toThrow(
      'The schema closed of this database was changed by a newer version of the service (0002-step; this version knows ' +
        '0001-step). Run that version.',
    );
    await install(pool, [newer]);
    await expect(install(pool, [older])).rejects.toBeInstanceOf(UnfitDatabase);
    expect(await madeBy('closed')).toBe('program 2');
  });
});

/** A pool whose process stops at its first commit, and goes on when the server has ended the connection. */
const frozenAtCommit = (onStop: () => void): pg.Pool => {
  const connect = async (): Promise<unknown> => {
    const client = await pool.connect();
    client.on('error', () => undefined);
    const ended = new Promise((resolve) => client.once('end', resolve));
    const query = async (...[text, values]: [string, unknown[]?]): Promise<unknown> => {
      if (text === 'commit') {
        onStop();
        await ended;
      }
      return client.query(text, values);
    };
    return { query, release: (isBroken?: boolean) => client.release(isBroken) };
  };
  return { connect } as unknown as pg.Pool;
};

/** A pool whose process ends at a commit: before the database was told of it, or before its answer arrived. */
const endingAt = (nth: number, when: 'before' | 'after'): pg.Pool => {
  const connect = async (): Promise<unknown> => {
    const client = await pool.connect();
    let commits = 0;
    const query = async (...[text, values]: [string, unknown[]?]): Promise<unknown> => {
      if (text !== 'commit') return client.query(text, values);
      commits += 1;
      if (commits < nth) return client.query(text);
      if (when === 'after') await client.query(text);
      const gone = once(client, 'end');
      client.release(true);
      await gone;
      throw new Error('the process ended');
    };
    return { query, release: () => undefined };
  };
  return { connect } as unknown as pg.Pool;
};
