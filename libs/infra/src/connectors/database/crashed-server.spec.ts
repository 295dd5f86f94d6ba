import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { StatementSaid } from '#libs/domain/connectors';

import { type OwnServer, startOwnServer } from '../../../../../test/support/own-server.js';
import { type GivenDatabase, givenDatabase } from './testing/given-database.js';

let server: OwnServer;
let shop: GivenDatabase;

beforeAll(async () => {
  server = await startOwnServer();
  const connectionString = server.connectionString('postgres');
  shop = await givenDatabase({}, { connectionString, drop: () => Promise.resolve() });
});
afterAll(async () => {
  await shop?.owner.end().catch(() => undefined);
  await server?.dispose();
});

/** As many transactions as take every id that the server has forgotten. */
const others = async (count: number): Promise<void> => {
  const client = new pg.Client({ connectionString: server.connectionString('postgres') });
  await client.connect();
  for (let number = 0; number < count; number += 1)
    await client.query('insert into orders values ($1, 1, 1)', [10_000 + number]);
  await client.end();
};

describe('a server that crashes while a statement is under way', () => {
  it('gives the id of its transaction, by which it is asked for, to no other one', async () => {
    let said: StatementSaid | null = null;
    const recordProgress = async (statement: StatementSaid): Promise<null> => {
      said = statement;
      await server.restart();
      return null;
    };
    const sql = 'delete from orders where id = 50';
    expect(await shop.send('execute', { sql }, { recordProgress })).toMatchObject({ status: 'failed' });
    await others(5);
    const asked = {
      org: shop.connector.org,
      action: 'act_00000000000000000000000001' as never,
      connector: shop.connector,
    };
    const lost = { ...asked, toolName: 'execute', said: said!, deadlineMonotonicMs: performance.now() + 5_000 };
    expect(await shop.driver.outcomeOfLost(lost)).toMatchObject({ status: 'failed' });
  });
});
