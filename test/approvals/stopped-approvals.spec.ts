import { RevokeAgentKey, RollAgentKey, StartOrganization, StopOrganization } from '#libs/domain/agents/handlers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isApprovable, type ApprovalStatus, type LivingAction } from '#libs/domain/gate';
import { DomainError, type ActionId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ApprovalScene, type Member } from '../support/approval-scene.js';
import { GateBench } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [
  { name: 'update', method: 'POST', path: '/v1/customers', args: { name: { in: 'body', type: 'string' } } },
];

let upstream: Upstream;
let bench: GateBench;
let scene: ApprovalScene;
let anna: Member;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
  scene = new ApprovalScene(bench);
  anna = await scene.member('admin');
  await scene.enforce();
});
afterEach(() => bench.close());

const held = async (request: Parameters<GateBench['submit']>[0] = {}): Promise<ActionId> =>
  (await bench.submit({ tool: 'crm.update', args: { name: 'Ada' }, ...request })).action;
const action = async (id: ActionId): Promise<LivingAction> => (await bench.action(id)) as LivingAction;
const settled = async (id: ActionId): Promise<LivingAction> =>
  (await bench.action(id, ({ state }) => state === 'recorded')) as LivingAction;
const statusOf = async (id: ActionId): Promise<ApprovalStatus | undefined> => (await action(id)).approval?.status;
const refusal = (decided: Promise<unknown>): Promise<string> =>
  decided.then(
    () => 'none',
    (error: Error) => (error instanceof DomainError ? error.code : error.message),
  );

describe('a Stop', () => {
  it('leaves approvals pending and not approvable, and holds nothing back once it is lifted', async () => {
    const id = await held();
    await bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    expect(await refusal(scene.approve(id, anna))).toBe('org_stopped');
    expect(await statusOf(id)).toBe('pending');
    await bench.commands.execute(new StartOrganization(bench.org, null, bench.metadata()));
    await scene.approve(id, anna);
    expect(await settled(id)).toMatchObject({ outcome: { status: 'succeeded' } });
  });

  it('allows a denial', async () => {
    const id = await held();
    await bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    await scene.deny(id, anna);
    expect(await statusOf(id)).toBe('denied');
  });
});

describe('the key that submitted the call', () => {
  it.each(['gateway', 'proxy'] as const)(
    'lets nobody approve once it is revoked, and everybody deny: %s',
    async (mode) => {
      const id = await held({ mode });
      await bench.commands.execute(new RevokeAgentKey(bench.org, bench.agent, bench.key, bench.metadata()));
      const review = await scene.review(id);
      expect([isApprovable(review), review.obstacle]).toEqual([
        false,
        { code: 'conflict', message: expect.stringMatching(/key that submitted this call was revoked.*\. Deny it, /) },
      ]);
      expect(await refusal(scene.approve(id, anna))).toBe('conflict');
      expect(await action(id)).toMatchObject({
        state: 'pending_approval',
        edge: null,
        approval: { status: 'pending' },
      });
      await scene.deny(id, anna);
      expect(await statusOf(id)).toBe('denied');
    },
  );

  it('may be rolled meanwhile', async () => {
    const id = await held();
    const roll = { key: bench.key, livemode: false };
    await bench.commands.execute(new RollAgentKey(bench.org, bench.agent, roll, bench.metadata()));
    await scene.approve(id, anna);
    expect(await settled(id)).toMatchObject({ outcome: { status: 'succeeded' } });
  });
});
