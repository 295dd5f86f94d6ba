import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { createRelaxedPool } from '#libs/infra/postgres';
import { installSchemas } from '#libs/infra/schemas';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { PostgresLiveness } from './postgres-liveness.js';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('liveness rows', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let liveness: PostgresLiveness;

  beforeAll(async () => {
    database = await createWholeDatabase();
    const { connectionString } = database;
    const onError = () => undefined;
    pool = createRelaxedPool({ connectionString, applicationName: 'liveness', maxConnections: 2, onError });
    liveness = new PostgresLiveness(pool);
  });
  beforeEach(() => pool.query('truncate gate.liveness'));
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const setBack = (executor: string, hours: number) =>
    pool.query(`update gate.liveness set beaten_at = now() - $2 * interval '1 hour' where executor = $1`, [
      executor,
      hours,
    ]);

  it('count the beats of each process', async () => {
    for (const executor of ['exe_1', 'exe_2', 'exe_1']) await liveness.beat(executor);
    expect(await liveness.read()).toEqual(
      new Map([
        ['exe_1', 2],
        ['exe_2', 1],
      ]),
    );
  });

  it('are forgotten when their process has not beaten for as long as was asked, and not before', async () => {
    for (const executor of ['exe_dead', 'exe_quiet', 'exe_living']) await liveness.beat(executor);
    await setBack('exe_dead', 25);
    await setBack('exe_quiet', 23);
    await setBack('exe_living', 25);
    await liveness.beat('exe_living');
    expect(await liveness.removeForgotten(DAY_MS)).toBe(1);
    expect([...(await liveness.read()).keys()].sort()).toEqual(['exe_living', 'exe_quiet']);
  });

  it('show whether any process has beaten for as long as is asked', async () => {
    expect(await liveness.isAnyBeating(DAY_MS)).toBe(false);
    await liveness.beat('exe_quiet');
    await setBack('exe_quiet', 25);
    expect(await liveness.isAnyBeating(DAY_MS)).toBe(false);
    await liveness.beat('exe_living');
    expect(await liveness.isAnyBeating(DAY_MS)).toBe(true);
    await liveness.remove('exe_living');
    expect(await liveness.isAnyBeating(DAY_MS)).toBe(false);
  });

  it('of a process that beats on after it was forgotten begin anew', async () => {
    await liveness.beat('exe_1');
    await setBack('exe_1', 25);
    await liveness.removeForgotten(DAY_MS);
    await liveness.beat('exe_1');
    expect(await liveness.read()).toEqual(new Map([['exe_1', 1]]));
  });

  it('that an earlier version made count as beaten now', async () => {
    await pool.query('alter table gate.liveness drop column beaten_at');
    await pool.query(`insert into gate.liveness (executor, beat) values ('exe_before', 7)`);
    await pool.query(`delete from schema_steps.applied where schema = 'gate'`);
    await installSchemas(pool, ['gate']);
    expect(await liveness.removeForgotten(DAY_MS)).toBe(0);
    await liveness.beat('exe_before');
    expect(await liveness.read()).toEqual(new Map([['exe_before', 8]]));
  });
});
