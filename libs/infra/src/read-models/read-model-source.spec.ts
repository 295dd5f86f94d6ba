import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { startTcpProxy } from '../../../../test/support/tcp-proxy.js';
import { installReadModels, READ_MODEL_MIGRATIONS, readModelSource } from './read-model-source.js';

describe('read model source', () => {
  let database: TestDatabase;
  let source: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    await Promise.all([1, 2, 3].map(() => installReadModels(database.connectionString)));
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

  it('is migrated once by several processes that start together', async () => {
    const migrations = await source.query<{ name: string }[]>('SELECT name FROM read_models.migrations');
    expect(migrations).toEqual([
      { name: 'CreateReadModels1764000000000' },
      { name: 'AddAgents1795700000000' },
      { name: 'AddSecurityEvents1795800000000' },
      { name: 'AddDeedAbouts1795910000000' },
      { name: 'AddActionFilters1795920000000' },
      { name: 'AddApprovals1795930000000' },
      { name: 'AddHourlyCounts1795950000000' },
      { name: 'AddShadowDiffers1795970000000' },
      { name: 'AddPublicEvents1796000000000' },
      { name: 'AddHourlyTotals1796030000000' },
      { name: 'AddActionKeys1796040000000' },
      { name: 'WidenSecurityEvents1796042000000' },
      { name: 'AddExportsToSecurityEvents1796043000000' },
    ]);
  });

  it('is refused where a newer version has changed it', async () => {
    await source.query(`INSERT INTO read_models.migrations (timestamp, name) VALUES (9, 'AddColumn9')`);
    await expect(installReadModels(database.connectionString)).rejects.toThrow(
      /newer version of the service \(AddColumn9\)/,
    );
    await source.query(`DELETE FROM read_models.migrations WHERE name = 'AddColumn9'`);
    await installReadModels(database.connectionString);
  });

  it('has exactly the tables that its row types describe', async () => {
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('lays rows out as this version does, also where an older one migrated it', async () => {
    const layout = `SELECT attstorage FROM pg_attribute
      WHERE attrelid = 'read_models.actions'::regclass AND attname = 'folded'`;
    expect(await source.query(layout)).toEqual([{ attstorage: 'e' }]);
    await source.query('ALTER TABLE read_models.actions ALTER COLUMN folded SET STORAGE EXTENDED');
    await source.query('DROP INDEX read_models.actions_by_verdict');
    await installReadModels(database.connectionString);
    expect(await source.query(layout)).toEqual([{ attstorage: 'e' }]);
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries).toEqual([]);
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

  it('can be undone', async () => {
    for (let undone = 0; undone < READ_MODEL_MIGRATIONS.length; undone += 1) await source.undoLastMigration();
    const tables = await source.query<unknown[]>(
      `SELECT FROM information_schema.tables WHERE table_schema = 'read_models' AND table_name <> 'migrations'`,
    );
    expect(tables).toEqual([]);
    await source.runMigrations();
  });
});
