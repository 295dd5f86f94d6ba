import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createTestDatabase, createWholeDatabase } from './database.js';

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

describe('createWholeDatabase', () => {
  it('gives one with all that a deployment installs', async () => {
    const { connectionString, drop } = await createWholeDatabase();
    const tables = ['event_store.events', 'read_models.actions', 'gate.open_executions', 'ledger.seal_keys'];
    expect(
      await ask(
        connectionString,
        `select to_regclass(t) is not null as it from unnest('{${tables.join()}}'::text[]) t`,
      ),
    ).toEqual(tables.map(() => ({ it: true })));
    await drop();
  });

  it('waits for a connection that is being closed, and ends one that stays', async () => {
    const { connectionString, drop } = await createWholeDatabase();
    const stays = new pg.Client({ connectionString });
    const ended = new Promise((resolve) => stays.on('error', resolve));
    await stays.connect();
    await drop();
    expect(await ended).toMatchObject({ code: '57P01' });
  });
});
