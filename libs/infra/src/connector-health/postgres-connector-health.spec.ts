import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectorTest } from '#libs/domain/connectors';
import { timestampOf } from '#libs/domain/kernel';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { TEST_ORG, testId } from '../../../../test/support/given-log.js';
import { PostgresConnectorHealth } from './index.js';

const NOW = Date.parse('2026-10-01T12:00:00.000Z');

let database: TestDatabase;
/** As of two processes. */
let pools: readonly pg.Pool[];
let health: readonly PostgresConnectorHealth[];
let numbers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  pools = [0, 1].map(() => new pg.Pool({ connectionString: database.connectionString, max: 8 }));
  await Promise.all(pools.map((pool) => installSchemas(pool, ['connector_health'])));
  health = pools.map((pool) => new PostgresConnectorHealth(pool));
});
afterAll(async () => {
  for (const pool of pools ?? []) await pool.end();
  await database?.drop();
});

const placed = () => ({ org: TEST_ORG, name: 'crm', connector: testId('con', (numbers += 1)) });
const one = (): PostgresConnectorHealth => health[0] as PostgresConnectorHealth;
const testOf = (connector: ConnectorTest['connector'], atMs: number, status: ConnectorTest['status'] = 'passing') =>
  ({
    connector,
    status,
    checks: [{ check: 'config', status: 'passed', detail: 'Good.', fix: null }],
    testedAt: timestampOf(atMs),
    configHash: `sha256:${'0'.repeat(64)}`,
    credentialVersion: null,
  }) as unknown as ConnectorTest;

describe('tests of a connector', () => {
  it('begin ten times a minute, whatever the number of processes that ask at once', async () => {
    const place = placed();
    const asked = Array.from({ length: 40 }, (_, n) => (health[n % 2] as PostgresConnectorHealth).begin(place, NOW));
    const waits = await Promise.all(asked);
    expect(waits.filter((wait) => wait === null)).toHaveLength(10);
    expect(waits.filter((wait) => wait === 60_000)).toHaveLength(30);
  });

  it('begin again as each of the ten leaves the minute, and no sooner', async () => {
    const place = placed();
    for (let n = 0; n < 10; n += 1) expect(await one().begin(place, NOW + n * 1_000)).toBeNull();
    expect(await one().begin(place, NOW + 59_999)).toBe(1);
    expect(await one().begin(place, NOW + 60_000)).toBeNull();
    expect(await one().begin(place, NOW + 60_000)).toBe(1_000);
  });

  it('begin a minute later at the latest where the clock was set back', async () => {
    const place = placed();
    for (let n = 0; n < 10; n += 1) await one().begin(place, NOW + 86_400_000);
    expect(await one().begin(place, NOW)).toBeNull();
  });

  it('of one connector do not count for another', async () => {
    const [full, free] = [placed(), placed()];
    for (let n = 0; n < 11; n += 1) await one().begin(full, NOW);
    expect(await one().begin(free, NOW)).toBeNull();
  });
});

describe('the result of a test', () => {
  it('is the one of the test that began last', async () => {
    const place = placed();
    await one().begin(place, NOW);
    expect(await one().lastOf([place.connector])).toEqual(new Map());
    await one().record(testOf(place.connector, NOW + 5, 'failing'));
    await one().record(testOf(place.connector, NOW));
    const last = (await one().lastOf([place.connector, testId('con', 999)])).get(place.connector);
    expect(last).toEqual(testOf(place.connector, NOW + 5, 'failing'));
  });

  it('is kept of no connector that was forgotten meanwhile', async () => {
    const place = placed();
    await one().begin(place, NOW);
    await one().forget(place.connector);
    await one().forget(place.connector);
    await one().record(testOf(place.connector, NOW));
    expect(await one().lastOf([place.connector])).toEqual(new Map());
  });

  it('is among those of its organization that fail, the last one first, while it fails', async () => {
    const [first, second, well] = [placed(), placed(), placed()];
    for (const { connector, ...place } of [first, second, well]) {
      await one().begin({ ...place, org: testId('org', 7), connector }, NOW);
    }
    await one().record(testOf(first.connector, NOW, 'failing'));
    await one().record(testOf(second.connector, NOW + 1, 'failing'));
    await one().record(testOf(well.connector, NOW + 2));
    const failing = async () => (await one().failingIn(testId('org', 7))).map(({ connector }) => connector);
    expect(await failing()).toEqual([second.connector, first.connector]);
    await one().record(testOf(second.connector, NOW + 3));
    expect(await failing()).toEqual([first.connector]);
  });

  it('is found by its age', async () => {
    const [old, young] = [placed(), placed()];
    await one().begin(old, NOW - 86_400_000);
    await one().begin(young, NOW);
    const found: unknown[] = [];
    for await (const place of one().testedBefore(NOW - 80_000_000)) found.push(place);
    expect(found).toEqual([old]);
  });
});
