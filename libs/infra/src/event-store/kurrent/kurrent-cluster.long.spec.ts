import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreUnavailable } from '#libs/domain/kernel';
import { eventStoreContract } from '../../../../../test/contracts/event-store.contract.js';
import { KurrentCluster } from '../../../../../test/support/kurrent-cluster.js';
import { type KurrentProgram, kurrentProgram } from '../../../../../test/support/kurrent-program.js';
import { firstOf, newEvents, newStream } from '../../../../../test/support/new-event.js';
import { expectRising, following, idsInLog, SteadyWriters } from '../../../../../test/support/steady-writers.js';
import { KurrentEventStore, type KurrentEventStoreOptions } from './kurrent-event-store.js';

const WRITERS = 16;
/** Without the proof of leadership, three of six pauses showed an outdated answer. */
const PAUSES = 6;
const NEWCOMERS = 8;
const PATIENCE = { timeout: 30_000 };
const PROGRAM = kurrentProgram();
const program = PROGRAM ?? '';

describe.skipIf(PROGRAM === null)(
  `a cluster of KurrentDB (${PROGRAM ? 'three nodes of KURRENTDB_PROGRAM' : 'KURRENTDB_PROGRAM names none: skipped'})`,
  () => {
    eventStoreContract('kurrent, against three nodes', async () => {
      const cluster = await KurrentCluster.start(program);
      const opened: KurrentEventStore[] = [];
      return {
        open: () => {
          // Only the first store is long-lived, as in the tests against one node.
          const store = new KurrentEventStore({
            url: cluster.url,
            deadlineMs: 10_000,
            isLongLived: opened.length === 0,
          });
          opened.push(store);
          return Promise.resolve(store);
        },
        restart: async () => {
          await (await cluster.leader()).kill();
          await cluster.start();
        },
        close: async () => {
          await Promise.all(opened.map((store) => store.close()));
          await cluster.stop();
        },
      };
    });

    describe('of which nodes fail', () => {
      let cluster: KurrentCluster;
      const stores: KurrentEventStore[] = [];

      beforeAll(async () => {
        cluster = await KurrentCluster.start(program);
      });
      beforeEach(() => cluster.start());
      afterEach(async () => {
        for (const node of cluster.nodes) node.signal('SIGCONT');
        await Promise.all(stores.splice(0).map((store) => store.close()));
      });
      afterAll(() => cluster.stop());

      const open = (options: Partial<KurrentEventStoreOptions> = {}): KurrentEventStore => {
        const store = new KurrentEventStore({ url: cluster.url, deadlineMs: 30_000, ...options });
        stores.push(store);
        return store;
      };

      it.each(['SIGKILL', 'SIGTERM'] as const)(
        'loses and repeats no event of 16 writers after %s to its leader, and its subscriptions go on',
        async (signal) => {
          const [store, reader] = [open(), open()];
          const after = await reader.head();
          const { events: seen, subscription } = following(reader, after);
          const writers = new SteadyWriters(store, WRITERS);
          for (let round = 1; round <= 2; round += 1) {
            await writers.go(500);
            const leader = await cluster.leader();
            await leader.kill(signal);
            await cluster.successorOf(leader);
            await writers.go(500);
            await cluster.start();
          }
          const written = await writers.end();
          expect(await idsInLog(reader, after)).toEqual(written);
          await vi.waitFor(() => expect(seen.length).toBe(writers.answered), PATIENCE);
          expectRising(seen);
          await subscription.close();
        },
      );

      it('never answers with an older head than before when a replaced leader wakes', async () => {
        const [writer, stream] = [open(), newStream()];
        let answered = -1;
        let isOver = false;
        const toldLess: string[] = [];
        const write = async (): Promise<void> => {
          while (!isOver) {
            const expectedRevision = answered === -1 ? 'no_stream' : answered;
            answered = (await writer.append({ stream, expectedRevision, events: newEvents(1) })).revision;
          }
        };
        const ask = async (asker: KurrentEventStore, isEnough: () => boolean): Promise<void> => {
          while (!isEnough()) {
            const before = answered;
            const head = (await asker.heads([stream])).get(stream) ?? -1;
            if (head < before) toldLess.push(`${head} where ${before} was answered`);
          }
        };
        const goOn = async (): Promise<void> => {
          const before = answered;
          await vi.waitFor(() => expect(answered).toBeGreaterThan(before + 20), PATIENCE);
        };
        const staying = [open({ isLongLived: true }), open()].map((asker) => ask(asker, () => isOver));
        const writing = write();
        for (let pause = 1; pause <= PAUSES; pause += 1) {
          await goOn();
          const leader = await cluster.leader();
          leader.signal('SIGSTOP');
          await cluster.successorOf(leader);
          await goOn();
          let isWhole = false;
          // A store that connects at that moment may reach the old leader, which still believes that it leads.
          const coming = Array.from({ length: NEWCOMERS }, () => ask(open(), () => isWhole));
          leader.signal('SIGCONT');
          await cluster.whole();
          isWhole = true;
          await Promise.all(coming);
        }
        isOver = true;
        await Promise.all([writing, ...staying]);
        expect(toldLess).toEqual([]);
      });

      it.each([
        ['killed', 'its leader among them'],
        ['killed', 'but not its leader'],
        ['paused', 'its leader among them'],
        ['paused', 'but not its leader'],
      ])('appends nothing in part with two of three nodes %s, %s, and says so meanwhile', async (how, which) => {
        const store = open({ deadlineMs: 3_000 });
        await store.append(firstOf(newStream()));
        const leader = await cluster.leader();
        const others = cluster.nodes.filter((node) => node !== leader);
        const gone = which === 'its leader among them' ? [leader, ...others.slice(1)] : others;
        const end = (node: KurrentProgram) =>
          how === 'killed' ? node.kill() : Promise.resolve(node.signal('SIGSTOP'));
        await Promise.all(gone.map(end));
        const append = firstOf(newStream(), 2);
        for (const asker of [store, open({ deadlineMs: 3_000 })]) {
          const askedAt = performance.now();
          await expect(asker.append(append)).rejects.toBeInstanceOf(StoreUnavailable);
          // By its own deadline of 3 s: by the usual one it would take 30 s.
          expect(performance.now() - askedAt).toBeLessThan(15_000);
        }
        for (const node of gone) node.signal('SIGCONT');
        await cluster.start();
        const patient = open();
        const result = await patient.append(append);
        expect(result.revision).toBe(1);
        expect(await store.append(append)).toEqual(result);
        expect(await store.readStream(append.stream)).toHaveLength(2);
      });
    });
  },
);
