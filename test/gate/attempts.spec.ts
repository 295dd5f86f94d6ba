import { describe, expect, it, vi } from 'vitest';
import { actionDecider, type Action, type LivingAction } from '#libs/domain/gate';
import { StoreUnavailable, streamRef } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { startUpstream } from '../support/upstream.js';

const TOOLS = [
  { name: 'get', method: 'GET', path: '/v1/customers', args: {} },
  { name: 'update', method: 'POST', path: '/v1/customers', args: {} },
];

const isRecorded = (action: Action): boolean => action.state === 'recorded';

describe('a repeatable call that meets a passing failure', () => {
  it('is sent at most three times, each under a claim of its own, always with the same id (INV-02)', async () => {
    const upstream = await startUpstream((_seen, response) => response.writeHead(503).end());
    const bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
    const { action: id } = await bench.submit({ tool: 'crm.get' });
    const action = (await bench.action(id, isRecorded)) as LivingAction;
    expect(action.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(action.attempts.map(({ claim }) => claim)).size).toBe(3);
    expect(new Set(action.attempts.map(({ deadline }) => deadline)).size).toBe(1);
    expect(action.outcome).toMatchObject({ status: 'unknown', error_code: 'upstream_error' });
    expect(upstream.countFor(id)).toBe(3);
    bench.close();
    await upstream.close();
  });

  it('a write without idempotency is sent once (rule EXEC-2)', async () => {
    const upstream = await startUpstream((_seen, response) => response.writeHead(503).end());
    const bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
    const { action: id } = await bench.submit({ tool: 'crm.update' });
    await bench.action(id, isRecorded);
    expect(upstream.countFor(id)).toBe(1);
    bench.close();
    await upstream.close();
  });
});

/** A store that fails to read connectors while `isAway` is set. */
class ForgetfulStore extends MemoryEventStore {
  isAway = false;

  override async heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (this.isAway && streams.some((stream) => stream.startsWith('connector-'))) {
      throw new StoreUnavailable('the store is away');
    }
    return super.heads(streams);
  }
}

describe('an executor that has yet to read the connector, while the store does not say', () => {
  const setScene = async () => {
    const store = new ForgetfulStore();
    const upstream = await startUpstream();
    const bench = await new GateBench(store).prepare(upstream.baseUrl, TOOLS);
    // Like a worker that has just started, with an empty cache.
    const worker = new GateBench(store);
    const close = async (): Promise<void> => {
      worker.close();
      bench.close();
      await upstream.close();
    };
    return { store, upstream, bench, worker, close };
  };

  it('claims nothing, so that a process that can read it may', async () => {
    const { store, upstream, bench, worker, close } = await setScene();
    const { action: id } = await bench.submit({ tool: 'crm.get' }, bench.handler(new ManualStarter(null, null)));
    store.isAway = true;
    await expect(worker.executor.claimAndRun(id, null)).rejects.toThrow(StoreUnavailable);
    expect(await bench.action(id)).toMatchObject({ state: 'executing', attempts: [] });
    store.isAway = false;
    expect(await bench.executor.claimAndRun(id, null)).toBe(true);
    expect(await bench.action(id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(upstream.countFor(id)).toBe(1);
    await close();
  });

  it('records at once that nothing was sent under its claim (CP-05)', async () => {
    const { store, upstream, bench, worker, close } = await setScene();
    const starter = new ManualStarter(worker.executorId, null);
    const { action: id } = await bench.submit({ tool: 'crm.get' }, bench.handler(starter));
    store.isAway = true;
    await worker.executor.run({ ...starter.accepted[0]!, found: null });
    expect(await bench.action(id)).toMatchObject({
      state: 'recorded',
      outcome: { status: 'failed', error_code: 'service_unavailable' },
    });
    expect(upstream.seen).toHaveLength(0);
    await close();
  });
});

describe('an execution whose outcome a store that is away keeps waiting', () => {
  it('is held by its executor until the last try to record it must have ended', async () => {
    const upstream = await startUpstream(() => undefined);
    const bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
    const { action: id } = await bench.submit({ tool: 'crm.update' });
    const { attempts } = (await bench.action(id, ({ state }) => state === 'executing')) as LivingAction;
    await vi.waitUntil(() => upstream.countFor(id) === 1, { timeout: 20_000 });
    const { claim, at, deadline } = attempts[0]!;
    const lastTryMs = bench.clock.monotonicMs() + Date.parse(deadline) - Date.parse(at) + 120_000;
    const holdsAt = (ms: number): boolean => {
      const clock = vi.spyOn(bench.clock, 'monotonicMs').mockReturnValue(ms);
      const holds = bench.executor.holds(claim);
      clock.mockRestore();
      return holds;
    };
    expect([holdsAt(lastTryMs), holdsAt(lastTryMs + 10_000), holdsAt(lastTryMs + 60_000)]).toEqual([true, true, false]);
    bench.close();
    await upstream.close();
  });
});

describe('a write that may be repeated and was applied by its first attempt', () => {
  const put = {
    name: 'put',
    method: 'POST',
    path: '/v1/customers',
    args: {},
    idempotent: true,
    side_effect: 'write',
  };

  it.each([
    ['502, then 404', [502, 404]],
    ['503, then 429', [503, 429]],
  ])('%s: ends unknown, never failed (INV-03)', async (_, statuses) => {
    let seen = 0;
    const upstream = await startUpstream((_seen, response) => {
      const status = statuses[Math.min(seen, statuses.length - 1)];
      seen += 1;
      response.writeHead(status as number, { 'content-type': 'application/json' }).end('{}');
    });
    const bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, [...TOOLS, put]);
    const { action } = await bench.submit({ tool: 'crm.put' });
    expect(await bench.action(action, isRecorded)).toMatchObject({
      outcome: { status: 'unknown' },
      witness: { verdict: 'UNVERIFIABLE', reasons: ['earlier_attempt_unknown'] },
    });
    bench.close();
    await upstream.close();
  });

  it('a crash, then 409: ends unknown, never failed (INV-03)', async () => {
    const upstream = await startUpstream((_seen, response) => response.writeHead(409).end());
    const bench = await new GateBench(new MemoryEventStore(), { executorSilenceMs: 200 }).prepare(upstream.baseUrl, [
      ...TOOLS,
      put,
    ]);
    const starter = new ManualStarter('exe_lost', null);
    const { action } = await bench.submit({ tool: 'crm.put' }, bench.handler(starter));
    const { state } = await bench.streams.load(streamRef(actionDecider, action));
    await bench.executor.claimAndRun(action, (state as LivingAction).attempts[0]!);
    expect(await bench.action(action, isRecorded)).toMatchObject({
      outcome: { status: 'unknown' },
      attempts: [{ may_have_run: false }, { may_have_run: true }],
    });
    expect(upstream.countFor(action)).toBe(1);
    bench.close();
    await upstream.close();
  });

  it('a refused connection, then 409: certainly not applied, failed', async () => {
    const gone = await startUpstream();
    await gone.close();
    const bench = await new GateBench(new MemoryEventStore()).prepare(gone.baseUrl, [...TOOLS, put]);
    const { action } = await bench.submit({ tool: 'crm.put' });
    expect(await bench.action(action, isRecorded)).toMatchObject({ outcome: { status: 'failed' }, witness: null });
    bench.close();
  });
});
