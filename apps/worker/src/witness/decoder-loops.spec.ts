import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ListedConnector } from '#libs/domain/connectors';
import { PUBLIC_EVENTS_CHANNEL } from '#libs/domain/kernel';
import { PostgresLeases } from '#libs/infra/leases';
import { InProcessBus } from '#libs/infra/runtime';
import { deferred } from '../../../../test/support/deferred.js';
import { testId } from '../../../../test/support/given-log.js';
import { DecoderLoops, type LookPace } from './decoder-loops.js';
import { DecoderScene, sceneDatabase, type SceneDatabase } from './testing/decoder-scene.js';

const PATIENT = { timeout: 20_000, interval: 10 };

let database: SceneDatabase;
let loops: DecoderLoops[] = [];

beforeAll(async () => {
  database = await sceneDatabase();
});
afterAll(() => database?.close());
afterEach(async () => {
  await Promise.all(loops.map((each) => each.stop()));
  loops = [];
});

const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, PATIENT);

/** One more process. */
const start = (scene: DecoderScene, pace: LookPace = { lookMs: 10, restMs: 1 }) => {
  const bus = new InProcessBus(scene.logger);
  const listed: ListedConnector[] = [{ org: scene.of.org, name: scene.of.name }];
  async function* active() {
    yield await Promise.resolve(listed);
  }
  const { connectors, logger, rows } = scene;
  // Other scenes have rows in the same table, whose connectors this log does not hold.
  const parts = { listed: { active }, connectors, rows, leases: new PostgresLeases(database.connectionString), bus };
  const made = new DecoderLoops({ ...parts, source: scene.source, logger }, () => scene.decoder(), pace);
  loops.push(made);
  made.start();
  return { made, bus };
};

describe('the decoders of several processes', () => {
  it('follow a log one at a time, and another one takes over', async () => {
    const scene = await DecoderScene.begin(database.pool);
    const [first, second] = [start(scene), start(scene)];
    await until(() => expect(scene.source.readers).toBe(1));
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9)] });
    await until(() => expect(scene.verdicts.recorded).toEqual([[testId('act', 1), `1 at ${end}`]]));
    await first.made.stop();
    await until(() => expect(scene.source.readers).toBe(1));
    const next = scene.source.commit({ xid: 10, marks: [await scene.mark(2, 10)] });
    await until(() => expect(scene.verdicts.recorded).toHaveLength(2));
    expect(scene.verdicts.recorded[1]).toEqual([testId('act', 2), `1 at ${next}`]);
    await second.made.stop();
    expect([scene.source.mostReaders, scene.source.readers]).toEqual([1, 0]);
  });

  it('wait for what they are about to record when they stop', async () => {
    const scene = await DecoderScene.begin(database.pool);
    const { made } = start(scene);
    await until(() => expect(scene.source.readers).toBe(1));
    const release = deferred();
    scene.verdicts.gate = release.promise;
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9)] });
    await until(() => expect(scene.verdicts.reports).toBe(1));
    const stopped = made.stop();
    release.resolve();
    await stopped;
    expect(scene.verdicts.recorded).toEqual([[testId('act', 1), `1 at ${end}`]]);
    expect(scene.source.slot?.confirmed).toBe(end);
  });
});

describe('a look for connectors', () => {
  it('comes when somebody rings, long before its time', async () => {
    const scene = await DecoderScene.begin(database.pool);
    const { bus } = start(scene, { lookMs: 600_000, restMs: 1 });
    await until(() => expect(scene.source.readers).toBe(1));
    await scene.connectorIs({ type: 'ConnectorUpdated', data: { ...scene.about, status: 'disabled' } });
    bus.publish(PUBLIC_EVENTS_CHANNEL, '');
    await until(() => expect(scene.source.slot).toBeNull());
    expect(scene.source.slotsDropped).toBe(1);
  });

  it('finds a connector that is active again, and follows its log with a slot of its own', async () => {
    const scene = await DecoderScene.begin(database.pool);
    start(scene);
    await until(() => expect(scene.source.readers).toBe(1));
    await scene.connectorIs({ type: 'ConnectorUpdated', data: { ...scene.about, status: 'disabled' } });
    await until(() => expect(scene.source.slot).toBeNull());
    await scene.connectorIs({ type: 'ConnectorUpdated', data: { ...scene.about, status: 'active' } });
    await until(() => expect(scene.source.readers).toBe(1));
    expect(scene.source.slotsDropped).toBe(1);
  });

  it('takes up nothing more once it was told so, and lets go nothing', async () => {
    const scene = await DecoderScene.begin(database.pool);
    const { made } = start(scene);
    await until(() => expect(scene.source.readers).toBe(1));
    made.takeUpNothingMore();
    await scene.connectorIs({ type: 'ConnectorUpdated', data: { ...scene.about, status: 'disabled' } });
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9)] });
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    expect(scene.source.readers).toBe(1);
  });
});
