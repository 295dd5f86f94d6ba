import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { bigintArray, createDurablePool, textArray, uuidArray } from './index.js';

describe('arrays in binary form', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    const { connectionString } = database;
    pool = createDurablePool({
      connectionString,
      applicationName: 'a spec',
      maxConnections: 1,
      onError: () => undefined,
    });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const arrived = async (type: string, array: Buffer): Promise<unknown> =>
    (await pool.query<{ value: unknown }>(`select $1::${type}[]::text[] as value`, [array])).rows[0]?.value;

  it('transmit every text, whatever is in it, and null', async () => {
    const texts = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
        fc.constantFrom(null, '', 'NULL', '{}', '"\\"', "'", ',', '\u2028', '😀'),
      ),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (values) => {
        expect(await arrived('text', textArray(values))).toEqual(values);
      }),
    );
  });

  it('transmit every safe integer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.maxSafeInteger()), async (values) => {
        expect(await arrived('bigint', bigintArray(values))).toEqual(values.map(String));
      }),
    );
  });

  it('transmit every UUID', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uuid()), async (values) => {
        expect(await arrived('uuid', uuidArray(values))).toEqual(values);
      }),
    );
    expect(() => uuidArray(['act_1'])).toThrow(TypeError);
  });

  it('are refused by the server if a text holds U+0000', async () => {
    await expect(arrived('text', textArray(['a', 'b\0']))).rejects.toMatchObject({ code: '22021' });
  });
});
