import { afterEach, describe, expect, it } from 'vitest';
import {
  ActionExecutor,
  ExecutionSweeper,
  InlineExecutionStarter,
  Liveness,
  openExecutionChange,
  OpenExecutions,
  type Action,
  type Beats,
  type LivingAction,
  type OpenExecution,
} from '#libs/domain/gate';
import {
  decodeEvent,
  START,
  StoreUnavailable,
  streamOf,
  timestampOf,
  type ActionId,
  type Append,
  type AppendResult,
  type JobQueue,
} from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { InProcessJobQueue, SystemRandomness } from '#libs/infra/runtime';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { silentLogger } from '../support/silent-logger.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const SILENCE_MS = 200;
const TOOLS = [
  { name: 'get', method: 'GET', path: '/v1/customers', args: {} },
  { name: 'update', method: 'POST', path: '/v1/customers', args: {} },
];

/** The fold of the log, made anew at each question. */
class FoldedOpenExecutions extends OpenExecutions {
  constructor(private readonly bench: GateBench) {
    super();
  }
  override async list(): Promise<readonly OpenExecution[]> {
    const open = new Map<string, OpenExecution>();
    for (const event of await this.bench.store.readAll(START, 100_000)) {
      const change = openExecutionChange(decodeEvent(event).event);
      if (change?.change === 'open') open.set(change.execution.action, change.execution);
      if (change?.change === 'close') open.delete(change.action);
    }
    return [...open.values()];
  }
}

class HeldBeats extends Liveness {
  readonly beats = new Map<string, number>();
  override beat(executor: string): Promise<void> {
    this.beats.set(executor, (this.beats.get(executor) ?? 0) + 1);
    return Promise.resolve();
  }
  override read(): Promise<Beats> {
    return Promise.resolve(new Map(this.beats));
  }
  override remove(executor: string): Promise<void> {
    this.beats.delete(executor);
    return Promise.resolve();
  }
}

interface Scene {
  readonly bench: GateBench;
  readonly upstream: Upstream;
  readonly beats: HeldBeats;
  readonly sweeper: ExecutionSweeper;
  readonly queue: JobQueue;
  /** Beats, looks and sweeps until `isOver`. */
  sweepUntil(isOver: (action: Action) => boolean, id: ActionId): Promise<LivingAction>;
}

let scene: Scene | null = null;
afterEach(async () => {
  scene?.bench.close();
  await scene?.upstream.close();
  scene = null;
});

const setScene = async (): Promise<Scene> => {
  const upstream = await startUpstream();
  const bench = await new GateBench(new MemoryEventStore(), { executorSilenceMs: SILENCE_MS }).prepare(
    upstream.baseUrl,
    TOOLS,
  );
  const beats = new HeldBeats();
  const queue = new InProcessJobQueue(silentLogger);
  const rescuer = new ActionExecutor(bench.gate, 'exe_rescuer', bench.payloads, bench.bus, silentLogger);
  queue.process('execute', 4, async (id) => {
    await rescuer.claimAndRun(id as ActionId, null);
  });
  const sweeper = new ExecutionSweeper(
    bench.gate,
    new FoldedOpenExecutions(bench),
    beats,
    { executor: rescuer, queue },
    silentLogger,
  );
  const sweepUntil = async (isOver: (action: Action) => boolean, id: ActionId): Promise<LivingAction> => {
    const deadline = Date.now() + 20_000;
    for (;;) {
      await beats.beat('exe_rescuer');
      await sweeper.observe();
      await sweeper.sweep();
      const action = await bench.action(id);
      if (isOver(action)) return action as LivingAction;
      if (Date.now() > deadline) throw new Error('the sweeper did not get there');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  scene = { bench, upstream, beats, sweeper, queue, sweepUntil };
  return scene;
};

const isRecorded = (action: Action): boolean => action.state === 'recorded';

/** Accepted and claimed by a process that is then gone, before or after it sent. */
const lostBy = async ({ bench }: Scene, tool: string): Promise<ActionId> => {
  const starter = new ManualStarter('exe_lost', null);
  const { action } = await bench.submit({ tool }, bench.handler(starter));
  return action;
};

describe('a crash between claim and outcome', () => {
  it('of a once execution ends unknown, UNVERIFIABLE, and is never sent again (CP-11, CP-13)', async () => {
    const now = await setScene();
    const id = await lostBy(now, 'crm.update');
    expect(await now.sweepUntil(isRecorded, id)).toMatchObject({
      outcome: { status: 'unknown', error_code: 'timeout' },
      witness: { verdict: 'UNVERIFIABLE', reasons: ['executor_lost'] },
    });
    expect(now.upstream.countFor(id)).toBe(0);
  });

  it('of a repeatable one is taken over by another executor, under a new claim', async () => {
    const now = await setScene();
    const id = await lostBy(now, 'crm.get');
    const action = await now.sweepUntil(isRecorded, id);
    expect(action).toMatchObject({
      outcome: { status: 'succeeded' },
      attempts: [{ executor: 'exe_lost' }, { attempt: 2, executor: 'exe_rescuer' }],
    });
    expect(now.upstream.countFor(id)).toBe(1);
  });

  it('several sweepers at once send it once more, not twice', async () => {
    const now = await setScene();
    const id = await lostBy(now, 'crm.get');
    const others = Array.from({ length: 3 }, (_, index) => {
      const executor = new ActionExecutor(
        now.bench.gate,
        `exe_${index}`,
        now.bench.payloads,
        now.bench.bus,
        silentLogger,
      );
      return new ExecutionSweeper(
        now.bench.gate,
        new FoldedOpenExecutions(now.bench),
        now.beats,
        { executor, queue: now.queue },
        silentLogger,
      );
    });
    const deadline = Date.now() + 20_000;
    while (!isRecorded(await now.bench.action(id)) && Date.now() < deadline) {
      await Promise.all(others.map((sweeper) => sweeper.observe()));
      await Promise.all(others.map((sweeper) => sweeper.sweep()));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await now.bench.action(id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(now.upstream.countFor(id)).toBe(1);
  });

  it('a living executor keeps its execution however long the call takes', async () => {
    const now = await setScene();
    const id = await lostBy(now, 'crm.update');
    const until = Date.now() + 3 * SILENCE_MS;
    while (Date.now() < until) {
      await now.beats.beat('exe_lost');
      await now.sweeper.observe();
      await now.sweeper.sweep();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await now.bench.action(id)).toMatchObject({ state: 'executing', outcome: null });
  });

  it('an outcome that comes after it was given up is kept as evidence and changes nothing (F-02)', async () => {
    const now = await setScene();
    const starter = new ManualStarter('exe_lost', null);
    const { action: id } = await now.bench.submit({ tool: 'crm.update' }, now.bench.handler(starter));
    await now.sweepUntil(isRecorded, id);
    const zombie = new ActionExecutor(now.bench.gate, 'exe_lost', now.bench.payloads, now.bench.bus, silentLogger);
    const [accepted] = starter.accepted;
    await zombie.run(id, accepted!.folded, accepted!.args);
    // The send barrier refuses the zombie its first byte, and its word comes too late.
    expect(now.upstream.countFor(id)).toBe(0);
    const events = await now.bench.store.readStream(streamOf('action', id));
    expect(events.at(-1)?.type).toBe('LateReport');
    expect(await now.bench.action(id)).toMatchObject({ outcome: { status: 'unknown' } });
  });
});

describe('an execution that the queue forgot', () => {
  it('is found by the sweeper and runs once (CP-05, CP-06)', async () => {
    const now = await setScene();
    const { action: id } = await now.bench.submit(
      { tool: 'crm.update' },
      now.bench.handler(new ManualStarter(null, null)),
    );
    for (let times = 0; times < 10; times += 1) await now.queue.add('execute', id);
    expect(await now.sweepUntil(isRecorded, id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(now.upstream.countFor(id)).toBe(1);
  });

  it('fails, nothing sent, when nobody took it before start_by', async () => {
    const now = await setScene();
    const longAgo = timestampOf(Date.now() - now.bench.gate.settings.startTimeoutMs - 1);
    const handler = now.bench.handler(new ManualStarter(null, null));
    const { action: id } = await now.bench.submit({ tool: 'crm.update' }, handler, now.bench.metadata(longAgo));
    expect(await now.sweepUntil(isRecorded, id)).toMatchObject({
      outcome: { status: 'failed', error_code: 'service_unavailable' },
      attempts: [],
    });
    expect(now.upstream.countFor(id)).toBe(0);
  });
});

/** Writes an append and loses the answer. */
class LosingStore extends MemoryEventStore {
  /** Type of the event with which the next append to be lost ends. */
  loses: string | null = null;

  /** How many appends that end so are refused before any is written. */
  isAwayFor = { type: '', appends: 0 };

  override async append(append: Append): Promise<AppendResult> {
    if (append.events.at(-1)?.type === this.isAwayFor.type && this.isAwayFor.appends > 0) {
      this.isAwayFor.appends -= 1;
      throw new StoreUnavailable('the store is away');
    }
    const result = await super.append(append);
    if (append.events.at(-1)?.type !== this.loses) return result;
    this.loses = null;
    throw new StoreUnavailable('the answer was lost');
  }
}

describe('a claim whose append had no clear answer, and is in the log after all', () => {
  const unclearScene = async (answer?: Parameters<typeof startUpstream>[0]) => {
    const upstream = await startUpstream(answer);
    const store = new LosingStore();
    const bench = await new GateBench(store).prepare(upstream.baseUrl, TOOLS);
    const runs = { executor: bench.executor, queue: new InProcessJobQueue(silentLogger) };
    const open = new FoldedOpenExecutions(bench);
    const sweeper = new ExecutionSweeper(bench.gate, open, new HeldBeats(), runs, silentLogger);
    const close = async () => {
      bench.close();
      await upstream.close();
    };
    return { upstream, store, bench, sweeper, open, close };
  };

  it('fails at the next sweep, nothing sent: its client was told to come again', async () => {
    const { upstream, store, bench, sweeper, open, close } = await unclearScene();
    const random = new SystemRandomness();
    const starter = new InlineExecutionStarter(bench.executor, bench.executorId, random, silentLogger);
    store.loses = 'ExecutionStarted';
    await expect(bench.submit({ tool: 'crm.update' }, bench.handler(starter))).rejects.toThrow(StoreUnavailable);
    const [left] = await open.list();
    expect(await sweeper.sweep()).toEqual({ open: 1, recovered: 1 });
    expect(await bench.action(left!.action as ActionId)).toMatchObject({
      state: 'recorded',
      outcome: { status: 'failed', error_code: 'service_unavailable' },
      witness: null,
    });
    expect(upstream.seen).toHaveLength(0);
    await close();
  });

  it('of a second attempt is taken over at the next sweep, while another may be made', async () => {
    let seen = 0;
    const { upstream, store, bench, sweeper, close } = await unclearScene((_seen, response) => {
      seen += 1;
      if (seen === 1) store.loses = 'ExecutionStarted';
      response.writeHead(seen === 1 ? 503 : 200, { 'content-type': 'application/json' }).end('{}');
    });
    let lost: (error: unknown) => void = () => undefined;
    const running = new Promise<unknown>((resolve) => (lost = resolve));
    const starter = new ManualStarter(bench.executorId, (id, folded, args) => {
      bench.executor.run(id, folded, args).catch(lost);
    });
    const { action } = await bench.submit({ tool: 'crm.get' }, bench.handler(starter));
    expect(await running).toBeInstanceOf(StoreUnavailable);
    await sweeper.sweep();
    expect(await bench.action(action, isRecorded)).toMatchObject({
      outcome: { status: 'succeeded' },
      attempts: [{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }],
    });
    expect(upstream.countFor(action)).toBe(2);
    await close();
  });
});

describe('an outcome that the store does not take at once', () => {
  it.each([
    ['away', (store: LosingStore) => void (store.isAwayFor = { type: 'ActionWitnessed', appends: 2 })],
    ['written, its answer lost', (store: LosingStore) => void (store.loses = 'ActionWitnessed')],
  ])('%s: is recorded when it can be, once, and nothing is sent again', async (_, trouble) => {
    const upstream = await startUpstream();
    const store = new LosingStore();
    const bench = await new GateBench(store).prepare(upstream.baseUrl, TOOLS);
    trouble(store);
    const { action } = await bench.submit({ tool: 'crm.update' });
    expect(await bench.action(action, isRecorded)).toMatchObject({ outcome: { status: 'succeeded' } });
    const types = (await store.readStream(streamOf('action', action))).map(({ type }) => type);
    expect(types.filter((type) => type === 'ExecutionFinished')).toHaveLength(1);
    expect(types.at(-1)).toBe('ActionWitnessed');
    expect(upstream.countFor(action)).toBe(1);
    bench.close();
    await upstream.close();
  });
});
