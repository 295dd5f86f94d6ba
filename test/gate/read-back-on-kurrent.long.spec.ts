import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import type { LivingAction } from '#libs/domain/gate';
import { streamOf, type ActionId } from '#libs/domain/kernel';
import { KurrentEventStore } from '#libs/infra/event-store';
import { ManualStarter } from '../support/gate-bench.js';
import { KURRENT_UNDER_TEST, startKurrent, type KurrentUnderTest } from '../support/kurrent-under-test.js';
import { isRecorded, RecoveryScene } from '../support/recovery-scene.js';
import { BY_CHARGE, refundsUpstream, refundTools } from '../support/refunds-upstream.js';

const args = { charge: 'ch_1', amount: 500 };

let server: KurrentUnderTest;
let store: KurrentEventStore;
let scene: RecoveryScene;
let refunds: Map<string, JsonObject>;

beforeAll(async () => {
  server = await startKurrent();
  store = new KurrentEventStore({ url: server.url, deadlineMs: 30_000 });
  const upstream = refundsUpstream();
  refunds = upstream.refunds;
  const config = { tools: refundTools(...BY_CHARGE) };
  scene = await RecoveryScene.set({ answer: upstream.answer, config, store });
});
afterAll(async () => {
  await scene?.close();
  await store?.close();
  await server?.close();
});

const submit = async (starter?: ManualStarter): Promise<ActionId> => {
  const { bench } = scene;
  const handler = starter && bench.handler(starter);
  return (await bench.submit({ tool: 'crm.refund', args }, handler)).action;
};
const typesIn = async (id: ActionId): Promise<readonly string[]> =>
  (await store.readStream(streamOf('action', id))).map(({ type }) => type);
const VERIFIED = { level: 'L1', verdict: 'VERIFIED', reasons: [] };

it(`what a tool did is read back and recorded on ${KURRENT_UNDER_TEST}`, async () => {
  const id = await submit();
  const action = (await scene.bench.action(id, isRecorded)) as LivingAction;
  expect(action).toMatchObject({ outcome: { status: 'succeeded' }, witness: VERIFIED });
  expect((await typesIn(id)).slice(-2)).toEqual(['ExecutionFinished', 'ActionWitnessed']);
});

it('of several processes that read what a lost one wrote, one records its result', async () => {
  refunds.set('re_1', args);
  const id = await submit(new ManualStarter('exe_lost', null));
  await scene.sweepUntil(({ state }) => state !== 'executing', id);
  const readers = ['a', 'b', 'c'].map((name) => scene.executorNamed(`exe_${name}`));
  await Promise.all(readers.map((reader) => reader.readBack(id)));
  expect(await scene.bench.action(id)).toMatchObject({ outcome: { status: 'unknown' }, witness: VERIFIED });
  expect((await typesIn(id)).filter((type) => type === 'ActionWitnessed')).toHaveLength(1);
});
