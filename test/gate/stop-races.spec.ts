import { ResumeAgent, StopAgent } from '#libs/domain/agents/handlers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LivingAction, MustAsk, type SubmittedAction } from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';
import { PostgresEventStore } from '#libs/infra/event-store';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { GateBench } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const INSTANCES = 3;
/** How many races run. Each takes about 20 ms; for a thorough run, set STOP_RACES to 1,000. */
const RACES = Number(process.env['STOP_RACES'] ?? 90);
/** INV-14: no byte reaches an upstream later than this after a committed Stop, on any instance. */
const STOP_HOLDS_WITHIN_MS = 2_000;
/** The most turns of the event loop by which the calls or the Stop get a head start. */
const HEAD_STARTS = 8;
const DEADLINE_MS = 120_000;

const TOOLS = [{ name: 'update', method: 'POST', path: '/v1/customers', args: {} }];

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

/** The instances share one log in PostgreSQL. Each has its own connections and cache, as a process has. */
describe('a Stop that races with calls of three instances (INV-14)', () => {
  let database: TestDatabase;
  let upstream: Upstream;
  const arrivedMs = new Map<string, number>();
  const stores: PostgresEventStore[] = [];
  const benches: GateBench[] = [];
  let [remembered, heldBack] = [0, 0];

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await startUpstream(({ headers }, response) => {
      arrivedMs.set(String(headers['service-action-id']), performance.now());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    for (let instance = 0; instance < INSTANCES; instance += 1) {
      const { connectionString } = database;
      const store = new PostgresEventStore({
        connectionString,
        applicationName: `instance ${instance}`,
        onConnectionLost: () => undefined,
      });
      stores.push(store);
      benches.push(new GateBench(store));
    }
    const [first, ...others] = benches as [GateBench, ...GateBench[]];
    await first.prepare(upstream.baseUrl, TOOLS);
    const { org, agent, key } = first;
    for (const bench of others) Object.assign(bench, { org, agent, key });
  });
  afterAll(async () => {
    await Promise.all(benches.map(({ executor }) => executor.idle()));
    for (const bench of benches) bench.close();
    await upstream?.close();
    await Promise.all(stores.map((store) => store.close()));
    await database?.drop();
  });

  /** Submits as the controller does: by cached state first, and by reading the store if that is not enough. */
  const submit = async (bench: GateBench): Promise<SubmittedAction> => {
    const request = { tool: 'crm.update' };
    try {
      const submitted = await bench.submit(request, bench.handler(), bench.metadata(), 'remembered');
      remembered += 1;
      return submitted;
    } catch (error) {
      if (!(error instanceof MustAsk)) throw error;
      return bench.submit(request);
    }
  };
  interface Call {
    readonly bench: GateBench;
    readonly id: ActionId;
  }
  const call = async (bench: GateBench): Promise<Call> => ({ bench, id: (await submit(bench)).action });
  const settled = async ({ bench, id }: Call): Promise<LivingAction> =>
    (await bench.action(id, (action) => action.state === 'recorded')) as LivingAction;

  it(
    'sends nothing that was called after it, and nothing later than it promises',
    async () => {
      const [admin] = benches as [GateBench];
      for (let race = 0; race < RACES / INSTANCES; race += 1) {
        // A call before the race, so that each instance caches its agent as not stopped.
        const before = await Promise.all(benches.map(call));
        const { commands } = admin.elsewhere();
        const ahead = (race % (2 * HEAD_STARTS)) - HEAD_STARTS;
        const stopping = turns(ahead)
          .then(() => commands.execute(new StopAgent(admin.org, admin.agent, null, admin.metadata())))
          .then(() => performance.now());
        const racing = turns(-ahead).then(() => Promise.all([...benches, ...benches].map(call)));
        const stoppedMs = await stopping;
        const after = await Promise.all(benches.map(call));
        const raced = await Promise.all((await racing).map(settled));
        for (const action of await Promise.all(before.map(settled))) expect(action.decision?.outcome).toBe('allow');
        for (const action of await Promise.all(after.map(settled))) {
          expect(action.decision?.code).toBe('agent_stopped');
          expect(arrivedMs.has(action.submission.action)).toBe(false);
        }
        for (const { submission } of raced) {
          const arrived = arrivedMs.get(submission.action);
          if (arrived === undefined) heldBack += 1;
          else expect(arrived - stoppedMs).toBeLessThan(STOP_HOLDS_WITHIN_MS);
        }
        await commands.execute(new ResumeAgent(admin.org, admin.agent, null, admin.metadata()));
      }
      console.info(`${remembered} calls judged by what was remembered; ${heldBack} of those that raced were held back`);
      expect([remembered > 0, heldBack > 0, arrivedMs.size > RACES]).toEqual([true, true, true]);
    },
    DEADLINE_MS,
  );
});
