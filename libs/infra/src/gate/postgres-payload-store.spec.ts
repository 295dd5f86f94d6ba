import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import { type Append, BrokenStream, DamagedPayload, type Payload, RevisionConflict } from '#libs/domain/kernel';
import { PostgresEventStore, SequentialAppends, TransactionalAppends } from '#libs/infra/event-store';
import { createRelaxedPool } from '#libs/infra/postgres';
import { type PayloadRows, payloadStoreContract } from '../../../../test/contracts/payload-store.contract.js';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { testId, TEST_ORG } from '../../../../test/support/given-log.js';
import { newEvents } from '../../../../test/support/new-event.js';
import { tableRows } from '../../../../test/support/table-rows.js';
import { GATE_APPEND_FUNCTIONS } from './gate-append-functions.js';
import { PostgresPayloadStore } from './postgres-payload-store.js';

let database: TestDatabase;
let pool: pg.Pool;
let store: PostgresEventStore;
let payloads: PostgresPayloadStore;
let appends: TransactionalAppends;
beforeEach(async () => {
  database = await createWholeDatabase();
  const { connectionString } = database;
  const common = { connectionString, applicationName: 'a spec' };
  pool = createRelaxedPool({ ...common, maxConnections: 1, onError: () => undefined });
  const onConnectionLost = () => undefined;
  store = new PostgresEventStore({ ...common, onConnectionLost, functions: GATE_APPEND_FUNCTIONS });
  payloads = new PostgresPayloadStore(pool);
  appends = new TransactionalAppends(store, payloads);
});
afterEach(async () => {
  await store.close();
  await pool.end();
  await database.drop();
});

payloadStoreContract('postgres', async (): Promise<PayloadRows> => {
  const rows = await tableRows('gate.payloads', (connections) => new PostgresPayloadStore(connections));
  const damage = async ({ owner, kind, digest }: Payload, body: string): Promise<void> => {
    const text = 'update gate.payloads set body = $4 where (owner, kind, digest) = ($1, $2, $3)';
    await rows.pool.query(text, [owner, kind, digest, body]);
  };
  return { ...rows, damage };
});

const payloadOf = (number: number, body = `{"number":${number}}`): Payload => ({
  owner: testId('act', number),
  org: TEST_ORG,
  kind: 'policy_input',
  digest: digestOf(body),
  body,
});
const beginning = (number: number): Append => ({
  stream: `action-${testId('act', number)}`,
  expectedRevision: 'no_stream',
  events: newEvents(2),
});
const stored = ({ owner, kind, digest }: Payload): Promise<string | null> => payloads.get(owner, kind, digest);

describe('a payload that an append brings along', () => {
  it('is stored with the events that name it, by no statement of its own', async () => {
    const put = vi.spyOn(payloads, 'put');
    const numbers = [1, 2, 3];
    await Promise.all(numbers.map((number) => appends.append(beginning(number), { payload: payloadOf(number) })));
    expect(await Promise.all(numbers.map((number) => stored(payloadOf(number))))).toEqual(
      numbers.map((number) => payloadOf(number).body),
    );
    expect(await store.heads(numbers.map((number) => beginning(number).stream))).toEqual(
      new Map(numbers.map((number) => [beginning(number).stream, 1])),
    );
    expect(put).not.toHaveBeenCalled();
  });

  it('and the events are stored together or not at all', async () => {
    await pool.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused' using errcode = 'check_violation'; end $$`);
    await pool.query(`create constraint trigger refuse after insert on event_store.events
      deferrable initially deferred for each row execute function refuse()`);
    await expect(appends.append(beginning(1), { payload: payloadOf(1) })).rejects.toMatchObject({ code: '23514' });
    expect(await stored(payloadOf(1))).toBeNull();
    expect(await store.heads([beginning(1).stream])).toEqual(new Map());
  });

  it('does not make other appends fail if its own meets a conflict', async () => {
    await store.append(beginning(1));
    const [lost, won, again] = await Promise.allSettled([
      appends.append(beginning(1), { payload: payloadOf(1) }),
      appends.append(beginning(2), { payload: payloadOf(2) }),
      store.append(beginning(3)),
    ]);
    expect(lost).toMatchObject({ status: 'rejected', reason: expect.any(RevisionConflict) as unknown });
    expect([won.status, again.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(await stored(payloadOf(2))).toBe(payloadOf(2).body);
  });

  it('may be stored already', async () => {
    await payloads.put(payloadOf(1));
    await appends.append(beginning(1), { payload: payloadOf(1) });
    expect(await stored(payloadOf(1))).toBe(payloadOf(1).body);
  });

  it('is at hand for the reader who asks at once, if it is a result', async () => {
    const result = { ...payloadOf(1), kind: 'result' as const };
    await appends.append(beginning(1), { payload: result });
    await pool.query('delete from gate.payloads');
    expect(await stored(result)).toBe(result.body);
  });

  it('is written by two processes at once, and neither waits for the other in a circle', async () => {
    const { connectionString } = database;
    const common = { connectionString, applicationName: 'another', onConnectionLost: () => undefined };
    const other = new PostgresEventStore({ ...common, functions: GATE_APPEND_FUNCTIONS });
    const others = new TransactionalAppends(other, payloads);
    const numbers = Array.from({ length: 200 }, (_, index) => index);
    const ends = await Promise.allSettled(
      numbers.flatMap((number) => [
        appends.append(beginning(number), { payload: payloadOf(number) }),
        others.append(beginning(number), { payload: payloadOf(number) }),
      ]),
    );
    await other.close();
    const faults = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
    expect(faults).toHaveLength(numbers.length);
    expect(faults.every((fault) => fault instanceof RevisionConflict)).toBe(true);
  });
});

describe('a payload is written before its append', () => {
  it('if it is long, so that no other append waits behind it', async () => {
    const put = vi.spyOn(payloads, 'put');
    const long = payloadOf(1, JSON.stringify('x'.repeat(20_000)));
    await appends.append(beginning(1), { payload: long });
    expect(put).toHaveBeenCalledExactlyOnceWith(long);
    expect(await stored(long)).toBe(long.body);
  });

  it('if the events are in another store', async () => {
    const { connectionString } = database;
    const elsewhere = new PostgresEventStore({
      connectionString,
      applicationName: 'elsewhere',
      onConnectionLost: () => undefined,
    });
    const put = vi.spyOn(payloads, 'put');
    await new SequentialAppends(elsewhere, payloads).append(beginning(1), { payload: payloadOf(1) });
    expect(put).toHaveBeenCalledOnce();
    await expect(elsewhere.append({ ...beginning(2), payloads: [payloadOf(2)] })).rejects.toThrow(TypeError);
    await elsewhere.close();
  });
});

describe('a payload whose row was changed behind the service’s back', () => {
  const change = (number: number, body: string) =>
    pool.query('update gate.payloads set body = $2 where owner = $1', [payloadOf(number).owner, body]);
  const askedAnew = (payload: Payload) =>
    new PostgresPayloadStore(pool).get(payload.owner, payload.kind, payload.digest);

  it.each(['policy_input', 'result'] as const)('is damaged, and handed to nobody: %s', async (kind) => {
    const payload = { ...payloadOf(1), kind };
    await payloads.put(payload);
    await change(1, '{"number":2}');
    const thrown = await askedAnew(payload).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(DamagedPayload);
    // The error is not one that a retry could mend, and concerns this payload only.
    expect(thrown).toBeInstanceOf(BrokenStream);
    expect(String(thrown)).toContain(`the ${kind} of ${payload.owner} that is stored beside the log is not the one`);
    expect(String(thrown)).toContain(payload.digest);
    expect(String(thrown)).not.toContain('number');
    await change(1, payload.body);
    expect(await askedAnew(payload)).toBe(payload.body);
  });

  it.each([
    ['empty', ''],
    ['the same to every reader but for a space', '{"number": 1}'],
    ['of another action', payloadOf(2).body],
  ])('is so where the body is %s', async (_, body) => {
    await payloads.put(payloadOf(1));
    await change(1, body);
    await expect(stored(payloadOf(1))).rejects.toThrow(DamagedPayload);
  });

  it('does not affect payloads that are read together with it', async () => {
    const numbers = [1, 2, 3];
    await Promise.all(numbers.map((number) => payloads.put(payloadOf(number))));
    await change(2, '{}');
    const ends = await Promise.allSettled(numbers.map((number) => stored(payloadOf(number))));
    expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : 'damaged'))).toEqual([
      payloadOf(1).body,
      'damaged',
      payloadOf(3).body,
    ]);
  });
});

describe('payloads of a table that has grown since the connection was made', () => {
  it('are looked up, and not searched for in all of it', async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    await Promise.all(numbers.map((number) => payloads.put(payloadOf(number))));
    // After several executions PostgreSQL keeps the plan of a prepared statement. Here it is made while there are few
    // rows.
    for (let round = 0; round < 12; round += 1) {
      const found = await Promise.all(numbers.map((number) => stored(payloadOf(number))));
      expect(found).not.toContain(null);
    }
    const many = Array.from({ length: 2_000 }, (_, index) => payloadOf(100 + index));
    await Promise.all(many.map((payload) => payloads.put(payload)));
    const readBefore = await rowsRead();
    const asked = [1_500, 1_501, 1_502];
    expect(await Promise.all(asked.map((number) => stored(payloadOf(number))))).toEqual(
      asked.map((number) => payloadOf(number).body),
    );
    expect((await rowsRead()) - readBefore).toBeLessThan(10);
  });
});

/** Rows of the table that were read by sequential scans, over any connection of this database. */
const rowsRead = async (): Promise<number> => {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ read: string }>(
    `select seq_tup_read as read from pg_stat_user_tables where relname = 'payloads'`,
  );
  return Number(rows[0]?.read);
};
