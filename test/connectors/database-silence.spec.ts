import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OwnServer, startOwnServer } from '../support/own-server.js';
import type { Answer } from '../support/service.js';
import { type ServiceHere, startServiceHere } from '../support/service-here.js';
import { WitnessedShop } from '../support/witnessed-shop.js';

const PATIENCE = { timeout: 30_000, interval: 50 };
const PATIENT_MS = 60_000;

let server: OwnServer;
let service: ServiceHere;
let shop: WitnessedShop;

beforeAll(async () => {
  [server, service] = await Promise.all([startOwnServer(), startServiceHere()]);
  shop = await WitnessedShop.open(service, server.connectionString('postgres'));
  await shop.connect({ witness: { enabled: true, timeout_ms: PATIENT_MS } });
});
afterAll(async () => {
  await service?.stop();
  await shop?.owner.end();
  await server?.dispose();
});

/** Nobody can read the change log until {@link see}. */
const blind = async (): Promise<void> => {
  await shop.owner.query(`alter role ${shop.witness} nologin`);
  const end = `select count(pg_terminate_backend(pid)) n from pg_stat_activity where usename = '${shop.witness}'`;
  await vi.waitFor(async () => expect(await shop.count(end)).toBe(0), PATIENCE);
};
const see = (): Promise<unknown> => shop.owner.query(`alter role ${shop.witness} login`);
/** Another config that follows the same slot: the decoder tries again at once. */
const reconfigure = (config: object): Promise<unknown> => {
  const { host, port, database } = shop.owner;
  const witness = { enabled: true, timeout_ms: PATIENT_MS };
  const whole = { host, port, database, ssl: 'disable', witness, ...config };
  return shop.asAdmin('PATCH', '/v1/connectors/shop', { config: whole });
};

/** Commits, and waits for its change log. */
const committed = async (id: number): Promise<unknown> => {
  const answer = await shop.call('execute', { sql: 'update orders set cents = 1 where id = $1', params: [id] }, 0);
  await vi.waitFor(async () => expect(await found(answer.json['id'])).toMatchObject({ state: 'witnessing' }), PATIENCE);
  return answer.json['id'];
};
const found = (id: unknown): Promise<Answer['json']> => shop.asAdmin('GET', `/v1/actions/${String(id)}`);
const ends = (id: unknown, witness: object): Promise<void> =>
  vi.waitFor(async () => {
    const action = await found(id);
    expect(action).toMatchObject({ status: 'executed', state: 'sealed', execution: { status: 'succeeded' } });
    expect(action['witness']).toMatchObject({ level: 'L2', method: 'change_log', ...witness });
  }, PATIENCE);
const unverifiable = (reason: string): object => ({ verdict: 'UNVERIFIABLE', reasons: [reason] });

const dropSlot = (): Promise<unknown> => shop.owner.query(`select pg_drop_replication_slot('${shop.publication}')`);
const createSlot = (): Promise<unknown> =>
  shop.owner.query(`select pg_create_logical_replication_slot('${shop.publication}', 'pgoutput')`);

const advanceSlot = (): Promise<unknown> =>
  shop.owner.query(`select pg_replication_slot_advance('${shop.publication}', pg_current_wal_lsn())`);
const flood = async (): Promise<void> => {
  await shop.owner.query(`alter system set max_slot_wal_keep_size = '1MB'`);
  await shop.owner.query('select pg_reload_conf()');
  for (let segment = 0; segment < 3; segment += 1) {
    await shop.owner.query(`select pg_logical_emit_message(false, 'flood', 'x'), pg_switch_wal()`);
  }
  await shop.owner.query('checkpoint');
  await shop.owner.query('alter system reset max_slot_wal_keep_size');
  await shop.owner.query('select pg_reload_conf()');
};

describe('an action whose change log is silent', () => {
  it('is UNVERIFIABLE timeout, and what the log says later amends that', async () => {
    await reconfigure({ witness: { enabled: true, timeout_ms: 500 } });
    await blind();
    const answer = await shop.execute('update orders set cents = 1 where id = 1');
    expect(answer.json).toMatchObject({ status: 'executed', state: 'sealed', witness: unverifiable('timeout') });
    await see();
    await ends(answer.json['id'], { verdict: 'VERIFIED', reasons: [], diff_rows: 1 });
    const { deeds } = await found(answer.json['id']);
    expect((deeds as readonly { readonly kind: string }[]).map(({ kind }) => kind)).toEqual(['action', 'amendment']);
    await reconfigure({});
  });

  it('is UNVERIFIABLE log_restored where the slot is gone', async () => {
    await blind();
    const id = await committed(2);
    await dropSlot();
    await see();
    await ends(id, unverifiable('log_restored'));
  });

  it('is UNVERIFIABLE decoder_down where it committed before the slot was set up anew', async () => {
    const id = await committed(3);
    await createSlot();
    await reconfigure({ max_rows_returned: 10 });
    await ends(id, unverifiable('decoder_down'));
    const answer = await shop.execute('update orders set cents = 2 where id = 3');
    expect(answer.json).toMatchObject({ witness: { verdict: 'VERIFIED' } });
  });

  it.each([
    ['was dropped and made anew', async () => void (await dropSlot(), await createSlot())],
    ['was moved on by somebody', async () => void (await advanceSlot())],
  ])('is not missing where the slot %s before the log was read', async (_, change) => {
    await blind();
    const id = await committed(4);
    await change();
    await see();
    await ends(id, unverifiable('decoder_down'));
  });

  it('is UNVERIFIABLE slot_invalidated where the database threw the log away', async () => {
    await blind();
    const id = await committed(5);
    await flood();
    await see();
    await ends(id, unverifiable('slot_invalidated'));
  });
});
