import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from './database.js';

const ask = async (connectionString: string, sql: string): Promise<readonly unknown[]> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

describe('createTestDatabase', () => {
  it('gives databases that know nothing of each other, with the event store in place', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await ask(first.connectionString, 'create table mine ()');
    expect(await ask(second.connectionString, `select to_regclass('mine') as mine`)).toEqual([{ mine: null }]);
    expect(await ask(second.connectionString, 'select count(*)::int as count from event_store.events')).toEqual([
      { count: 0 },
    ]);
    await Promise.all([first.drop(), second.drop()]);
    await expect(ask(first.connectionString, 'select 1')).rejects.toMatchObject({ code: '3D000' });
  });
});
