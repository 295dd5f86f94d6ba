import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { testId } from '../../../../test/support/given-log.js';
import { DecoderScene, sceneDatabase, type SceneDatabase } from './testing/decoder-scene.js';

const PATIENT = { timeout: 20_000, interval: 5 };
const ACTION = testId('act', 1);
const MIB = 1024 * 1024;

let database: SceneDatabase;
let holding = new AbortController();
let running: Promise<void> = Promise.resolve();

beforeAll(async () => {
  database = await sceneDatabase();
});
afterAll(() => database?.close());
afterEach(async () => {
  holding.abort();
  await running;
  holding = new AbortController();
});

const run = (scene: DecoderScene): void => {
  running = scene.decoder().run(holding.signal);
};
const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, PATIENT);
const followed = (scene: DecoderScene): Promise<void> => until(() => expect(scene.source.readers).toBe(1));
const begin = async (): Promise<DecoderScene> => {
  const scene = await DecoderScene.begin(database.pool);
  run(scene);
  await followed(scene);
  return scene;
};
const rowOf = async ({ rows, connector }: DecoderScene) => (await rows.of([connector])).get(connector);
const reasonOf = async (scene: DecoderScene) => (await rowOf(scene))?.reason;
const attached = (scene: DecoderScene, start: string, changed: Readonly<Record<string, unknown>> = {}) => [
  'DecoderAttached',
  { system_id: '7301', timeline: 1, slot: scene.slot, start, ...changed },
];

describe('a decoder that is well', () => {
  it('makes its slot, says once which log it follows, and keeps its row', async () => {
    const scene = await begin();
    await until(async () => expect(await reasonOf(scene)).toBeNull());
    expect(await scene.said()).toEqual([attached(scene, '0/100')]);
    await until(async () => expect((await rowOf(scene))?.position).toBe('0/100'));
    expect(await rowOf(scene)).toMatchObject({ lagBytes: 0, name: scene.of.name });
    expect(scene.stands).toEqual({ status: 'healthy', lagBytes: 0, lagMs: 0 });
    holding.abort();
    await running;
    expect(scene.stands).toBeNull();
    holding = new AbortController();
    run(scene);
    await until(() => expect(scene.source.reads).toBe(2));
    expect(await scene.said()).toHaveLength(1);
  });
});

describe('a decoder that is behind', () => {
  it('says so past 16 MiB, and that it is well again', async () => {
    const scene = await begin();
    await until(async () => expect((await rowOf(scene))?.position).toBe('0/100'));
    scene.source.grow(16 * MIB + 1);
    await until(async () => expect(await reasonOf(scene)).toBe('slot_lagging'));
    expect(scene.stands).toMatchObject({ status: 'degraded', lagBytes: 16 * MIB + 1 });
    scene.source.commit();
    await until(async () => expect(await reasonOf(scene)).toBeNull());
    expect((await scene.said()).slice(1)).toEqual([
      ['DecoderDegraded', { reason: 'slot_lagging', lag_bytes: 16 * MIB + 1 }],
      ['DecoderRecovered', {}],
    ]);
  });

  it('says so past 10 seconds, however little it is', async () => {
    const scene = await begin();
    await until(async () => expect((await rowOf(scene))?.position).toBe('0/100'));
    scene.source.grow(1);
    await until(() => expect(scene.stands).toMatchObject({ lagBytes: 1 }));
    scene.pass(10_001);
    await until(async () => expect(await reasonOf(scene)).toBe('slot_lagging'));
  });
});

describe('a decoder without a connection', () => {
  it('is down when that lasts, and not before', async () => {
    const scene = await begin();
    await until(async () => expect((await rowOf(scene))?.position).toBe('0/100'));
    scene.source.isReachable = false;
    scene.source.cut();
    await until(() => expect(scene.logger.warnings.length).toBeGreaterThan(0));
    expect(await reasonOf(scene)).toBeNull();
    scene.pass(10_000);
    await until(async () => expect(await reasonOf(scene)).toBe('decoder_down'));
    expect(await rowOf(scene)).toMatchObject({ lagBytes: null, position: '0/100' });
    scene.source.isReachable = true;
    await until(async () => expect(await reasonOf(scene)).toBeNull());
    expect((await scene.said()).slice(1)).toEqual([
      ['DecoderDegraded', { reason: 'decoder_down' }],
      ['DecoderRecovered', {}],
    ]);
  });

  it('is down, too, where the connector has no role for it', async () => {
    const scene = await DecoderScene.begin(database.pool);
    await scene.credentialIs({ username: 'agent', password: 'one' });
    run(scene);
    scene.pass(10_000);
    await until(async () => expect(await reasonOf(scene)).toBe('decoder_down'));
    expect(scene.source.reads).toBe(0);
  });
});

describe('a log that is lost', () => {
  it('by its slot gives up what waits, until somebody sets the slot up anew', async () => {
    const scene = await begin();
    scene.verdicts.wait(ACTION, 'F/0');
    scene.source.slot = { confirmed: '0/100', isLost: true };
    scene.source.cut();
    await until(() => expect(scene.verdicts.recorded).toEqual([[ACTION, 'slot_invalidated']]));
    await until(async () => expect(await reasonOf(scene)).toBe('slot_invalidated'));
    scene.verdicts.wait(testId('act', 2), 'F/0');
    scene.source.slot = null;
    await until(() => expect(scene.verdicts.recorded[1]).toEqual([testId('act', 2), 'slot_invalidated']));
    expect(scene.source.readers).toBe(0);
    const confirmed = scene.source.commit();
    scene.source.slot = { confirmed, isLost: false };
    await until(async () => expect(await reasonOf(scene)).toBeNull());
    expect((await scene.said()).slice(1)).toEqual([
      ['DecoderDegraded', { reason: 'slot_invalidated' }],
      attached(scene, confirmed),
      ['DecoderRecovered', {}],
    ]);
  });

  it('with its database gives up what waits, and needs a slot that is set up anew', async () => {
    const scene = await begin();
    scene.verdicts.wait(ACTION, 'F/0');
    Object.assign(scene.source, { systemId: '7302', slot: null });
    scene.source.cut();
    await until(async () => expect(await reasonOf(scene)).toBe('log_restored'));
    expect(scene.verdicts.recorded).toEqual([[ACTION, 'log_restored']]);
    expect(scene.source.slot).toBeNull();
    scene.source.slot = { confirmed: '0/90', isLost: false };
    await until(async () => expect(await reasonOf(scene)).toBeNull());
    expect((await scene.said()).at(-2)).toEqual(attached(scene, '0/90', { system_id: '7302' }));
  });

  it('by a failover that kept the slot gives up what waits, and is followed on', async () => {
    const scene = await begin();
    scene.verdicts.wait(ACTION, 'F/0');
    scene.source.timeline = 2;
    scene.source.cut();
    await until(async () => expect((await scene.said()).length).toBe(4));
    expect(scene.verdicts.recorded).toEqual([[ACTION, 'log_restored']]);
    expect((await scene.said()).slice(1)).toEqual([
      ['DecoderDegraded', { reason: 'log_restored' }],
      attached(scene, '0/100', { timeline: 2 }),
      ['DecoderRecovered', {}],
    ]);
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(2, 9)] });
    await until(() => expect(scene.verdicts.recorded[1]).toEqual([testId('act', 2), `1 at ${end}`]));
  });
});
