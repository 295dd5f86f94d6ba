import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectorStatus } from '#libs/domain/connectors';
import { epochMsOf } from '#libs/domain/kernel';
import type { DecoderRowReason } from '#libs/domain/witness';
import { PostgresConnectorHealth, PostgresDecoderRows } from '#libs/infra/connector-health';
import { ConnectorRow, ReadModels } from '#libs/infra/read-models';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { connectorRow, writeRows } from '../../../../test/support/given-rows.js';
import { SetClock } from '../../../../test/support/ledger-fixtures.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { ConnectorsInNeed } from './connectors-in-need.js';

let readModels: TestReadModels;
let pool: pg.Pool;
let decoders: PostgresDecoderRows;
let inNeed: ConnectorsInNeed;
const clock = new SetClock(epochMsOf(testTime(0)));

beforeAll(async () => {
  readModels = await createTestReadModels();
  pool = new pg.Pool({ connectionString: readModels.connectionString, max: 2 });
  decoders = new PostgresDecoderRows(pool);
  inNeed = new ConnectorsInNeed(new ReadModels(readModels.source), new PostgresConnectorHealth(pool), decoders, clock);
});
afterAll(async () => {
  await pool?.end();
  await readModels?.drop();
});

/** A connector of type database, and its decoder's row. */
const listed = async (
  number: number,
  reason: DecoderRowReason | null,
  { status = 'active', enabled = true }: { status?: ConnectorStatus; enabled?: boolean } = {},
) => {
  const { folded } = connectorRow(number, { name: `db${number}` });
  const config = { host: 'db.example.com', database: 'shop', witness: { enabled } };
  const row = { type: 'database', status, folded: { ...folded, status, type: 'database', config } } as const;
  await writeRows(readModels.source, ConnectorRow, [connectorRow(number, { ...row, name: `db${number}` })]);
  const look = { connector: testId('con', number), org: TEST_ORG, name: `db${number}`, position: '0/1' };
  await decoders.save({ ...look, reason, lagBytes: 7 }, clock.nowMs());
};

describe('a change log that is not read as it should be', () => {
  it('is told of active connectors that ask for it, a lost one first, then one that is down', async () => {
    await listed(1, 'slot_lagging');
    await listed(2, null);
    await listed(3, 'decoder_down');
    await listed(4, 'log_restored');
    await listed(5, 'decoder_down', { status: 'disabled' });
    await listed(6, 'slot_left', { enabled: false });
    const told = await inNeed.blind(TEST_ORG);
    expect(told.map(({ name, status, reason }) => [name, status, reason])).toEqual([
      ['db4', 'invalidated', 'log_restored'],
      ['db3', 'down', 'decoder_down'],
      ['db1', 'degraded', 'slot_lagging'],
    ]);
    expect(told.at(-1)).toMatchObject({ id: testId('con', 1), lagBytes: 7, since: testTime(0) });
    expect(await inNeed.blind(testId('org', 2))).toEqual([]);
  });

  it('is told of a decoder that nobody has heard of for a minute', async () => {
    clock.ms += 60_001;
    expect((await inNeed.blind(TEST_ORG)).map(({ name, status }) => [name, status])).toEqual([
      ['db4', 'invalidated'],
      ['db1', 'down'],
      ['db2', 'down'],
      ['db3', 'down'],
    ]);
  });
});
