import { expect, it } from 'vitest';
import { installSchemas } from '#libs/infra/schemas';
import { livenessContract, type LivenessRows } from '../../../../test/contracts/liveness.contract.js';
import { tableRows } from '../../../../test/support/table-rows.js';
import { PostgresLiveness } from './postgres-liveness.js';

const start = () => tableRows('gate.liveness', (pool) => new PostgresLiveness(pool));

livenessContract('postgres', async (): Promise<LivenessRows> => {
  const rows = await start();
  const setBack = async (executor: string, byMs: number): Promise<void> => {
    const text = `update gate.liveness set beaten_at = beaten_at - $2 * interval '1 millisecond' where executor = $1`;
    await rows.pool.query(text, [executor, byMs]);
  };
  return { ...rows, setBack };
});

it('rows that an earlier version made count as beaten now', async () => {
  const { pool, open, close } = await start();
  const liveness = open();
  await pool.query('alter table gate.liveness drop column beaten_at');
  await pool.query(`insert into gate.liveness (executor, beat) values ('exe_before', 7)`);
  await pool.query(`delete from schema_steps.applied where schema = 'gate'`);
  await installSchemas(pool, ['gate']);
  expect(await liveness.removeForgotten(24 * 60 * 60 * 1000)).toBe(0);
  await liveness.beat('exe_before');
  expect(await liveness.read()).toEqual(new Map([['exe_before', 8]]));
  await close();
});
