import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timestampOf } from '#libs/domain/kernel';
import { decoderNow, type DecoderLook } from '#libs/domain/witness';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { testId } from '../../../../test/support/given-log.js';
import { PostgresDecoderRows } from './index.js';

const NOW = Date.parse('2026-10-01T12:00:00.000Z');

let database: TestDatabase;
let pool: pg.Pool;
let decoders: PostgresDecoderRows;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 4 });
  await installSchemas(pool, ['connector_health']);
  decoders = new PostgresDecoderRows(pool);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const looked = (number: number, found: Partial<DecoderLook> = {}): DecoderLook => ({
  connector: testId('con', number),
  org: testId('org', 1),
  name: `c${number}`,
  reason: null,
  lagBytes: 0,
  position: '0/1',
  ...found,
});
const rowOf = async (number: number) => (await decoders.of([testId('con', number)])).get(testId('con', number));

describe('the row of a decoder', () => {
  it('says what was found, and since when it is so', async () => {
    await decoders.save(looked(1), NOW);
    await decoders.save(looked(1, { position: '0/2' }), NOW + 1);
    expect(await rowOf(1)).toEqual({
      ...looked(1, { position: '0/2' }),
      since: timestampOf(NOW),
      seenAt: timestampOf(NOW + 1),
    });
    const lagging = looked(1, { reason: 'slot_lagging', lagBytes: 20_000_000, position: '0/3' });
    await decoders.save(lagging, NOW + 2);
    await decoders.save(lagging, NOW + 3);
    expect(await rowOf(1)).toEqual({ ...lagging, since: timestampOf(NOW + 2), seenAt: timestampOf(NOW + 3) });
  });

  it('keeps how far a decoder was that has no connection', async () => {
    await decoders.save(looked(2), NOW);
    await decoders.save(looked(2, { reason: 'decoder_down', lagBytes: null, position: null }), NOW + 1);
    expect(await rowOf(2)).toMatchObject({ reason: 'decoder_down', lagBytes: null, position: '0/1' });
  });

  it('is of its organization, and among those of all', async () => {
    await decoders.save(looked(3, { org: testId('org', 2) }), NOW);
    expect((await decoders.in(testId('org', 2))).map(({ name }) => name)).toEqual(['c3']);
    const all: unknown[] = [];
    for await (const address of decoders.all()) all.push(address);
    expect(all).toContainEqual({ connector: testId('con', 3), org: testId('org', 2), name: 'c3' });
    await decoders.forget(testId('con', 3));
    await decoders.forget(testId('con', 3));
    expect(await rowOf(3)).toBeUndefined();
  });

  it('is of a decoder that is down where nobody has touched it for a minute', () => {
    const row = { ...looked(4), since: timestampOf(NOW), seenAt: timestampOf(NOW + 5) };
    expect(decoderNow(row, NOW + 60_005)).toBe(row);
    expect(decoderNow(row, NOW + 60_006)).toEqual({ ...row, reason: 'decoder_down', since: timestampOf(NOW + 5) });
    const left = { ...row, reason: 'slot_left' as const };
    expect(decoderNow(left, NOW + 600_000)).toBe(left);
    const lost = { ...row, reason: 'slot_invalidated' as const };
    expect(decoderNow(lost, NOW + 600_000)).toBe(lost);
  });
});
