import { CreateOrganization, StartOrganization, StopOrganization } from '#libs/domain/agents/handlers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countingSigners, isApprovable, type ApprovalStatus, type LivingAction } from '#libs/domain/gate';
import { DomainError, streamOf, timestampOf, type ActionId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ApprovalScene, type Member } from '../support/approval-scene.js';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [
  { name: 'update', method: 'POST', path: '/v1/customers', args: { name: { in: 'body', type: 'string' } } },
];
const ELSEWHERE = [
  { name: 'update', method: 'POST', path: '/v1/elsewhere', args: { name: { in: 'body', type: 'string' } } },
];
const HOUR_MS = 60 * 60 * 1000;

let upstream: Upstream;
let bench: GateBench;
let scene: ApprovalScene;
let [anna, ben, vera] = [] as unknown as [Member, Member, Member];

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
  scene = new ApprovalScene(bench);
  anna = await scene.member('admin');
  ben = await scene.member('owner');
  vera = await scene.member('viewer');
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

describe('a call that a rule asks people about', () => {
  it('is held: nothing is sent, and one append says which people it waits for', async () => {
    const id = await held();
    const events = await bench.store.readStream(streamOf('action', id));
    expect(events.map(({ type }) => type)).toEqual(['ActionSubmitted', 'ActionDecided', 'ApprovalRequested']);
    expect(await action(id)).toMatchObject({
      state: 'pending_approval',
      decision: { outcome: 'require_approval', code: null, source: 'rule', rule_id: 'asked', message: null },
      approval: { status: 'pending', terms: { approvers: ['role:admin'], required: 1, rule_id: 'asked' } },
    });
    expect(upstream.countFor(id)).toBe(0);
  });

  it('waits as long as the rule says, and else as the organization does', async () => {
    const waits = async (): Promise<number> => {
      const { approval, createdAt } = await action(await held());
      return Date.parse(approval?.terms.expires_at ?? '') - Date.parse(createdAt);
    };
    expect(await waits()).toBe(24 * HOUR_MS);
    await scene.organization({ type: 'UpdateOrganization', data: { approvals: { expires_in_s: 7_200 } } });
    expect(await waits()).toBe(2 * HOUR_MS);
    await scene.enforce('expires_in: 5h');
    expect(await waits()).toBe(5 * HOUR_MS);
  });

  it('shows what was judged, and stores it under the digest that the event names', async () => {
    const id = await held({ onBehalfOf: 'customer_7', session: 'chat-1' });
    const { terms } = (await action(id)).approval!;
    const { context, digest } = await scene.review(id);
    expect(digest).toBe(terms.context_digest);
    expect(context).toMatchObject({
      action: id,
      args: { name: 'Ada' },
      tool: 'crm.update',
      side_effect: 'write',
      on_behalf_of: 'customer_7',
      session: 'chat-1',
      intent_signed: false,
      request: { http: { method: 'POST', path: '/v1/customers' } },
      tool_digest: (await action(id)).submission.tool_digest,
      expires_at: terms.expires_at,
    });
    const stored = await bench.payloads.get(id, 'approval_context', terms.context_digest);
    expect(JSON.parse(stored ?? '')).toEqual(JSON.parse(JSON.stringify(context)));
  });

  it('runs with the arguments that were judged when a person says yes', async () => {
    const id = await held();
    await scene.approve(id, anna, { reason: 'Fine.' });
    expect(await settled(id)).toMatchObject({
      outcome: { status: 'succeeded' },
      approval: { status: 'approved', decidedBy: { type: 'user', id: anna.user }, reason: 'Fine.' },
    });
    const sent = upstream.seen.filter(({ headers }) => headers['service-action-id'] === id);
    expect(sent.map(({ body }) => body)).toEqual(['{"name":"Ada"}']);
  });

  it('has five minutes to start from the yes on, however long it waited', async () => {
    const id = await held();
    bench.clock.jumpMs = 2 * HOUR_MS;
    await scene.approve(id, anna);
    const { ready, approval } = await action(id);
    expect(Date.parse(ready?.startBy ?? '') - Date.parse(approval?.decidedAt ?? '')).toBe(5 * 60 * 1000);
  });

  it('never runs after a denial', async () => {
    const id = await held();
    await scene.deny(id, anna, { reason: 'No.' });
    expect(await action(id)).toMatchObject({ state: 'recorded', approval: { status: 'denied', reason: 'No.' } });
    expect(upstream.countFor(id)).toBe(0);
  });

  it('answers a duplicate with the same action', async () => {
    const first = await bench.submit({ tool: 'crm.update', idempotencyKey: 'k1' });
    const again = await bench.submit({ tool: 'crm.update', idempotencyKey: 'k1' });
    expect(again).toMatchObject({ action: first.action, isReplay: true });
  });
});

describe('an approval that too few could ever give', () => {
  const decisionOf = async (request = {}) => (await action(await held(request))).decision;

  it('refuses the call at once', async () => {
    await scene.enforce('approvers:', '  - role:owner', 'required: 3');
    expect(await decisionOf()).toMatchObject({
      outcome: 'deny',
      code: 'approval_unsatisfiable',
      source: 'builtin',
      rule_id: 'asked',
      message:
        'The rule asked asks for 3 approvals of role:owner, and 2 members could give one; whom the call runs for is not counted. ' +
        'Ask an admin to invite another approver or change the rule, then send the call with a new Idempotency-Key.',
    });
  });

  it('does not count the person whom the call runs for', async () => {
    await scene.enforce('approvers:', `  - ${anna.user}`);
    expect(await decisionOf({ onBehalfOf: anna.user })).toMatchObject({ code: 'approval_unsatisfiable' });
    expect(await decisionOf({ onBehalfOf: ben.user })).toMatchObject({ outcome: 'require_approval' });
  });

  it('does not count former members', async () => {
    await scene.enforce('approvers:', `  - ${anna.user}`);
    await scene.organization({ type: 'RemoveMember', data: { membership: anna.membership } });
    expect(await decisionOf()).toMatchObject({ code: 'approval_unsatisfiable' });
  });
});

describe('who may decide', () => {
  it('is a member with the role or a higher one', async () => {
    const id = await held();
    expect(await refusal(scene.approve(id, vera))).toBe('approver_not_eligible');
    expect(await refusal(scene.deny(id, vera))).toBe('approver_not_eligible');
    await scene.approve(id, ben);
    expect(await statusOf(id)).toBe('approved');
  });

  it('is a person who is named, whatever the role, and nobody else', async () => {
    await scene.enforce('approvers:', `  - ${vera.user}`);
    const id = await held();
    expect(await refusal(scene.approve(id, ben))).toBe('approver_not_eligible');
    await scene.approve(id, vera);
    expect(await statusOf(id)).toBe('approved');
  });

  it('is no former member, and nobody who has lost the role', async () => {
    const id = await held();
    await scene.organization({ type: 'ChangeMemberRole', data: { membership: anna.membership, role: 'viewer' } });
    expect(await refusal(scene.approve(id, anna))).toBe('approver_not_eligible');
    await scene.organization({ type: 'RemoveMember', data: { membership: anna.membership } });
    expect(await refusal(scene.deny(id, anna))).toBe('approver_not_eligible');
  });

  it.each([
    ['id', () => anna.user as string],
    ['reference', () => 'anna@crm'],
    ['reference in another spelling', () => 'mailto:Anna@CRM'],
    ['id in another spelling', () => `USER:${anna.user.toUpperCase()}`],
    ['address', () => 'anna@example.com'],
    ['address in another spelling', () => 'mailto:ANNA@Example.com'],
  ])('is not, by a yes, whom the call runs for: named by %s', async (_, name) => {
    const data = { membership: anna.membership, references: ['anna@crm'] };
    await scene.organization({ type: 'ChangeMemberReferences', data });
    scene.bench.mailboxes.set('anna@example.com', anna.user);
    const id = await held({ onBehalfOf: name() });
    expect(await refusal(scene.approve(id, anna))).toBe('self_approval');
    expect(await statusOf(id)).toBe('pending');
    await scene.deny(id, anna);
    expect(await statusOf(id)).toBe('denied');
  });

  it('is not, to approve, the person the call runs for, even after a removal and a new invitation', async () => {
    const data = { membership: anna.membership, references: ['anna@crm'] };
    await scene.organization({ type: 'ChangeMemberReferences', data });
    const id = await held({ onBehalfOf: 'anna@crm' });
    await scene.organization({ type: 'RemoveMember', data: { membership: anna.membership } });
    const anew = await scene.member('admin', anna.user);
    expect(anew.membership).not.toBe(anna.membership);
    expect(await refusal(scene.approve(id, anew))).toBe('self_approval');
    expect(await refusal(scene.approve(await held({ onBehalfOf: 'anna@crm' }), anew))).toBe('self_approval');
  });
});

describe('four eyes', () => {
  beforeEach(() => scene.enforce('required: 2'));

  it('two different people must say yes', async () => {
    const id = await held();
    await scene.approve(id, anna);
    expect(await statusOf(id)).toBe('pending');
    expect(await refusal(scene.approve(id, anna))).toBe('already_countersigned');
    await scene.approve(id, ben);
    expect(await settled(id)).toMatchObject({ outcome: { status: 'succeeded' } });
  });

  it('two that sign at one moment are two: neither signature is lost, and it runs once', async () => {
    const id = await held();
    await Promise.all([scene.approve(id, anna), scene.approve(id, ben)]);
    expect(await settled(id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(upstream.countFor(id)).toBe(1);
  });

  it('a signature no longer counts if its signer is no approver any more', async () => {
    const id = await held();
    await scene.approve(id, anna);
    await scene.organization({ type: 'ChangeMemberRole', data: { membership: anna.membership, role: 'viewer' } });
    expect(countingSigners(await scene.review(id))).toEqual([]);
    await scene.approve(id, ben);
    expect(await statusOf(id)).toBe('pending');
  });

  it('a signature no longer counts if the context has changed, and can be given again', async () => {
    const id = await held();
    await scene.approve(id, anna);
    await bench.changeElsewhere({ tools: ELSEWHERE });
    await scene.approve(id, ben);
    expect(await statusOf(id)).toBe('pending');
    await scene.approve(id, anna);
    await settled(id);
    expect(upstream.seen.filter(({ headers }) => headers['service-action-id'] === id)).toMatchObject([
      { path: '/v1/elsewhere' },
    ]);
  });

  it('an edit of the policy elsewhere voids nothing', async () => {
    const id = await held();
    await scene.approve(id, anna);
    await scene.enforce('required: 2');
    await scene.approve(id, ben);
    expect(await statusOf(id)).toBe('approved');
  });

  it('a request that is sent again after its answer was lost is one signature, and no refusal', async () => {
    const id = await held();
    const metadata = { ...bench.metadata(), actor: { type: 'user' as const, id: anna.user } };
    await scene.approve(id, anna, { metadata });
    await scene.approve(id, anna, { metadata });
    expect((await action(id)).approval?.signatures).toHaveLength(1);
  });
});

describe('what was looked at', () => {
  it('must be unchanged: an approval of a tool that was swapped is refused (rule GATE-18)', async () => {
    const id = await held();
    const { digest } = await scene.review(id);
    await bench.changeElsewhere({ tools: ELSEWHERE });
    expect(await refusal(scene.approve(id, anna, { contextDigest: digest }))).toBe('context_changed');
    expect(await refusal(scene.deny(id, anna, { contextDigest: digest }))).toBe('context_changed');
    await scene.approve(id, anna);
    expect(await settled(id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(upstream.seen.at(-1)?.path).toBe('/v1/elsewhere');
  });

  it('is what runs: a tool that is swapped after the approval is not sent', async () => {
    const waiting = new ApprovalScene(bench, new ManualStarter(null, null));
    const id = await held();
    await waiting.approve(id, anna);
    await bench.changeElsewhere({ tools: ELSEWHERE });
    await bench.executor.claimAndRun(id, null);
    expect(await settled(id)).toMatchObject({ outcome: { status: 'failed', error_code: 'connector_unavailable' } });
    expect(upstream.countFor(id)).toBe(0);
  });

  it('a denial needs no digest: it holds whatever the context is by now', async () => {
    const id = await held();
    await bench.changeElsewhere({ tools: ELSEWHERE });
    await scene.deny(id, anna);
    expect(await statusOf(id)).toBe('denied');
  });

  it('asks for as many people, and for those, that the rule asks for now', async () => {
    const id = await held();
    const { digest } = await scene.review(id);
    await scene.enforce('approvers:', '  - role:owner', 'required: 1');
    expect(await refusal(scene.approve(id, anna, { contextDigest: digest }))).toBe('approver_not_eligible');
    expect(await refusal(scene.approve(id, ben, { contextDigest: digest }))).toBe('context_changed');
    await scene.approve(id, ben);
    expect(await statusOf(id)).toBe('approved');
  });

  it('asks for as many as the rule asks for now, and never for fewer than at first', async () => {
    const [one, two] = [await held(), await held()];
    await scene.enforce('required: 2');
    await scene.approve(one, anna);
    expect(await statusOf(one)).toBe('pending');
    await scene.approve(one, ben);
    expect(await statusOf(one)).toBe('approved');
    const three = await held();
    await scene.enforce();
    await scene.approve(three, anna);
    expect(await statusOf(three)).toBe('pending');
    await scene.approve(two, anna);
    expect(await statusOf(two)).toBe('approved');
  });

  it('asks for as many as before if the policy would allow the call now', async () => {
    const id = await held();
    await bench.enforce('version: 1\ndefault: allow\n');
    await scene.approve(id, anna);
    expect(await statusOf(id)).toBe('approved');
  });

  it('is shown and not approvable if the policy would deny the call now; a denial is taken', async () => {
    const id = await held();
    await bench.enforce('version: 1\ndefault: deny\n');
    expect(isApprovable(await scene.review(id))).toBe(false);
    expect(await refusal(scene.approve(id, anna))).toBe('policy_denied');
    await scene.deny(id, anna);
    expect(await statusOf(id)).toBe('denied');
  });

  it('is not approvable while its connector is not there', async () => {
    const id = await held();
    await bench.setConnector('disabled');
    expect(await refusal(scene.approve(id, anna))).toBe('conflict');
    await bench.setConnector('active');
    await scene.approve(id, anna);
    expect(await settled(id)).toMatchObject({ outcome: { status: 'succeeded' } });
  });

  it('is not approvable if its arguments are no longer stored; a denial is taken', async () => {
    const id = await held();
    bench.payloads.rows.clear();
    expect(await refusal(scene.approve(id, anna))).toBe('conflict');
    await scene.deny(id, anna);
    expect(await statusOf(id)).toBe('denied');
  });
});

describe('outcomes that cannot be sealed for too long (rule GATE-9)', () => {
  it('let nobody approve, and everybody deny', async () => {
    const [one, two] = [await held(), await held()];
    bench.backlog.ageMs = HOUR_MS;
    expect(await refusal(scene.approve(one, anna))).toBe('service_unavailable');
    await scene.deny(two, anna);
    expect([await statusOf(one), await statusOf(two)]).toEqual(['pending', 'denied']);
  });
});

describe('the end of the time', () => {
  it('is answered, and recorded by the first request if no sweep has done so', async () => {
    const id = await held();
    bench.clock.jumpMs = 25 * HOUR_MS;
    expect(await refusal(scene.approve(id, anna, { contextDigest: null }))).toBe('approval_expired');
    expect(await action(id)).toMatchObject({ state: 'recorded', approval: { status: 'expired' } });
    expect(await refusal(scene.approve(id, anna, { contextDigest: null }))).toBe('approval_expired');
  });
});

describe('the refusals stand in their order', () => {
  it('decided before eligible, eligible before oneself, oneself before a Stop, a Stop before the digest', async () => {
    const data = { membership: anna.membership, references: ['anna@crm'] };
    await scene.organization({ type: 'ChangeMemberReferences', data });
    const id = await held({ onBehalfOf: 'anna@crm' });
    await bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    const stale = { contextDigest: `sha256:${'0'.repeat(64)}` as const };
    expect(await refusal(scene.approve(id, vera, stale as never))).toBe('approver_not_eligible');
    expect(await refusal(scene.approve(id, anna, stale as never))).toBe('self_approval');
    expect(await refusal(scene.approve(id, ben, stale as never))).toBe('org_stopped');
    await bench.commands.execute(new StartOrganization(bench.org, null, bench.metadata()));
    expect(await refusal(scene.approve(id, ben, stale as never))).toBe('context_changed');
    await scene.deny(id, ben);
    expect(await refusal(scene.approve(id, vera, stale as never))).toBe('approval_decided');
  });

  it('the approval of another organization is not found', async () => {
    const id = await held();
    const metadata = bench.metadata(timestampOf(bench.clock.nowMs()));
    const { organization: other } = await bench.commands.execute(new CreateOrganization('Other', metadata));
    expect(await refusal(scene.reviews.of(other.org, (await action(id)).approval!.terms.approval))).toBe('not_found');
  });
});
