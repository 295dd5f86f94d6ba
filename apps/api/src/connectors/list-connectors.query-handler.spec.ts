import pg from 'pg';
import { PostgresConnectorHealth } from '#libs/infra/connector-health';
import { ConnectorRow, ReadModels } from '#libs/infra/read-models';
import { installSchemas } from '#libs/infra/schemas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caughtUp } from '../../../../test/support/caught-up.js';
import { TEST_ORG, testId } from '../../../../test/support/given-log.js';
import { connectorRow, writeRows } from '../../../../test/support/given-rows.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { FindConnectorName, FindConnectorNameHandler } from './find-connector.query-handler.js';
import { ListConnectors, ListConnectorsHandler } from './list-connectors.query-handler.js';

const OTHER_ORG = testId('org', 2);

describe('list of connectors', () => {
  let readModels: TestReadModels;
  let pool: pg.Pool;
  let handler: ListConnectorsHandler;

  beforeAll(async () => {
    readModels = await createTestReadModels();
    pool = new pg.Pool({ connectionString: readModels.connectionString, max: 2 });
    await installSchemas(pool, ['connector_health']);
    const health = new PostgresConnectorHealth(pool);
    const rows = [connectorRow(1), connectorRow(2), connectorRow(3), connectorRow(4, { org: OTHER_ORG })];
    await writeRows(readModels.source, ConnectorRow, rows);
    handler = new ListConnectorsHandler(new ReadModels(readModels.source), caughtUp(), health);
  });
  afterAll(async () => {
    await pool?.end();
    await readModels?.drop();
  });

  it("shows an organization's own connectors, newest first, whole", async () => {
    const { rows, hasMore } = await handler.execute(new ListConnectors(TEST_ORG, { limit: 20, after: null }));
    const untested = [connectorRow(3), connectorRow(2), connectorRow(1)].map((row) => ({ ...row, lastTest: null }));
    expect([rows, hasMore]).toEqual([untested, false]);
  });

  it('goes on where a page ended', async () => {
    const first = await handler.execute(new ListConnectors(TEST_ORG, { limit: 2, after: null }));
    expect(first.hasMore).toBe(true);
    const second = await handler.execute(new ListConnectors(TEST_ORG, { limit: 2, after: first.rows[1]! }));
    expect(second).toMatchObject({ rows: [{ name: 'crm1' }], hasMore: false });
  });

  it('finds the name that an id stands for, in its own organization alone', async () => {
    const finder = new FindConnectorNameHandler(new ReadModels(readModels.source), caughtUp());
    expect(await finder.execute(new FindConnectorName(TEST_ORG, testId('con', 2)))).toBe('crm2');
    expect(await finder.execute(new FindConnectorName(TEST_ORG, testId('con', 4)))).toBeNull();
    expect(await finder.execute(new FindConnectorName(TEST_ORG, testId('con', 9)))).toBeNull();
  });
});
