import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { approvalOf, ChatApprovals, type ChatAnswer, type LivingAction } from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ApprovalScene, type Member } from '../support/approval-scene.js';
import { GateBench } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [{ name: 'update', method: 'POST', path: '/v1/customers', args: {} }];
const ACCOUNT = 'chat:U123';

let upstream: Upstream;
let bench: GateBench;
let scene: ApprovalScene;
let chat: ChatApprovals;
let anna: Member;
let action: ActionId;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
  scene = new ApprovalScene(bench);
  chat = new ChatApprovals(bench.streams, (command) => scene.handler().execute(command));
  anna = await scene.member('admin');
  await accountOf(anna);
  await scene.organization({ type: 'UpdateOrganization', data: { approvals: { chat: 'decide' } } });
  await scene.enforce();
  action = (await bench.submit({ tool: 'crm.update' })).action;
});
afterEach(() => bench.close());

const accountOf = ({ membership }: Member): Promise<void> =>
  scene.organization({ type: 'ChangeMemberReferences', data: { membership, chatAccounts: [ACCOUNT] } });
const say = async (changes: Partial<ChatAnswer> = {}) => {
  const { digest: contextDigest } = await scene.review(action);
  const word = { org: bench.org, chatAccount: ACCOUNT, approval: approvalOf(action), decision: 'approve' as const };
  return chat.say({ ...word, contextDigest, reason: null, ...changes }, bench.metadata());
};

describe('a decision that was sent in a chat', () => {
  it('is that of the member who has the account, and records where it came from', async () => {
    expect((await say()).approval).toMatchObject({
      status: 'approved',
      decidedBy: { type: 'user', id: anna.user },
      signatures: [{ by: anna.user, via: 'chat' }],
    });
  });

  it('is refused where the account is nobody’s', () =>
    expect(say({ chatAccount: 'chat:U999' })).rejects.toMatchObject({ code: 'approver_unmapped' }));

  it('is refused where the account is that of somebody who has left', async () => {
    await scene.organization({ type: 'RemoveMember', data: { membership: anna.membership } });
    await expect(say()).rejects.toMatchObject({ code: 'approver_unmapped' });
  });

  it('is refused where the organization decides in the Console alone', async () => {
    await scene.organization({ type: 'UpdateOrganization', data: { approvals: { chat: 'review_only' } } });
    await expect(say()).rejects.toMatchObject({ code: 'approval_link_review_only' });
  });

  it('decides under the same rules as anywhere else', async () => {
    await expect(say({ contextDigest: null })).rejects.toMatchObject({ code: 'context_changed' });
    expect(((await bench.action(action)) as LivingAction).approval?.status).toBe('pending');
  });
});
