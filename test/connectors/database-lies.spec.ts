import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ChangeKind, TableCounts } from '#libs/domain/connectors';
import { type Cheat, CheatingDriver } from '../support/cheating-driver.js';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';
import { EventStreamClient, type StreamedEvent } from '../support/event-stream-client.js';
import type { Answer } from '../support/service.js';
import { type ServiceHere, startServiceHere } from '../support/service-here.js';
import { SHOP_PASSWORD, WitnessedShop } from '../support/witnessed-shop.js';

const REPRICE = {
  description: 'Adds cents to an order.',
  sql: 'update orders set cents = cents + $1 where id = $2',
  args: [
    { name: 'cents', type: 'integer' },
    { name: 'id', type: 'integer' },
  ],
};
const TOOLS = [
  { name: 'reprice', ...REPRICE, postcondition: 'row_count == 1 && rows[0].new.note == rows[0].old.note' },
  { name: 'reprice_two', ...REPRICE, postcondition: 'row_count == 2' },
  { name: 'reprice_named', ...REPRICE, postcondition: 'rows[0].new.absent == "x"' },
];

let service: ServiceHere;
let database: TestDatabase;
let shop: WitnessedShop;
let driver: CheatingDriver;
let alerts: EventStreamClient;

beforeAll(async () => {
  database = await createEmptyDatabase();
  service = await startServiceHere();
  shop = await WitnessedShop.open(service, database.connectionString);
  await shop.owner.query('alter table orders replica identity full');
  await shop.connect({ tools: TOOLS, watch_bypass: true });
  driver = new CheatingDriver(service, shop);
  const headers = { Authorization: `Bearer ${service.adminKey}` };
  alerts = await EventStreamClient.open(service.baseUrl, headers, 'types=decoder.alert');
});
afterAll(async () => {
  vi.restoreAllMocks();
  alerts?.close();
  await service?.stop();
  await shop?.close();
  await database?.drop();
});

const counts = (table: string, kind: ChangeKind): TableCounts => ({
  ...{ table, insert: 0, update: 0, delete: 0, truncate: 0 },
  [kind]: 1,
});
const said = (kind: 'update' | 'delete', table: string): Pick<Cheat, 'said' | 'counts'> => ({
  said: { kind, tables: [{ table, kinds: [kind], is_partitioned: false }] },
  counts: [counts(table, kind)],
});
const UPDATE = 'update orders set cents = cents + 1 where id = 301';
const ofUpdate = said('update', 'public.orders');
const DELETE = 'delete from visits where id = 1';
const ofDelete = said('delete', 'public.visits');

const MISMATCHES: readonly (readonly [string, string, Cheat, readonly string[]])[] = [
  ['reports success and rolls back', UPDATE, { ...ofUpdate, runs: [UPDATE], commits: false }, ['transaction_missing']],
  ['reports success and changes nothing', UPDATE, { ...ofUpdate, runs: [] }, ['row_count']],
  [
    'changes a row of another table',
    UPDATE,
    { ...ofUpdate, runs: [`update customers set name = 'other' where id = 30`] },
    ['row_count', 'unexpected_table'],
  ],
  [
    'changes a row of another table, too',
    UPDATE,
    { ...ofUpdate, runs: [UPDATE, `update customers set name = 'other' where id = 31`] },
    ['row_count', 'unexpected_table'],
  ],
  [
    'changes two rows and reports one',
    UPDATE,
    { ...ofUpdate, runs: ['update orders set cents = cents + 1 where id in (301, 302)'] },
    ['row_count'],
  ],
  [
    'deletes the row that it was to update',
    UPDATE,
    { ...ofUpdate, runs: ['delete from orders where id = 301'] },
    ['row_count', 'unexpected_kind'],
  ],
  [
    'empties the table of which it was to delete a row',
    DELETE,
    { ...ofDelete, runs: ['truncate visits'] },
    ['row_count', 'truncated'],
  ],
];

const action = async (id: unknown): Promise<Answer['json']> => shop.asAdmin('GET', `/v1/actions/${String(id)}`);

/** What an event of the stream says. */
const saidBy = ({ data }: StreamedEvent): Readonly<Record<string, unknown>> =>
  (data['data'] as { readonly object: Readonly<Record<string, unknown>> }).object;
const alertsAfter = async (before: number, count: number): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  await alerts.until(before + count, ({ data }) => data['object'] === 'event');
  return alerts.events.slice(before).map(saidBy);
};

describe('a driver that', () => {
  it.each(MISMATCHES)('%s is a MISMATCH', async (_, sql, cheat, reasons) => {
    driver.next(cheat);
    const answer = await shop.execute(sql);
    expect(answer.json).toMatchObject({
      ...{ status: 'executed', state: 'sealed', execution: { status: 'succeeded' } },
      witness: { level: 'L2', verdict: 'MISMATCH', method: 'change_log', reasons },
    });
  });

  it('reports failure and commits is a MISMATCH by an amendment', async () => {
    driver.next({ ...ofUpdate, runs: ['update orders set cents = 7 where id = 303'], reports: 'failed' });
    const answer = await shop.execute(UPDATE);
    expect(answer.json).toMatchObject({ status: 'failed', execution: { status: 'failed' } });
    await vi.waitFor(
      async () =>
        expect(await action(answer.json['id'])).toMatchObject({
          ...{ status: 'failed', state: 'sealed' },
          witness: { level: 'L2', verdict: 'MISMATCH', reasons: ['row_count'] },
        }),
      { timeout: 20_000, interval: 50 },
    );
    expect(await shop.count('select count(*) n from orders where id = 303 and cents = 7')).toBe(1);
  });

  it.each<[string, (other: string, own: string) => readonly string[]]>([
    ['copies the mark of another action', (other) => [other]],
    ['adds the mark of another action', (other, own) => [own, other]],
  ])('%s has forged it, and its own transaction is missing', async (_, marks) => {
    driver.next({ ...ofUpdate, runs: ['update orders set cents = cents + 1 where id = 304'] });
    const honest = await shop.execute(UPDATE);
    const copied = driver.marks.at(-1) ?? '';
    const before = alerts.events.length;
    driver.next({
      ...ofUpdate,
      runs: ['update orders set cents = 8 where id = 305'],
      marks: (own) => marks(copied, own),
    });
    const forged = await shop.execute(UPDATE);
    expect(forged.json).toMatchObject({ witness: { verdict: 'MISMATCH', reasons: ['transaction_missing'] } });
    expect(await action(honest.json['id'])).toMatchObject({ witness: { verdict: 'VERIFIED' } });
    expect(await alertsAfter(before, 1)).toMatchObject([{ kind: 'forged_mark', connector: shop.connector }]);
  });
});

describe('a tool with a postcondition', () => {
  it.each([
    ['that holds is verified', 'reprice', 'VERIFIED', []],
    ['that is false is a MISMATCH', 'reprice_two', 'MISMATCH', ['expectation']],
    ['that has no answer: nobody can say', 'reprice_named', 'UNVERIFIABLE', ['expectation']],
  ])('%s', async (_, tool, verdict, reasons) => {
    const answer = await shop.call(tool, { cents: 5, id: 310 });
    expect(answer.json).toMatchObject({
      ...{ status: 'executed', execution: { status: 'succeeded' } },
      witness: { level: 'L2', verdict, reasons },
    });
  });
});

describe('what is done past the service', () => {
  it('is told once a minute for each table, with its rows', async () => {
    const later = async (): Promise<void> => {
      await shop.owner.query(`update customers set name = 'past ' || id where id <= 3`);
    };
    const before = alerts.events.length;
    await shop.owner.query('insert into visits values (3, 1), (4, 2)');
    await later();
    await later();
    // What is told of this one is told of what came before it, too.
    await shop.owner.query('delete from orders where id = 320');
    const told = await alertsAfter(before, 3);
    expect(told.map(({ kind, table, rows }) => [kind, table, rows])).toEqual([
      ['bypass', 'public.visits', 2],
      ['bypass', 'public.customers', 3],
      ['bypass', 'public.orders', 1],
    ]);
  });

  it('with a mark that the service did not make is told each time', async () => {
    const { host, port, database: name } = shop.owner;
    const agent = new pg.Client({ host, port, database: name, user: shop.role, password: SHOP_PASSWORD });
    await agent.connect();
    const before = alerts.events.length;
    const mark = JSON.stringify({ action: `act_${'0'.repeat(26)}`, attempt: 1, mac: 'ab'.repeat(32), v: 1 });
    for (const text of [mark, mark, 'no mark at all']) {
      await agent.query(`select pg_logical_emit_message(true, 'service.action', $1)`, [text]);
    }
    await agent.end();
    expect((await alertsAfter(before, 3)).map(({ kind }) => kind)).toEqual(Array(3).fill('forged_mark'));
  });
});
