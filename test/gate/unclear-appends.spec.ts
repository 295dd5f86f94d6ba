import { afterEach, describe, expect, it } from 'vitest';
import { ExecutionPlaces, InlineExecutionStarter, type ExecutionStarter } from '#libs/domain/gate';
import { StoreUnavailable, streamOf } from '#libs/domain/kernel';
import { InProcessJobQueue, SystemRandomness } from '#libs/infra/runtime';
import { LosingStore } from '../support/losing-store.js';
import { FoldedOpenExecutions, isRecorded, RecoveryScene, SILENCE_MS } from '../support/recovery-scene.js';
import { silentLogger } from '../support/silent-logger.js';
import type { Answer } from '../support/upstream.js';

let scene: RecoveryScene;
afterEach(() => scene.close());

/** A store that loses appends or answers as a test says. The process that sweeps is also the executor. */
const setScene = async (answer?: Answer, config = {}) => {
  const store = new LosingStore();
  scene = await RecoveryScene.set({ store, config, ...(answer ? { answer } : {}) });
  const { bench, upstream } = scene;
  return { store, bench, upstream, sweeper: scene.sweeperOf(bench.executor) };
};

const inline = (): ExecutionStarter => {
  const { executor, executorId } = scene.bench;
  const places = new ExecutionPlaces(executor, silentLogger);
  const runs = { executor, places, queue: new InProcessJobQueue(silentLogger) };
  return new InlineExecutionStarter(runs, executorId, new SystemRandomness(), silentLogger);
};

describe('a first claim whose append had no clear answer, and is in the log after all', () => {
  it('fails at the next sweep, with nothing sent, because its client was told to retry', async () => {
    const { store, bench, sweeper, upstream } = await setScene();
    store.loses = 'ExecutionStarted';
    await expect(bench.submit({ tool: 'crm.update' }, bench.handler(inline()))).rejects.toThrow(StoreUnavailable);
    const [left] = await new FoldedOpenExecutions(bench).list(-1n, 1);
    expect(await sweeper.sweep()).toEqual({ open: 1, recovered: 1 });
    expect(await bench.action(left!.action)).toMatchObject({
      state: 'recorded',
      outcome: { status: 'failed', error_code: 'service_unavailable' },
      witness: null,
    });
    expect(upstream.seen).toHaveLength(0);
  });
});

describe('the claim of another attempt that had no clear answer', () => {
  it.each<[string, number, string, (store: LosingStore) => void]>([
    ['and is not in the log', 429, 'failed', (store) => (store.isAwayFor = { type: 'ExecutionStarted', appends: 1 })],
    ['and is in the log after all', 429, 'failed', (store) => (store.loses = 'ExecutionStarted')],
    ['and is in the log after all', 503, 'unknown', (store) => (store.loses = 'ExecutionStarted')],
  ])('%s: a %i that was answered before it is the outcome, %s', async (_, status, outcome, trouble) => {
    const { store, bench, sweeper, upstream } = await setScene((_seen, response) => {
      trouble(store);
      response.writeHead(status).end();
    });
    const { action } = await bench.submit({ tool: 'crm.get' }, bench.handler(inline()));
    expect(await bench.action(action, isRecorded)).toMatchObject({ outcome: { status: outcome } });
    await scene.turnFor(2 * SILENCE_MS, sweeper, [bench.executorId]);
    const types = (await store.readStream(streamOf('action', action))).map(({ type }) => type);
    expect(types.filter((type) => type === 'ExecutionFinished')).toHaveLength(1);
    expect(types).not.toContain('LateReport');
    expect(upstream.countFor(action)).toBe(1);
  });
});

describe('an outcome that the store does not take at once', () => {
  it.each<[string, (store: LosingStore) => void]>([
    ['away', (store) => (store.isAwayFor = { type: 'ActionWitnessed', appends: 2 })],
    ['written, its answer lost', (store) => (store.loses = 'ActionWitnessed')],
  ])('%s: is recorded when it can be, once, and nothing is sent again', async (_, trouble) => {
    const { store, bench, upstream } = await setScene();
    trouble(store);
    const { action } = await bench.submit({ tool: 'crm.update' });
    expect(await bench.action(action, isRecorded)).toMatchObject({ outcome: { status: 'succeeded' } });
    const types = (await store.readStream(streamOf('action', action))).map(({ type }) => type);
    expect(types.filter((type) => type === 'ExecutionFinished')).toHaveLength(1);
    expect(types.at(-1)).toBe('ActionWitnessed');
    expect(upstream.countFor(action)).toBe(1);
  });

  it('is never given up by the process that knows it, even long past the deadline', async () => {
    const config = { timeout_ms: 100 };
    const { store, bench, sweeper } = await setScene(undefined, config);
    // Six tries, because their growing waits together last longer than deadline and silence.
    store.isAwayFor = { type: 'ActionWitnessed', appends: 6 };
    const { action } = await bench.submit({ tool: 'crm.update' }, bench.handler(inline()));
    await scene.turnFor(config.timeout_ms + 3 * SILENCE_MS, sweeper, []);
    expect(store.isAwayFor.appends).toBeGreaterThan(0);
    expect(await bench.action(action)).toMatchObject({ state: 'executing' });
    store.isAwayFor.appends = 0;
    expect(await bench.action(action, isRecorded)).toMatchObject({ outcome: { status: 'succeeded' } });
  });
});
