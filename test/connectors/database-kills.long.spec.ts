import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { contradictionsIn, type Counted, CountedLoad, endsOf } from '../support/counted-load.js';
import { Fleet } from '../support/fleet.js';
import type { FleetProcess } from '../support/fleet-process.js';
import { startOwnServer, type OwnServer } from '../support/own-server.js';
import { holderOfPort } from '../support/port-holder.js';
import { startService, type RunningService } from '../support/service.js';
import { WitnessedShop } from '../support/witnessed-shop.js';

const CALLERS = 8;
/** Executed between two kills: each hits another moment of the calls that are under way. */
const CALLS_BETWEEN = 30;
const SETTINGS = {
  SERVICE_ENV: 'dev',
  SERVICE_SWEEP_INTERVAL_MS: '200',
  SERVICE_EXECUTOR_SILENCE_MS: '400',
};

let server: OwnServer;

beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server?.dispose());

/** A connection of the customer's own, which no restart of the server has ended. */
const connected = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
};

const begin = async (service: ConstructorParameters<typeof CountedLoad>[0]['service'], database: string) => {
  const admin = await connected(server.connectionString('postgres'));
  await admin.query(`create database ${database}`);
  const shop = await WitnessedShop.open(service, server.connectionString(database));
  const load = await CountedLoad.prepare(shop);
  await shop.connect();
  await load.publish();
  load.begin(CALLERS);
  return { shop, load };
};

/** Lets the calls end, and compares each with its rows. */
const judge = async (load: CountedLoad, database: string): Promise<readonly Counted[]> => {
  await load.more(CALLS_BETWEEN);
  await load.end();
  const counted = await load.counted(await connected(server.connectionString(database)));
  expect(contradictionsIn(counted), JSON.stringify(endsOf(counted))).toEqual([]);
  // What nobody knows is at most what was under way when the database was killed.
  expect(counted.filter(({ outcome }) => outcome === 'unknown').length).toBeLessThanOrEqual(CALLERS);
  return counted;
};

describe('under kill -9, every action ends as the rows of the database say', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService({ env: SETTINGS });
  });
  afterAll(() => service?.stop());

  it('of the service and of the database', async () => {
    const { load } = await begin(service, 'one');
    for (const killed of ['service', 'database', 'service', 'database', 'service', 'database'] as const) {
      await load.more(CALLS_BETWEEN);
      if (killed === 'database') await server.restart();
      else {
        await service.kill('SIGKILL');
        await service.start();
      }
    }
    await judge(load, 'one');
  });
});

describe('under kill -9 of the worker that follows the change log', () => {
  let fleet: Fleet;
  let client: pg.Client;
  beforeAll(async () => {
    fleet = await Fleet.prepare(SETTINGS);
    for (const [program, count] of [
      ['worker', 2],
      ['projector', 1],
      ['api', 1],
    ] as const)
      await fleet.start(program, count);
    client = new pg.Client({ connectionString: fleet.connectionString });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await fleet?.stop();
  });

  /** The worker that holds the lease of the decoder. */
  const follower = async ({ connector }: WitnessedShop): Promise<FleetProcess> => {
    const held = `select client_port from pg_stat_activity join pg_locks using (pid)
      where application_name = $1 and locktype = 'advisory' and granted`;
    const { rows } = await client.query<{ client_port: number }>(held, [`lease decoder ${connector}`]);
    const workers = fleet.running('worker');
    const pid =
      rows[0] &&
      holderOfPort(
        rows[0].client_port,
        workers.map((worker) => worker.pid),
      );
    const found = workers.find((worker) => worker.pid === pid);
    if (found === undefined) throw new Error('no worker follows the change log');
    return found;
  };

  it('another one takes over, and every action ends as the rows say', async () => {
    const { load, shop } = await begin(fleet, 'two');
    for (let takeover = 0; takeover < 2; takeover += 1) {
      await load.more(CALLS_BETWEEN);
      const killed = await vi.waitFor(() => follower(shop), { timeout: 20_000, interval: 50 });
      await killed.end('SIGKILL');
      fleet.takeOut(killed);
      await fleet.start('worker', 1);
    }
    const counted = await judge(load, 'two');
    expect(counted.filter(({ verdict }) => verdict === 'VERIFIED').length).toBeGreaterThanOrEqual(3 * CALLS_BETWEEN);
  });
});
