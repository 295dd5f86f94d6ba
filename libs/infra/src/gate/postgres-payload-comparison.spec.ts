import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { PayloadFault } from '#libs/domain/gate';
import { DamagedPayload, StoreUnavailable, type Payload } from '#libs/domain/kernel';
import { createRelaxedPool } from '#libs/infra/postgres';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { testId, TEST_ORG } from '../../../../test/support/given-log.js';
import { PostgresPayloadComparison } from './postgres-payload-comparison.js';
import { PostgresPayloadStore } from './postgres-payload-store.js';

let database: TestDatabase;
let pool: pg.Pool;
let payloads: PostgresPayloadStore;
beforeAll(async () => {
  database = await createWholeDatabase();
  const { connectionString } = database;
  pool = createRelaxedPool({
    connectionString,
    applicationName: 'a spec',
    maxConnections: 2,
    onError: () => undefined,
  });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query('truncate gate.payloads');
  payloads = new PostgresPayloadStore(pool);
});

const payloadOf = (number: number, body: string, kind: Payload['kind'] = 'policy_input'): Payload => ({
  owner: testId('act', number),
  org: TEST_ORG,
  kind,
  digest: digestOf(body),
  body,
});
const compare = (...named: readonly Payload[]): Promise<readonly (PayloadFault | null)[]> =>
  new PostgresPayloadComparison(pool).compare(named);
const change = async ({ owner, kind }: Payload, set: string, ...values: unknown[]): Promise<void> => {
  const changed = await pool.query(`update gate.payloads set ${set} where owner = $1 and kind = $2`, [
    owner,
    kind,
    ...values,
  ]);
  expect(changed.rowCount).toBe(1);
};

/** Bodies with characters of every length in UTF-8, with RFC 8785 escapes, and longer than a database page. */
const BODIES = ['{}', '""', '{"a":"ä€😀"}', '"\\u0000\\\\ \u2028\u007f"', JSON.stringify('x€'.repeat(500_000))];

describe('stored payloads, compared with the digests that name them', () => {
  it.each(BODIES.map((body) => [body.slice(0, 20), body]))('match if nobody changed them: %s', async (_, body) => {
    const both = [payloadOf(1, body), payloadOf(1, body, 'result')];
    for (const each of both) await payloads.put(each);
    expect(await compare(...both)).toEqual([null, null]);
  });

  it('are each judged by themselves, in the order in which they are named', async () => {
    const named = Array.from({ length: 50 }, (_, number) => payloadOf(number, `{"number":${number}}`));
    for (const each of named) await payloads.put(each);
    await change(named[7]!, 'body = body || $3', ' ');
    await pool.query('delete from gate.payloads where owner = $1', [named[31]!.owner]);
    const faults = named.map((_, number) => (number === 7 ? 'differs' : number === 31 ? 'missing' : null));
    expect(await compare(...named)).toEqual(faults);
    expect(await compare()).toEqual([]);
  });

  it.each([
    ['empty', ''],
    ['the same to every reader but for a space', '{"a": 1}'],
    ['of another action', '{"a":2}'],
    ['the same to the eye', '{"а":1}'],
  ])('are as little let pass as where they are read: %s', async (_, body) => {
    const payload = payloadOf(1, '{"a":1}');
    await payloads.put(payload);
    await change(payload, 'body = $3', body);
    expect(await compare(payload)).toEqual(['differs']);
    await expect(payloads.get(payload.owner, payload.kind, payload.digest)).rejects.toThrow(DamagedPayload);
  });

  it.each([
    ['owner', testId('act', 2)],
    ['kind', 'result'],
    ['digest', digestOf('{}')],
  ])('are missing where their row has another %s', async (column, value) => {
    const payload = payloadOf(1, '{"a":1}');
    await payloads.put(payload);
    await change(payload, `${column} = $3`, value);
    expect(await compare(payload)).toEqual(['missing']);
  });

  it('throw StoreUnavailable and name no fault if the database does not answer', async () => {
    const away = createRelaxedPool({
      connectionString: 'postgres://nobody@127.0.0.1:1/none',
      applicationName: 'a spec',
      maxConnections: 1,
      onError: () => undefined,
    });
    const asked = new PostgresPayloadComparison(away).compare([payloadOf(1, '{}')]);
    await expect(asked).rejects.toThrow(StoreUnavailable);
    await away.end();
  });
});
