import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LivingAction } from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [{ name: 'update', method: 'POST', path: '/v1/customers', args: {} }];

let before: Upstream;
let after: Upstream;
let bench: GateBench;

beforeAll(async () => {
  [before, after] = await Promise.all([startUpstream(), startUpstream()]);
});
afterAll(() => Promise.all([before.close(), after.close()]));
beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare(before.baseUrl, TOOLS);
});
afterEach(() => bench.close());

/** Accepted here, then the connector changes in another process, then executed here. */
const executedAfter = async (changes: Parameters<GateBench['changeElsewhere']>[0]): Promise<ActionId> => {
  const starter = new ManualStarter(bench.executorId, null);
  const { action } = await bench.submit({ tool: 'crm.update' }, bench.handler(starter));
  await bench.changeElsewhere(changes);
  const [accepted] = starter.accepted;
  await bench.executor.run(action, accepted!.folded, accepted!.args);
  return action;
};

const outcomeOf = async (id: ActionId) => ((await bench.action(id)) as LivingAction).outcome;

describe('a connector that another process changed between the decision and the first byte', () => {
  it('is read again: the call goes where the connector now points, once', async () => {
    const action = await executedAfter({ base_url: after.baseUrl });
    expect(await outcomeOf(action)).toMatchObject({ status: 'succeeded' });
    expect([before.countFor(action), after.countFor(action)]).toEqual([0, 1]);
  });

  it('sends nothing when the tool is no longer the one that was judged', async () => {
    const action = await executedAfter({ tools: [{ ...TOOLS[0]!, path: '/v1/invoices' }] });
    expect(await outcomeOf(action)).toMatchObject({ status: 'failed', error_code: 'connector_unavailable' });
    expect(before.countFor(action)).toBe(0);
  });
});
