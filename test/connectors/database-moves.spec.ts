import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OwnServer, startOwnServer } from '../support/own-server.js';
import type { Answer } from '../support/service.js';
import { type ServiceHere, startServiceHere } from '../support/service-here.js';
import { SHOP_PASSWORD, WitnessedShop } from '../support/witnessed-shop.js';

const PATIENCE = { timeout: 30_000, interval: 50 };
const TIMEOUT_MS = 60_000;

let [here, there]: OwnServer[] = [];
let service: ServiceHere;
let shop: WitnessedShop;
let other: WitnessedShop;

beforeAll(async () => {
  [here, there, service] = await Promise.all([startOwnServer(), startOwnServer(), startServiceHere()]);
  shop = await WitnessedShop.open(service, here.connectionString('postgres'));
  other = await WitnessedShop.open(service, there.connectionString('postgres'));
  await shop.connect({ witness: { enabled: true, timeout_ms: TIMEOUT_MS } });
  // The same tables, roles and publication: a copy of the database in another server, whose log is behind.
  await other.owner.query(`alter role ${other.role} rename to ${shop.role}`);
  await other.owner.query(`alter role ${other.witness} rename to ${shop.witness}`);
  await other.owner.query(`create publication ${shop.publication} for table customers, orders`);
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([shop?.owner.end(), other?.owner.end()]);
  await Promise.all([here?.dispose(), there?.dispose()]);
});

const found = (id: unknown): Promise<Answer['json']> => shop.asAdmin('GET', `/v1/actions/${String(id)}`);
const moveTo = async ({ owner }: WitnessedShop, more: object = {}): Promise<void> => {
  const { host, port, database } = owner;
  const config = { host, port, database, ssl: 'disable', witness: { enabled: true, timeout_ms: TIMEOUT_MS }, ...more };
  await shop.asAdmin('PATCH', '/v1/connectors/shop', { config });
};
const followedIn = ({ owner }: WitnessedShop): Promise<void> =>
  vi.waitFor(async () => {
    const { rows } = await owner.query(
      `select 1 from pg_replication_slots where slot_name = '${shop.publication}' and active`,
    );
    expect(rows).toHaveLength(1);
  }, PATIENCE);
const logOf = async ({ owner }: WitnessedShop): Promise<bigint> =>
  BigInt(
    (await owner.query<{ n: string }>(`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text n`)).rows[0]?.n ?? 0,
  );
const grow = async ({ owner }: WitnessedShop, segments: number): Promise<void> => {
  for (let segment = 0; segment < segments; segment += 1) {
    await owner.query(`select pg_logical_emit_message(false, 'flood', 'x'), pg_switch_wal()`);
  }
};
const witnessed = (id: unknown, witness: object): Promise<void> =>
  vi.waitFor(async () => expect(await found(id)).toMatchObject({ state: 'sealed', witness }), PATIENCE);

describe('a connector that is led to another database', () => {
  it('under a call: its commit is not looked for in the log of the other one', async () => {
    await grow(shop, 3);
    await shop.owner.query('begin; select 1 from orders where id = 5 for update');
    await moveTo(shop, { lock_timeout_ms: 10_000 });
    await followedIn(shop);
    const { json } = await shop.call('execute', { sql: 'update orders set cents = 1 where id = 5' }, 0);
    // The activity would be that of the moment at which this transaction first asked.
    const held = 'select count(*) n from pg_locks where not granted';
    await vi.waitFor(async () => expect(await shop.count(held)).toBe(1), PATIENCE);
    await moveTo(other);
    await followedIn(other);
    await shop.owner.query('commit');
    await vi.waitFor(async () => expect(await found(json['id'])).toMatchObject({ state: 'witnessing' }), PATIENCE);
    while ((await logOf(other)) <= (await logOf(shop))) await grow(other, 1);
    await witnessed(json['id'], { verdict: 'UNVERIFIABLE', reasons: ['decoder_down'] });
    const after = await shop.execute('update orders set cents = 2 where id = 5');
    expect(after.json).toMatchObject({ status: 'executed', witness: { verdict: 'VERIFIED' } });
    expect(await other.count('select cents n from orders where id = 5')).toBe(2);
    expect(await shop.count('select cents n from orders where id = 5')).toBe(1);
    expect(await shop.count('select count(*) n from pg_replication_slots')).toBe(0);
  });
});

describe('a password of the witness that is changed', () => {
  it('loses no verdict: not while the log is followed, nor after its connection was cut', async () => {
    const password = 'witness-canary-next';
    const [{ owner }, update] = [other, 'update orders set cents = cents + 1 where id = 6'];
    await owner.query(`alter role ${shop.witness} password '${password}'`);
    expect((await shop.execute(update)).json).toMatchObject({ witness: { verdict: 'VERIFIED' } });
    await owner.query(`select pg_terminate_backend(active_pid) from pg_replication_slots where active`);
    const { json } = await shop.call('execute', { sql: update }, 0);
    await vi.waitFor(async () => expect(await found(json['id'])).toMatchObject({ state: 'witnessing' }), PATIENCE);
    await shop.asAdmin('PUT', '/v1/connectors/shop/credentials', {
      kind: 'database',
      secret: {
        ...{ username: shop.role, password: SHOP_PASSWORD },
        ...{ witness_username: shop.witness, witness_password: password },
      },
    });
    await witnessed(json['id'], { verdict: 'VERIFIED', reasons: [] });
    expect((await shop.execute(update)).json).toMatchObject({ witness: { verdict: 'VERIFIED' } });
  });
});
