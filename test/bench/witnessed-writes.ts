import { once } from 'node:events';
import { connect } from 'node:net';
import pg from 'pg';
import { actionMark } from '#libs/crypto';
import { SystemClock } from '#libs/infra/runtime';
import { ChangeLogReader, createSlot } from '#libs/infra/witness';
import { startOwnServer } from '../support/own-server.js';
import { WitnessedShop } from '../support/witnessed-shop.js';
import type { BenchService } from './bench-service.js';
import { absolute, against, print, say } from './figure.js';
import { paced, quantile } from './pace.js';

const WRITES_PER_SECOND = 50;
/** One row and one mark each. */
const TRANSACTIONS = 200_000;
/** Memory is compared between here and the end: before, the runtime has not taken what it needs. */
const WARM_TRANSACTIONS = 40_000;

/** How long after its commit a write has its verdict. */
export const witnessDelay = async (service: BenchService, seconds: number): Promise<void> => {
  const server = await startOwnServer();
  const shop = await WitnessedShop.open(service, await databaseOn(server.connectionString('postgres')));
  try {
    await shop.connect();
    say(`${WRITES_PER_SECOND} writes/s to a database whose change log is followed, ${seconds} s ...`);
    const delays: number[] = [];
    const write = async (): Promise<void> => {
      const id = 1 + Math.floor(Math.random() * 600);
      const { json } = await shop.execute('update orders set cents = cents + 1 where id = $1', id);
      if ((json['witness'] as { verdict?: unknown }).verdict !== 'VERIFIED') throw new Error(JSON.stringify(json));
      delays.push(await delayOf(shop, String(json['id'])));
    };
    await paced(WRITES_PER_SECOND, 5, write);
    delays.length = 0;
    await paced(WRITES_PER_SECOND, seconds, write);
    say(
      `from commit to verdict p50 ${quantile(delays, 0.5).toFixed(1)} ms, p99 ${quantile(delays, 0.99).toFixed(1)} ms`,
    );
    print(absolute('witness_delay_p99', quantile(delays, 0.99), 'ms'), service.profile);
  } finally {
    await shop.close();
    await server.dispose();
  }
};

const databaseOn = async (connectionString: string): Promise<string> => {
  const admin = new pg.Client({ connectionString });
  await admin.connect();
  await admin.query('create database shop template template0');
  await admin.end();
  return connectionString.replace(/\/postgres(?=\?|$)/, '/shop');
};

const delayOf = async (shop: WitnessedShop, action: string): Promise<number> => {
  const detail = await shop.asAdmin('GET', `/v1/actions/${action}`);
  const { detail: evidence } = detail['witness'] as { detail: { committed_at: string } };
  const events = detail['events'] as { readonly type: string; readonly at: string }[];
  const witnessed = events.find(({ type }) => /witnessed/i.test(type));
  return Date.parse(witnessed?.at ?? '') - Date.parse(evidence.committed_at);
};

/** How fast a log that waited is read, and whether memory grows with it. */
export const decoderSpeed = async (): Promise<void> => {
  const server = await startOwnServer();
  try {
    const connectionString = await databaseOn(server.connectionString('postgres'));
    await filledLog(connectionString);
    say('... and read by one decoder');
    const { perSecond, warmBytes } = await decoded(connectionString);
    const [endMiB, warmMiB] = [process.memoryUsage.rss() / MIB, warmBytes / MIB];
    print(absolute('decoder_transactions_per_second', perSecond, 'transactions/s'));
    print(against('decoder_memory', [endMiB, warmMiB], 'MiB'));
  } finally {
    await server.dispose();
  }
};

const MIB = 1_048_576;
const SLOT = 'bench';

const filledLog = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('create table counted (id bigint primary key, at timestamptz default now())');
  await client.query(`create publication ${SLOT} for table counted`);
  await createSlot(client, SLOT);
  say(`${TRANSACTIONS} transactions with a row and a mark ...`);
  const mark = actionMark(Buffer.alloc(32), { action: 'act_00000000000000000000000001', attempt: 1, xid: 1 });
  await client.query(`create procedure fill(n int) language plpgsql as $$ begin
    for i in 1..n loop
      perform pg_logical_emit_message(true, 'service.action', '${mark}');
      insert into counted values (i);
      commit;
    end loop; end $$`);
  await client.query('set synchronous_commit = off');
  await client.query(`call fill(${TRANSACTIONS})`);
  await client.end();
};

const decoded = async (
  connectionString: string,
): Promise<{ readonly perSecond: number; readonly warmBytes: number }> => {
  const { hostname, port, username, password, pathname } = new URL(connectionString);
  const stopping = new AbortController();
  let [seen, warmBytes] = [0, 0];
  const begun = performance.now();
  await new ChangeLogReader(new SystemClock()).follow({
    connection: {
      connect: async () => {
        const socket = connect(Number(port), hostname);
        await once(socket, 'connect');
        return socket;
      },
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: decodeURIComponent(pathname.slice(1)),
    },
    ...{ slot: SLOT, publication: SLOT, signal: stopping.signal },
    onTransaction: () => {
      seen += 1;
      if (seen === WARM_TRANSACTIONS) warmBytes = process.memoryUsage.rss();
      if (seen === TRANSACTIONS) stopping.abort();
      return Promise.resolve();
    },
  });
  return { perSecond: (TRANSACTIONS * 1_000) / (performance.now() - begun), warmBytes };
};
