import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import type { LivingAction } from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

/** As it is stored, its defaults filled in. */
const UPDATE = {
  name: 'update',
  method: 'POST',
  path: '/v1/customers',
  side_effect: 'write',
  idempotent: false,
  args: {},
};

let before: Upstream;
let after: Upstream;
let bench: GateBench;

beforeAll(async () => {
  [before, after] = await Promise.all([startUpstream(), startUpstream()]);
});
afterAll(() => Promise.all([before.close(), after.close()]));
beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare(before.baseUrl, [UPDATE]);
});
afterEach(() => bench.close());

/** Accepted here, then the connector changes in another process, then executed here. */
const executedAfter = async (changes: JsonObject | (() => Promise<void>)): Promise<ActionId> => {
  const starter = new ManualStarter(bench.executorId, null);
  const { action } = await bench.submit({ tool: 'crm.update' }, bench.handler(starter));
  await (typeof changes === 'function' ? changes() : bench.changeElsewhere(changes));
  const [accepted] = starter.accepted;
  await bench.executor.run(action, accepted!.folded, accepted!.args);
  return action;
};

const outcomeOf = async (id: ActionId) => ((await bench.action(id)) as LivingAction).outcome;

describe('a connector that another process changed between the decision and the first byte', () => {
  it.each<[string, JsonObject]>([
    ['its limits', { timeout_ms: 5_000, max_response_bytes: 1_048_576 }],
    ['another of its tools', { tools: [UPDATE, { ...UPDATE, name: 'other' }] }],
  ])('is read again: %s change nothing of what the policy judged, and the call goes, once', async (_, changes) => {
    const action = await executedAfter(changes);
    expect(await outcomeOf(action)).toMatchObject({ status: 'succeeded' });
    expect([before.countFor(action), after.countFor(action)]).toEqual([1, 0]);
  });

  it.each<[string, () => JsonObject]>([
    ['it leads to another host', () => ({ base_url: after.baseUrl })],
    ['it leads to another path of the host', () => ({ base_url: `${before.baseUrl}/v2` })],
    ['the credential travels in another way', () => ({ auth: { kind: 'query', param: 'key' } })],
    ['other default headers say something else', () => ({ headers: { 'X-Tenant': 'other' } })],
  ])('sends nothing when %s than the policy judged', async (_, changes) => {
    const action = await executedAfter(changes());
    expect(await outcomeOf(action)).toMatchObject({ status: 'failed', error_code: 'connector_unavailable' });
    expect([before.countFor(action), after.countFor(action)]).toEqual([0, 0]);
  });

  it('is read again where what is remembered of it keeps the call from being sent', async () => {
    bench.close();
    bench = await new GateBench(new MemoryEventStore()).prepare(before.baseUrl, [UPDATE], { auth: { kind: 'bearer' } });
    const without = await executedAfter({});
    expect(await outcomeOf(without)).toMatchObject({ status: 'failed', error_code: 'credentials_missing' });
    const action = await executedAfter(() => bench.storeCredentialElsewhere());
    expect(await outcomeOf(action)).toMatchObject({ status: 'succeeded' });
    expect([before.countFor(without), before.countFor(action)]).toEqual([0, 1]);
  });

  it('sends nothing when the tool is no longer the one that was judged', async () => {
    const action = await executedAfter({ tools: [{ ...UPDATE, path: '/v1/invoices' }] });
    expect(await outcomeOf(action)).toMatchObject({ status: 'failed', error_code: 'connector_unavailable' });
    expect(before.countFor(action)).toBe(0);
  });
});
