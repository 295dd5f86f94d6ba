import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createReadOnlyPool } from '#libs/infra/postgres';
import { createEmptyDatabase, createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { inspectDatabases } from './witnessed-databases.js';

let database: TestDatabase;
let pool: pg.Pool;

const readOnly = ({ connectionString }: TestDatabase): pg.Pool =>
  createReadOnlyPool({
    connectionString,
    applicationName: 'databases spec',
    maxConnections: 1,
    onError: () => undefined,
  });

/** As the projector and the tests of connectors write them. */
const rows = async (sql: string, ...values: readonly unknown[]): Promise<void> => {
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  await client.query(sql, [...values]);
  await client.end();
};

const connector = (name: string, over: object = {}): Promise<void> => {
  const folded = {
    type: 'database',
    status: 'active',
    configHash: 'sha256:1',
    credential: { version: 'v1' },
    config: { witness: { enabled: true } },
    ...over,
  };
  return rows(
    `insert into read_models.connectors (id, org, name, type, status, created_at, folded)
       values ($1, 'org_1', $2, $3, $4, now(), $5)`,
    `con_${name}`,
    name,
    folded.type,
    folded.status,
    JSON.stringify(folded),
  );
};
const test = (name: string, configHash: string): Promise<void> =>
  rows(
    `insert into connectors.health (connector, org, name, starts_ms, tested_ms, status, test)
       values ($1, 'org_1', $2, '{}', 1, 'failing', $3)`,
    `con_${name}`,
    name,
    JSON.stringify({
      status: 'failing',
      configHash,
      credentialVersion: 'v1',
      checks: [
        { check: 'version', status: 'passed', detail: 'PostgreSQL 18.', fix: null },
        { check: 'wal_level', status: 'failed', detail: 'wal_level is replica.', fix: 'x' },
      ],
    }),
  );

beforeAll(async () => {
  database = await createWholeDatabase();
  pool = readOnly(database);
  await connector('shop');
  await test('shop', 'sha256:1');
  await connector('changed', { config: { witness: { enabled: false } } });
  await test('changed', 'sha256:0');
  await connector('crm', { type: 'rest' });
  await connector('off', { status: 'disabled' });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

describe('active connectors to databases', () => {
  it('are told with what their last test found, if it is of the config and credential that they have now', async () => {
    expect(await inspectDatabases(pool)).toEqual([
      { name: 'changed', health: 'not_tested', failed: [], isWitnessed: false, decoder: null },
      {
        name: 'shop',
        health: 'failing',
        failed: [{ check: 'wal_level', detail: 'wal_level is replica.' }],
        isWitnessed: true,
        decoder: null,
      },
    ]);
  });

  it('are told with how their decoder is, where the schema has decoders', async () => {
    await rows(`create table if not exists connectors.decoders (connector text collate "C" primary key, org text not null,
      name text not null, reason text, lag_bytes bigint, position text, since_ms bigint not null, seen_ms bigint not null)`);
    await rows(
      `insert into connectors.decoders values ('con_shop', 'org_1', 'shop', 'slot_lagging', 20000000, '0/1', 5, 1800000000000)`,
    );
    const shop = (await inspectDatabases(pool)).find(({ name }) => name === 'shop');
    expect(shop?.decoder).toEqual({ reason: 'slot_lagging', lagBytes: 20_000_000, seenMs: 1_800_000_000_000 });
  });

  it('are none where the database is not prepared', async () => {
    const empty = await createEmptyDatabase();
    const emptyPool = readOnly(empty);
    expect(await inspectDatabases(emptyPool)).toEqual([]);
    await emptyPool.end();
    await empty.drop();
  });
});
