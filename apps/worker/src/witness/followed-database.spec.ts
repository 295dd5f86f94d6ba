import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '#libs/infra/runtime';
import { EgressChangeLogSource, slotStateOf } from '#libs/infra/witness';
import { createLoggedDatabase, type LoggedDatabase } from '../../../../test/support/change-log.js';
import { testId } from '../../../../test/support/given-log.js';
import type { Decoder } from './decoder.js';
import { DecoderScene, sceneDatabase, type SceneDatabase } from './testing/decoder-scene.js';

const PATIENT = { timeout: 20_000, interval: 10 };

let database: SceneDatabase;
let logged: LoggedDatabase;
let holding = new AbortController();
let running: Promise<void> = Promise.resolve();
let decoder: Decoder;

beforeAll(async () => {
  [database, logged] = await Promise.all([sceneDatabase(), createLoggedDatabase()]);
  await logged.client.query('create table customers (id int primary key, name text)');
});
afterAll(async () => {
  await logged?.drop();
  await database?.close();
});
afterEach(async () => {
  holding.abort();
  await running;
  holding = new AbortController();
});

const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, PATIENT);
const rowOf = async ({ rows, connector }: DecoderScene) => (await rows.of([connector])).get(connector);
const slotOf = (scene: DecoderScene) => slotStateOf(logged.client, scene.slot);

/** Its decoder follows the log of a real database. */
const begin = async (): Promise<DecoderScene> => {
  const { hostname: host, port, username, password, pathname } = new URL(logged.connectionString);
  const config = {
    ...{ host, port: Number(port), database: pathname.slice(1), ssl: 'disable', schemas: ['public'] },
    ...{ watch_bypass: true, witness: { enabled: true } },
  };
  const scene = await DecoderScene.begin(database.pool, config);
  const [witness_username, witness_password] = [decodeURIComponent(username), decodeURIComponent(password)];
  await scene.credentialIs({ username: 'agent', password: 'one', witness_username, witness_password });
  await logged.client.query(`create publication ${scene.slot} for table customers`);
  run(scene);
  await until(async () => expect(await rowOf(scene)).toMatchObject({ reason: null }));
  return scene;
};
const run = (scene: DecoderScene): void => {
  const door = {
    connect: async () => {
      const { hostname, port } = new URL(logged.connectionString);
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      return socket;
    },
  };
  decoder = scene.decoder({ source: new EgressChangeLogSource(door, new SystemClock()) });
  running = decoder.run(holding.signal);
};
const stop = async (): Promise<void> => {
  holding.abort();
  await running;
  holding = new AbortController();
};

/** A transaction with the mark of an action. Resolves to where the log stood after it. */
const change = async (scene: DecoderScene, action: number, name: string): Promise<string> => {
  const { client } = logged;
  await client.query('begin');
  const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  const mark = await scene.mark(action, Number(BigInt.asUintN(32, BigInt(rows[0]?.xid ?? 0))));
  await client.query(`select pg_logical_emit_message(true, 'service.action', $1)`, [mark]);
  await client.query(`insert into customers values ($1, $2) on conflict (id) do update set name = excluded.name`, [
    action,
    name,
  ]);
  await client.query('commit');
  const end = await client.query<{ lsn: string }>('select pg_current_wal_insert_lsn()::text as lsn');
  return end.rows[0]?.lsn ?? '';
};

describe('the change log of a real database', () => {
  it('is followed from its first transaction on, over restarts, and its slot is dropped in the end', async () => {
    const scene = await begin();
    await change(scene, 1, 'Ada');
    await until(() => expect(scene.verdicts.recorded.map(([action]) => action)).toEqual([testId('act', 1)]));
    await stop();
    await change(scene, 2, 'Grace');
    run(scene);
    await until(() => expect(scene.verdicts.recorded).toHaveLength(2));
    await logged.client.query(`update customers set name = 'Eve' where id = 1`);
    await until(() => expect(scene.seen).toEqual(['witnessed', 'witnessed', 'bypass']));
    expect((await scene.said()).at(-1)).toMatchObject([
      'DecoderAlerted',
      { kind: 'bypass', table: 'public.customers', rows: 1 },
    ]);
    expect(await rowOf(scene)).toMatchObject({ reason: null });
    await scene.connectorIs({ type: 'ConnectorUpdated', data: { ...scene.about, status: 'disabled' } });
    decoder.connectorChanged();
    await running;
    expect([await slotOf(scene), await rowOf(scene)]).toEqual([null, undefined]);
  });

  it('says that a transaction is missing which rolled back, also where nothing else happens', async () => {
    const scene = await begin();
    const { client } = logged;
    await client.query(`begin; insert into customers values (9, 'nobody'); rollback`);
    const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn');
    scene.verdicts.wait(testId('act', 9), rows[0]?.lsn ?? '');
    await until(() => expect(scene.verdicts.recorded).toEqual([[testId('act', 9), 'transaction_missing']]));
    await scene.deleteConnector();
    decoder.connectorChanged();
    await running;
    expect([await slotOf(scene), await rowOf(scene)]).toEqual([null, undefined]);
    expect(scene.logger.warnings).toEqual([]);
  });

  it('that is gone with its slot is none that is followed, until somebody makes a slot anew', async () => {
    const scene = await begin();
    await stop();
    await logged.client.query(`select pg_drop_replication_slot('${scene.slot}')`);
    run(scene);
    await until(async () => expect(await rowOf(scene)).toMatchObject({ reason: 'log_restored' }));
    await logged.client.query(`select pg_create_logical_replication_slot('${scene.slot}', 'pgoutput')`);
    await until(async () => expect(await rowOf(scene)).toMatchObject({ reason: null }));
    await change(scene, 3, 'Lin');
    await until(() => expect(scene.verdicts.recorded.map(([action]) => action)).toEqual([testId('act', 3)]));
    await scene.deleteConnector();
    decoder.connectorChanged();
    await running;
  });
});
