import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { timestampOf } from '#libs/domain/kernel';
import { testId } from '../../../../test/support/given-log.js';
import { deferred } from '../../../../test/support/deferred.js';
import { DecoderScene, sceneDatabase, type SceneDatabase } from './testing/decoder-scene.js';

const PATIENT = { timeout: 20_000, interval: 5 };
const ACTION = testId('act', 1);
const NONE = { insert: 0, update: 0, delete: 0, truncate: 0 };
const changed = (table: string, rows = 1) => ({ ...NONE, table, update: rows, replica_identity: 'full' as const });

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

const begin = async (config?: Parameters<typeof DecoderScene.begin>[1]): Promise<DecoderScene> => {
  const scene = await DecoderScene.begin(database.pool, config);
  run(scene);
  await vi.waitFor(() => expect(scene.source.readers).toBe(1), PATIENT);
  return scene;
};
const run = (scene: DecoderScene): void => {
  running = scene.decoder().run(holding.signal);
};
const stop = async (): Promise<void> => {
  holding.abort();
  await running;
  holding = new AbortController();
};
const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, PATIENT);

describe('a transaction with the mark of an action', () => {
  it('is reported to the gate, and acknowledged then', async () => {
    const scene = await begin();
    const release = deferred();
    scene.verdicts.gate = release.promise;
    const before = scene.source.slot?.confirmed;
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9, 2)] });
    await until(() => expect(scene.verdicts.reports).toBe(1));
    expect(scene.source.slot?.confirmed).toBe(before);
    release.resolve();
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    expect(scene.verdicts.recorded).toEqual([[ACTION, `2 at ${end}`]]);
    expect(scene.seen).toEqual(['witnessed']);
  });

  it('is no bypass, though it changes what is watched', async () => {
    const scene = await begin({ witness: { enabled: true }, watch_bypass: true });
    scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9)], tables: [changed('public.customers')] });
    await until(() => expect(scene.seen).toEqual(['witnessed']));
    expect(await scene.said()).toHaveLength(1);
  });

  it('is foreign where this deployment knows no such action', async () => {
    const scene = await begin();
    scene.verdicts.unknown.add(ACTION);
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9)] });
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    expect([scene.seen, scene.verdicts.recorded]).toEqual([['foreign'], []]);
  });
});

describe('a crash of a decoder', () => {
  it.each(['before', 'after'] as const)(
    '%s the append acknowledges nothing, and one verdict comes of it',
    async (when) => {
      const scene = await begin();
      scene.verdicts.away = { times: 2, when };
      const end = scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9)] });
      await until(() => expect(scene.source.slot?.confirmed).toBe(end));
      expect(scene.source.reads).toBe(3);
      expect(scene.verdicts.reports).toBe(3);
      expect(scene.verdicts.recorded).toEqual([[ACTION, `1 at ${end}`]]);
      expect(scene.seen).toEqual(['witnessed']);
    },
  );

  it('between append and acknowledgement has the transaction sent to the next one, which finds the verdict', async () => {
    const scene = await begin();
    const confirmed = scene.source.slot?.confirmed ?? '';
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9)] });
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    await stop();
    // The acknowledgement never arrived.
    scene.source.slot = { confirmed, isLost: false };
    run(scene);
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    expect([scene.verdicts.reports, scene.verdicts.recorded]).toEqual([2, [[ACTION, `1 at ${end}`]]]);
  });

  it('tells no alert a second time', async () => {
    const scene = await begin();
    const confirmed = scene.source.slot?.confirmed ?? '';
    const end = scene.source.commit({ xid: 9, marks: ['forged'] });
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    await stop();
    scene.source.slot = { confirmed, isLost: false };
    run(scene);
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    expect((await scene.said()).slice(1)).toEqual([['DecoderAlerted', { kind: 'forged_mark', xid: 9 }]]);
  });

  it('is none where a connection breaks: the next one goes on where it was', async () => {
    const scene = await begin();
    scene.source.cut();
    await until(() => expect(scene.source.reads).toBe(2));
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9)] });
    await until(() => expect(scene.verdicts.recorded).toEqual([[ACTION, `1 at ${end}`]]));
  });
});

describe('a mark that the service did not make', () => {
  it('is told, be it of another transaction, of another key or one of two', async () => {
    const scene = await begin();
    scene.source.commit({ xid: 8, marks: [await scene.mark(1, 7)], tables: [changed('public.customers')] });
    scene.source.commit({ xid: 9, marks: [await scene.mark(1, 9), await scene.mark(2, 9)] });
    const end = scene.source.commit({ xid: 10, marks: ['{}'] });
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    expect(scene.seen).toEqual(['forged', 'forged', 'forged']);
    expect((await scene.said()).slice(1)).toEqual(
      [8, 9, 10].map((xid) => ['DecoderAlerted', { kind: 'forged_mark', xid }]),
    );
    expect(scene.verdicts.recorded).toEqual([]);
  });
});

describe('a change without a mark', () => {
  it('is counted, and told only where the connector watches for it', async () => {
    const scene = await begin();
    scene.source.commit({ tables: [changed('public.customers')] });
    const end = scene.source.commit({ tables: [{ ...changed('public.orders'), update: 0 }] });
    await until(() => expect(scene.source.slot?.confirmed).toBe(end));
    expect(scene.seen).toEqual(['bypass', 'foreign']);
    expect(await scene.said()).toHaveLength(1);
  });

  it('is told with its rows once a minute for each table', async () => {
    const scene = await begin({ witness: { enabled: true }, watch_bypass: true });
    const [customers, orders] = [changed('public.customers', 3), changed('public.orders', 2)];
    scene.source.commit({ xid: 1, tables: [customers] });
    scene.source.commit({ xid: 2, tables: [customers, orders] });
    await until(() => expect(scene.seen).toHaveLength(2));
    scene.pass(60_000);
    scene.source.commit({ xid: 3, tables: [customers] });
    await until(() => expect(scene.seen).toEqual(['bypass', 'bypass', 'bypass']));
    const told = (table: string, rows: number, xid: number) => ['DecoderAlerted', { kind: 'bypass', table, rows, xid }];
    expect((await scene.said()).slice(1)).toEqual([
      told('public.customers', 3, 1),
      told('public.orders', 2, 2),
      told('public.customers', 3, 3),
    ]);
  });
});

describe('an action that waits', () => {
  it('is missing once the log was read past its commit without it, and not before', async () => {
    const scene = await begin();
    const release = deferred();
    scene.verdicts.gate = release.promise;
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(9, 9)] });
    scene.verdicts.wait(ACTION, end);
    await until(async () => expect((await scene.rows.of([scene.connector])).size).toBe(1));
    expect(scene.verdicts.recorded).toEqual([]);
    release.resolve();
    await until(() =>
      expect(scene.verdicts.recorded).toEqual([
        [testId('act', 9), `1 at ${end}`],
        [ACTION, 'transaction_missing'],
      ]),
    );
  });

  it('goes on waiting where nobody knows where it committed, or the log has not come there', async () => {
    const scene = await begin();
    scene.verdicts.wait(ACTION, null);
    scene.verdicts.wait(testId('act', 2), 'F/0');
    scene.verdicts.wait(testId('act', 3), scene.source.commit());
    await until(() => expect(scene.verdicts.recorded).toEqual([[testId('act', 3), 'transaction_missing']]));
  });

  it('is not missing where its call began before this log was followed: its database may have been another one', async () => {
    const scene = await begin();
    const end = scene.source.commit();
    scene.verdicts.wait(ACTION, end, timestampOf(scene.clock.nowMs()));
    await until(() => expect(scene.verdicts.recorded).toEqual([[ACTION, 'decoder_down']]));
  });

  it('is not missing where the log says that it was read further than it goes, and the decoder tells so', async () => {
    const scene = await begin();
    const other = testId('act', 2);
    scene.source.lie('F/0');
    scene.verdicts.wait(ACTION, 'E/0');
    await until(() => expect(scene.verdicts.recorded).toEqual([[ACTION, 'log_restored']]));
    expect((await scene.said()).slice(1)).toContainEqual(['DecoderDegraded', { reason: 'log_restored' }]);
    const end = scene.source.commit({ xid: 9, marks: [await scene.mark(2, 9)] });
    await until(() => expect(scene.verdicts.recorded.at(-1)).toEqual([other, `1 at ${end}`]));
    await until(async () => expect((await scene.rows.of([scene.connector])).get(scene.connector)?.reason).toBe(null));
  });

  it('is given up once where the slot has confirmed more than there is, until somebody makes it anew', async () => {
    const scene = await begin();
    await stop();
    const reasonOf = async () => (await scene.rows.of([scene.connector])).get(scene.connector)?.reason;
    scene.source.slot = { confirmed: 'F/0', isLost: false };
    scene.verdicts.wait(ACTION, 'E/0');
    run(scene);
    await until(() => expect(scene.verdicts.recorded).toEqual([[ACTION, 'log_restored']]));
    await until(async () => expect(await reasonOf()).toBe('log_restored'));
    const reads = scene.source.reads;
    scene.source.slot = { confirmed: scene.source.commit(), isLost: false };
    await until(async () => expect(await reasonOf()).toBe(null));
    expect(scene.source.reads).toBe(reads + 1);
    expect((await scene.said()).map((event) => (event as readonly string[])[0])).toEqual([
      ...['DecoderAttached', 'DecoderDegraded', 'DecoderAttached', 'DecoderRecovered'],
    ]);
  });

  it('is given up where it committed before anybody followed the log', async () => {
    const scene = await DecoderScene.begin(database.pool);
    scene.verdicts.wait(ACTION, scene.source.commit());
    run(scene);
    await until(() => expect(scene.verdicts.recorded).toEqual([[ACTION, 'decoder_down']]));
  });

  it('is given up where it committed before a slot that somebody has made anew meanwhile', async () => {
    const scene = await begin();
    await stop();
    scene.verdicts.wait(ACTION, scene.source.commit());
    scene.source.slot = { confirmed: scene.source.commit(), isLost: false };
    run(scene);
    await until(() => expect(scene.verdicts.recorded).toEqual([[ACTION, 'decoder_down']]));
  });

  it('is missing, too, after a restart that lost nothing', async () => {
    const scene = await begin();
    const end = scene.source.commit();
    await until(async () => expect((await scene.rows.of([scene.connector])).get(scene.connector)?.position).toBe(end));
    await stop();
    scene.verdicts.wait(ACTION, end);
    run(scene);
    await until(() => expect(scene.verdicts.recorded).toEqual([[ACTION, 'transaction_missing']]));
  });
});
