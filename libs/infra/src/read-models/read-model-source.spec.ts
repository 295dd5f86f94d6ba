import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { startTcpProxy } from '../../../../test/support/tcp-proxy.js';
import { installSchemas } from '../schemas/index.js';
import { readModelSource } from './read-model-source.js';

describe('read model source', () => {
  let database: TestDatabase;
  let source: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    await installSchemas(database.connectionString, ['read_models']);
    source = await readModelSource({
      connectionString: database.connectionString,
      applicationName: 'read model source spec',
      maxConnections: 1,
      statementTimeoutMs: 10_000,
      isDurable: true,
      onError: (error) => expect.fail(error.message),
    }).initialize();
  });

  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  it('has exactly the tables and indexes that its row types describe', async () => {
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('ends a session that stands still within a transaction, with the locks it holds (F-02)', async () => {
    const [setting] = await source.query<object[]>('SHOW idle_in_transaction_session_timeout');
    expect(setting).toEqual({ idle_in_transaction_session_timeout: '5s' });
  });

  it('gives up a connection that answers nothing, and works over the next one (F-10)', async () => {
    const proxy = await startTcpProxy(database.connectionString);
    const proxied = await readModelSource({
      connectionString: proxy.through(database.connectionString),
      applicationName: 'silent database spec',
      maxConnections: 1,
      statementTimeoutMs: 100,
      isDurable: true,
      onError: () => undefined,
    }).initialize();
    proxy.swallowAnswers();
    await expect(proxied.transaction((manager) => manager.query('SELECT 1'))).rejects.toThrow();
    expect(await proxied.query<unknown[]>('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await proxied.destroy();
    await proxy.close();
  });
});
