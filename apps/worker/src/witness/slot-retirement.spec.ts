import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Decoder } from './decoder.js';
import { DecoderScene, sceneDatabase, type SceneDatabase } from './testing/decoder-scene.js';

const PATIENT = { timeout: 20_000, interval: 5 };

let database: SceneDatabase;
let holding = new AbortController();
let running: Promise<void> = Promise.resolve();
let decoder: Decoder;

beforeAll(async () => {
  database = await sceneDatabase();
});
afterAll(() => database?.close());
afterEach(async () => {
  holding.abort();
  await running;
  holding = new AbortController();
});

const run = (scene: DecoderScene): Promise<void> => {
  decoder = scene.decoder();
  running = decoder.run(holding.signal);
  return running;
};
const stop = async (): Promise<void> => {
  holding.abort();
  await running;
  holding = new AbortController();
};
const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, PATIENT);
const rowOf = async ({ rows, connector }: DecoderScene) => (await rows.of([connector])).get(connector);
const begin = async (): Promise<DecoderScene> => {
  const scene = await DecoderScene.begin(database.pool);
  void run(scene);
  await until(async () => expect(await rowOf(scene)).toBeDefined());
  return scene;
};
const disable = (scene: DecoderScene) =>
  scene.connectorIs({ type: 'ConnectorUpdated', data: { ...scene.about, status: 'disabled' } });

describe('the slot of a connector that asks for no witness any more', () => {
  it.each<[string, (scene: DecoderScene) => Promise<void>]>([
    ['was disabled', disable],
    ['has its witness switched off', (scene) => scene.configIs({ witness: { enabled: false } })],
    ['was deleted, and its credential with it', (scene) => scene.deleteConnector()],
  ])('is dropped where it %s while its log is followed', async (_, change) => {
    const scene = await begin();
    await change(scene);
    decoder.connectorChanged();
    await running;
    expect([scene.source.slot, scene.source.slotsDropped, await rowOf(scene)]).toEqual([null, 1, undefined]);
    expect((await scene.said()).slice(1)).toEqual([['DecoderDetached', { slot: scene.slot }]]);
    expect(scene.logger.warnings).toEqual([]);
  });

  it('is dropped where it was disabled while nothing followed its log', async () => {
    const scene = await begin();
    await stop();
    await disable(scene);
    await run(scene);
    expect([scene.source.slot, await rowOf(scene)]).toEqual([null, undefined]);
  });

  it('is tried again where the database is away, and its row says that it is there', async () => {
    const scene = await begin();
    await stop();
    await disable(scene);
    scene.source.isReachable = false;
    void run(scene);
    await until(async () => expect(await rowOf(scene)).toMatchObject({ reason: 'slot_left' }));
    scene.source.isReachable = true;
    await running;
    expect([scene.source.slot, await rowOf(scene)]).toEqual([null, undefined]);
  });

  it('is named for people where it was deleted while nothing followed its log', async () => {
    const scene = await begin();
    await stop();
    await scene.deleteConnector();
    await run(scene);
    expect(scene.logger.warnings).toEqual([{ connector: scene.connector, slot: scene.slot }]);
    expect([scene.source.slotsDropped, await rowOf(scene)]).toEqual([0, undefined]);
  });

  it('is dropped where the connector has moved to another database, whose log is no restored one', async () => {
    const scene = await begin();
    await scene.configIs({ host: 'other.example.com' });
    decoder.connectorChanged();
    await until(() => expect([scene.source.slotsDropped, scene.source.readers]).toEqual([1, 1]));
    expect((await scene.said()).map((said) => (said as readonly unknown[])[0])).toEqual([
      'DecoderAttached',
      'DecoderDetached',
      'DecoderAttached',
    ]);
  });

  it('is kept where something else of the connector has changed', async () => {
    const scene = await begin();
    await scene.configIs({ watch_bypass: true });
    decoder.connectorChanged();
    await until(() => expect(scene.source.reads).toBe(2));
    expect(scene.source.slotsDropped).toBe(0);
  });

  it('is kept by a process that stops, and by one that knows nothing of the connector', async () => {
    const scene = await begin();
    await stop();
    expect(scene.source.slot).not.toBeNull();
    const other = await DecoderScene.begin(database.pool);
    const { Decoder: Unrelated } = await import('./decoder.js');
    const parts = { ...other.parts(), source: scene.source };
    await new Unrelated(parts, scene.of).run(holding.signal);
    expect(scene.source.slotsDropped).toBe(0);
    expect(await rowOf(scene)).toBeDefined();
  });
});
