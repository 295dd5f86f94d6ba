import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DueActionSweeper,
  GateKernel,
  ReportEdgeResult,
  ReportEdgeResultHandler,
  type LivingAction,
} from '#libs/domain/gate';
import {
  Clock,
  CommandRunner,
  DomainError,
  FoldedStreams,
  streamOf,
  timestampOf,
  type ActionId,
} from '#libs/domain/kernel';
import { PostgresEventStore, TransactionalAppends } from '#libs/infra/event-store';
import { GATE_APPEND_FUNCTIONS, PostgresPayloadStore } from '#libs/infra/gate';
import { createWholeDatabase, type TestDatabase } from '../support/database.js';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { silentLogger } from '../support/silent-logger.js';

/** EDGE_RACES=1000 tries more often. */
const ROUNDS = Number(process.env['EDGE_RACES'] ?? 300);
const TOOLS = [{ name: 'update', method: 'POST', path: '/v1/customers', args: {} }];

class ManualClock extends Clock {
  ms = 0;
  override nowMs = (): number => this.ms;
  override monotonicMs = (): number => this.ms;
}

/** A process of its own, which shares only the log with the others. */
const processOn = (
  store: PostgresEventStore,
  { registry, randomness, settings, people }: GateKernel,
  bench: GateBench,
) => {
  const clock = new ManualClock();
  const streams = new FoldedStreams(store);
  const runner = new CommandRunner(store, streams);
  const { backlog } = bench;
  return {
    clock,
    gate: new GateKernel({
      store,
      appends: new TransactionalAppends(store, new PostgresPayloadStore(pool)),
      streams,
      runner,
      registry,
      clock,
      randomness,
      settings,
      people,
      backlog,
    }),
  };
};

let database: TestDatabase;
let pool: pg.Pool;
let stores: PostgresEventStore[];
let bench: GateBench;

beforeAll(async () => {
  database = await createWholeDatabase();
  const { connectionString } = database;
  pool = new pg.Pool({ connectionString, max: 2 });
  const common = { connectionString, applicationName: 'ags tests', onConnectionLost: () => undefined };
  stores = [1, 2].map(() => new PostgresEventStore({ ...common, functions: GATE_APPEND_FUNCTIONS }));
  bench = await new GateBench(stores[0]!).prepare('http://127.0.0.1:9', TOOLS);
});
afterAll(async () => {
  bench.close();
  await Promise.all(stores.map((store) => store.close()));
  await pool.end();
  await database.drop();
});

const authorize = async (): Promise<{ id: ActionId; deadlineMs: number }> => {
  const call = { tool: 'crm.update', mode: 'proxy' } as const;
  const { action: id } = await bench.submit(call, bench.handler(new ManualStarter(bench.executorId, null)));
  const { edge } = (await bench.action(id)) as LivingAction;
  return { id, deadlineMs: Date.parse(edge!.deadline) };
};

const typesOf = async (id: ActionId): Promise<readonly string[]> =>
  (await stores[0]!.readStream(streamOf('action', id))).slice(3).map(({ type }) => type);

describe('a report against the deadline, a millisecond before, at, and after it (CP-34)', () => {
  it(`ends by one of them, the other refused, ${ROUNDS} times`, async () => {
    const api = processOn(stores[0]!, bench.gate, bench);
    const worker = processOn(stores[1]!, bench.gate, bench);
    const handler = new ReportEdgeResultHandler(api.gate, bench.bus);
    const ends = { reported: 0, lost: 0, neither: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id, deadlineMs } = await authorize();
      const [reportMs, sweepMs] = [(round % 3) - 1, (Math.floor(round / 3) % 3) - 1];
      worker.clock.ms = deadlineMs + sweepMs;
      const due = [{ action: id, kind: 'edge' as const, dueAt: timestampOf(deadlineMs) }];
      const sweeper = new DueActionSweeper(worker.gate, { dueBy: () => Promise.resolve(due) }, bench.bus, silentLogger);
      const at = timestampOf(deadlineMs + reportMs);
      const told = { status: 'succeeded', started_at: at, finished_at: at } as const;
      const report = (): Promise<boolean> =>
        handler
          .execute(
            new ReportEdgeResult(
              id,
              { ...told, error_code: null, error_message: null },
              { body: `{"round":${round}}` },
              bench.metadata(at),
            ),
          )
          .then(() => true, isConflict);
      const sweep = (): Promise<boolean> => sweeper.sweep().then(({ ended }) => ended === 1);
      // The contender that begins has the better chance, so they take turns. A sweep asks more before it writes: it begins
      // some turns of the event loop before.
      const contend = async (): Promise<readonly [boolean, boolean]> => {
        if (round % 2 === 0) return Promise.all([report(), sweep()]);
        const swept = sweep();
        for (let turn = 0; turn < round % 8; turn += 1) await nextTurn();
        return Promise.all([report(), swept]);
      };
      const [isReported, isLost] = await contend();
      expect([reportMs < 0 || !isReported, sweepMs >= 0 || !isLost]).toEqual([true, true]);
      expect(isReported && isLost).toBe(false);
      const expected = isReported ? ['EdgeReported', 'ActionWitnessed'] : isLost ? ['EdgeLost', 'ActionWitnessed'] : [];
      expect(await typesOf(id)).toEqual(expected);
      if (!isReported && !isLost) expect([reportMs >= 0, sweepMs < 0]).toEqual([true, true]);
      ends[isReported ? 'reported' : isLost ? 'lost' : 'neither'] += 1;
    }
    // Each of them has won some of the rounds in which both were in time.
    expect(ends.reported).toBeGreaterThan(ROUNDS / 9);
    expect(ends.lost).toBeGreaterThan((4 * ROUNDS) / 9);
  }, 600_000);
});

const isConflict = (error: unknown): false => {
  if (error instanceof DomainError && error.code === 'conflict') return false;
  throw error;
};
