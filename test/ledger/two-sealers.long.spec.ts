import { afterEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { decodeEvent, RevisionConflict, type EventStore, type OrgId, type RecordedEvent } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { KurrentEventStore, MemoryEventStore, PostgresEventStore } from '#libs/infra/event-store';
import { createTestDatabase } from '../support/database.js';
import { kurrentProgram } from '../support/kurrent-program.js';
import { KURRENT_UNDER_TEST, startKurrent } from '../support/kurrent-under-test.js';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';

/** All deeds if there is a real server or they are asked for; a run without either uses a part. */
const isWhole = kurrentProgram() !== null || process.env.AGS_TWO_SEALERS === 'all';
const DEEDS = isWhole ? 10_000 : 500;
const DEADLINE_MS = 300_000;
/** How many events each sealer gets at once. They differ, so that the two never agree on where a batch ends. */
const STRETCHES = [61, 89] as const;
const WRITERS = 32;

/** Two clients of one log. */
interface TwoClients {
  readonly stores: readonly [EventStore, EventStore];
  close(): Promise<void>;
}

const LOGS: readonly (readonly [name: string, open: () => Promise<TwoClients>])[] = [
  [
    'memory',
    () => {
      const store = new MemoryEventStore();
      return Promise.resolve({ stores: [store, store], close: () => Promise.resolve() });
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const database = await createTestDatabase();
      const open = (applicationName: string) =>
        new PostgresEventStore({
          connectionString: database.connectionString,
          applicationName,
          onConnectionLost: () => undefined,
        });
      const [one, other] = [open('ags one'), open('ags other')];
      return {
        stores: [one, other],
        close: async () => {
          await Promise.all([one.close(), other.close()]);
          await database.drop();
        },
      };
    },
  ],
  [
    `KurrentDB (${KURRENT_UNDER_TEST})`,
    async () => {
      const server = await startKurrent();
      const open = () => new KurrentEventStore({ url: server.url, deadlineMs: 30_000, isLongLived: true });
      const [one, other] = [open(), open()];
      return {
        stores: [one, other],
        close: async () => {
          await Promise.all([one.close(), other.close()]);
          await server.close();
        },
      };
    },
  ],
];

/** Seals as a sealing loop does: it tries again if the other sealer won too often. */
const sealAll = async (bench: LedgerBench, log: readonly RecordedEvent[], stretch: number): Promise<void> => {
  const sealer = bench.sealer();
  for (let start = 0; start < log.length;) {
    try {
      await bench.feed(sealer, log.slice(start, start + stretch));
      start += stretch;
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
};

/** The number of appends that lost against the other sealer. Without any, the two sealers have not met. */
const lostIn = async ({ mock }: MockInstance<EventStore['append']>): Promise<number> => {
  const settled = await Promise.allSettled(mock.results.map(({ value }) => value as Promise<unknown>));
  return settled.filter((result) => result.status === 'rejected').length;
};

const recordAll = async (bench: LedgerBench, org: OrgId): Promise<readonly string[]> => {
  const streams: string[] = [];
  const write = async (): Promise<void> => {
    for (let index = streams.length; index < DEEDS; index = streams.length) {
      const place = streams.push('') - 1;
      streams[place] = await bench.recordAction(org, place % 10 === 0 ? 'executed' : 'refused');
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return streams;
};

describe(`two sealers on one organization, ${DEEDS} deeds, and no lease between them`, () => {
  let clients: TwoClients | null = null;
  afterEach(async () => {
    await clients?.close();
    clients = null;
  });

  it.each(LOGS)(
    'make one chain on %s: no fork, no gap, each action sealed once (CP-24, F-19)',
    async (_, open) => {
      clients = await open();
      const one = new LedgerBench(clients.stores[0]);
      await one.activateKey();
      const other = new LedgerBench(clients.stores[1], one.keys);
      // Another machine has another time, so the same deed has other bytes there.
      other.clock.ms += 1_000;
      const org = newOrg();
      const streams = await recordAll(one, org);
      const log = await one.log();
      // Both connect, to write and to read, before they begin.
      for (const bench of [one, other]) {
        await bench.recordAction(newOrg());
        await bench.ledgerOf(org);
      }
      const appends = clients.stores.map((store) => vi.spyOn(store, 'append'));
      await Promise.all([sealAll(one, log, STRETCHES[0]), sealAll(other, log, STRETCHES[1])]);

      const ledger = await one.ledgerOf(org);
      const deeds = ledger.map((event) => decodeEvent<LedgerEvent>(event));
      expect(ledger.map(({ revision }) => revision)).toEqual(Array.from({ length: DEEDS }, (__, index) => index));
      expect(deeds.map(({ event }) => event.data.seq)).toEqual(Array.from({ length: DEEDS }, (__, index) => index + 1));
      expect(deeds.map(({ event }) => event.data.prev_hash)).toEqual([
        null,
        ...deeds.slice(0, -1).map(({ event }) => event.data.body_hash),
      ]);
      expect(deeds.map(({ metadata }) => metadata.source?.stream).toSorted()).toEqual(streams.toSorted());
      expect(await Promise.all(appends.map(lostIn))).not.toEqual([0, 0]);
    },
    DEADLINE_MS,
  );
});
