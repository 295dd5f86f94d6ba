import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DecoderRowReason } from '#libs/domain/witness';
import { testId } from '../../../../test/support/given-log.js';
import { whySilentBy } from './decoders-of.js';
import { DecoderScene, sceneDatabase, type SceneDatabase } from './testing/decoder-scene.js';

let database: SceneDatabase;
let scene: DecoderScene;

beforeAll(async () => {
  database = await sceneDatabase();
  scene = await DecoderScene.begin(database.pool);
});
afterAll(() => database?.close());

const found = async (reason: DecoderRowReason | null): Promise<void> => {
  await scene.rows.save({ ...scene.of, reason, lagBytes: null, position: null }, scene.clock.nowMs());
};
const why = (connector = scene.connector) => whySilentBy({ decoderRows: scene.rows, clock: scene.clock })(connector);

describe('why the change log of a connector has not spoken in time', () => {
  it.each<[DecoderRowReason | null, string]>([
    [null, 'timeout'],
    ['slot_lagging', 'slot_lagging'],
    ['decoder_down', 'decoder_down'],
    ['slot_invalidated', 'slot_invalidated'],
    ['log_restored', 'log_restored'],
    ['slot_left', 'timeout'],
  ])('where its decoder has found %s: %s', async (reason, said) => {
    await found(reason);
    expect(await why()).toBe(said);
  });

  it('is that nobody reads it, where its decoder has not looked for a minute', async () => {
    await found('slot_lagging');
    scene.pass(60_001);
    expect(await why()).toBe('decoder_down');
    await found(null);
    scene.pass(60_000);
    expect(await why()).toBe('timeout');
  });

  it('is nothing that anybody knows, where no decoder has ever looked', async () => {
    expect(await why(testId('con', 77))).toBe('timeout');
    expect(await whySilentBy({ decoderRows: scene.rows, clock: scene.clock })(null)).toBe('timeout');
  });
});
