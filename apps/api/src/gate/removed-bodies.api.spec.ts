import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import { appendEvents, streamOf, SYSTEM, type ActionId, type PayloadKind } from '#libs/domain/kernel';
import { payloadRetentionOf } from '#libs/infra/deployment';
import { finished, started, testId, testTime, witnessed } from '../../../../test/support/given-log.js';
import { type Browser, type BrowserAnswer, PeopleBench } from '../../../../test/support/people-bench.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const INPUT = '{"args":{"id":"42"},"mode":"gateway","tool":"crm.get_customer"}';
const RESULT = '{"body":{"name":"Ada"},"headers":{},"status":200}';

let bench: PeopleBench;
let caller: Browser;
beforeAll(async () => {
  bench = await PeopleBench.start();
  caller = bench.browser();
});
afterAll(() => bench?.close());

const get = (action: ActionId): Promise<BrowserAnswer> => caller.get(`/v1/actions/${action}`, bench.adminKey);

/**
 * An action with stored bodies of request and result; it has ended if `isEnded`. Its deed is made if the bench has a
 * sealer.
 */
const recorded = async (number: number, isEnded = true): Promise<ActionId> => {
  const { payloads, database } = bench.deployment;
  const [action, org] = [testId('act', number), bench.org];
  const put = (kind: PayloadKind, body: string) =>
    payloads.put({ owner: action, org, kind, digest: digestOf(body), body });
  await Promise.all([put('policy_input', INPUT), put('result', RESULT)]);
  const events = started(number, { org, input_digest: digestOf(INPUT) });
  const end = isEnded ? [finished(number, { result_digest: digestOf(RESULT) }), witnessed(number)] : [];
  const metadata = { org, actor: SYSTEM, requestId: null, commandId: `made ${number}`, now: testTime(number) };
  await appendEvents(database.store, streamOf('action', action), 'no_stream', [...events, ...end], metadata);
  return action;
};

const sealed = async (number: number): Promise<ActionId> => {
  const action = await recorded(number);
  await vi.waitFor(async () => expect((await get(action)).json['state']).toBe('sealed'), 20_000);
  return action;
};

/** Runs the worker's retention as if this many days had passed. */
const roundAfter = (days: number) => {
  const nowMs = () => bench.deployment.clock.nowMs() + days * DAY_MS + 1;
  return payloadRetentionOf(bench.deployment, { nowMs }).removeBatch(bench.org);
};

describe('GET /v1/actions/{id}, bodies whose days are over', () => {
  it('says that they were removed, and shows all else as before', async () => {
    const action = await sealed(101);
    const before = await get(action);
    expect(before.json).toMatchObject({ request: JSON.parse(INPUT) as object, result: JSON.parse(RESULT) as object });
    await roundAfter(89);
    expect((await get(action)).json).toEqual(before.json);
    expect(await roundAfter(90)).toMatchObject({ removed: 2 });
    const removed = { removed: true };
    const execution = { ...(before.json['execution'] as object), result: removed };
    // The process that stored the result caches it for a second.
    await vi.waitFor(async () => {
      const { status, json } = await get(action);
      expect([status, json]).toEqual([200, { ...before.json, request: removed, result: removed, execution }]);
    }, 10_000);
  });

  it('still verifies: the chain, and the bytes of the deed', async () => {
    expect(await caller.get('/v1/ledger/check', bench.adminKey)).toMatchObject({ json: { result: 'intact' } });
  });
});

describe('GET /v1/actions/{id}, bodies that are gone before their days are over', () => {
  const removeByHand = (action: ActionId, kind: PayloadKind) =>
    bench.deployment.database.durable.query('delete from gate.payloads where owner = $1 and kind = $2', [action, kind]);

  it.each([
    [201, 'policy_input' as const, 'request'],
    [202, 'result' as const, 'result'],
  ])('is null, as after a failover that lost them: action %i lost its %s', async (number, kind, member) => {
    const action = await sealed(number);
    await removeByHand(action, kind);
    await vi.waitFor(
      async () => expect(await get(action)).toMatchObject({ status: 200, json: { [member]: null } }),
      10_000,
    );
  });

  it('is null also without a deed', async () => {
    const action = await recorded(203, false);
    expect(await get(action)).toMatchObject({ status: 200, json: { request: JSON.parse(INPUT) as object } });
    await removeByHand(action, 'policy_input');
    expect(await get(action)).toMatchObject({ status: 200, json: { request: null } });
  });
});
