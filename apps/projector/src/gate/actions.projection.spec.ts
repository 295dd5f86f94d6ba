import { digestOf } from '#libs/crypto';
import type { ActionEvent, Decision } from '#libs/domain/gate';
import { ActionRow, ApprovalRow, HourlyCountRow, HourlyTotalRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import {
  denied,
  finished,
  outcome,
  sealed,
  started,
  submission,
  TEST_ORG,
  testId,
  testTime,
  witnessed,
} from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { actionsProjection } from './actions.projection.js';

const asked: Decision = { ...denied, outcome: 'require_approval', code: null, source: 'rule', message: null };

const expires_at = testTime(3_600);
const waiting: readonly ActionEvent[] = [
  { type: 'ActionSubmitted', data: { ...submission(1), at: testTime(1) } },
  { type: 'ActionDecided', data: { action: testId('act', 1), decision: asked, at: testTime(1) } },
  {
    type: 'ApprovalRequested',
    data: {
      ...{ action: testId('act', 1), approval: testId('apr', 1), rule_id: 'asked', approvers: ['role:admin'] },
      ...{ required: 1, context_digest: digestOf('context'), expires_at, at: testTime(1) },
    },
  },
];

describe('actions projection', () => {
  const scene = new ProjectionScene(actionsProjection);
  const given = (events: readonly ActionEvent[]) => scene.log.append(`action-${events[0]!.data.action}`, ...events);
  const seal = (...deeds: Parameters<typeof sealed>[]) =>
    scene.log.append(`ledger-${TEST_ORG}`, ...deeds.map((deed) => sealed(...deed)));
  const rows = async (): Promise<ActionRow[]> => {
    await scene.project();
    return scene.readModels.source.manager.find(ActionRow, { order: { id: 'ASC' } });
  };
  const row = async (): Promise<ActionRow> => {
    const [only, ...others] = await rows();
    expect(others).toEqual([]);
    return only!;
  };

  it('shows a claimed action as executing, with the columns that filters use', async () => {
    await given(started(1, { on_behalf_of: 'user_42', session: 'chat:7' }));
    expect(await row()).toMatchObject({
      id: testId('act', 1),
      org: TEST_ORG,
      agent: testId('agt', 1),
      key: testId('key', 1),
      tool: 'crm.get_customer',
      state: 'executing',
      decision: 'allow',
      verdict: null,
      level: null,
      errorCode: null,
      onBehalfOf: 'user_42',
      session: 'chat:7',
      ruleId: 'read-crm',
      execution: null,
      createdAt: testTime(1),
      deed: null,
      sealedAt: null,
    });
  });

  it('keeps what the domain folds from the same stream', async () => {
    await given([...started(1), finished(1), witnessed(1)]);
    expect((await row()).folded).toMatchObject({
      state: 'recorded',
      submission: { tool: 'crm.get_customer' },
      outcome: outcome(),
      witness: { verdict: 'VERIFIED', level: 'L0' },
      revision: 5,
      sealingRevision: 5,
    });
  });

  it('shows a refusal as recorded with the code of the decision', async () => {
    const action = testId('act', 1);
    await given([
      { type: 'ActionSubmitted', data: { ...submission(1), at: testTime(1) } },
      { type: 'ActionDecided', data: { action, decision: denied, at: testTime(1) } },
    ]);
    expect(await row()).toMatchObject({
      state: 'recorded',
      decision: 'deny',
      ruleId: null,
      errorCode: 'policy_denied',
    });
  });

  it.each([true, false])('tells whether a version in shadow decided differently: %s', async (differs) => {
    const action = testId('act', 1);
    const said = { outcome: 'allow' as const, code: null, rule_id: 'one', reason: 'rule one' };
    const shadow = { ...said, policy: testId('pol', 2), policy_version: testId('pv', 2), differs };
    await given([
      { type: 'ActionSubmitted', data: { ...submission(1), at: testTime(1) } },
      { type: 'ActionDecided', data: { action, decision: denied, shadow, at: testTime(1) } },
    ]);
    expect(await row()).toMatchObject({ decision: 'deny', shadowDiffers: differs, folded: { shadow } });
  });

  it('shows an action as witnessing between its outcome and its verdict', async () => {
    await given([...started(1), finished(1)]);
    expect(await row()).toMatchObject({ state: 'witnessing', verdict: null });
  });

  it('shows a failure as recorded with the code of the execution', async () => {
    await given([...started(1), finished(1, { status: 'failed', error_code: 'upstream_not_found' })]);
    expect(await row()).toMatchObject({
      state: 'recorded',
      execution: 'failed',
      errorCode: 'upstream_not_found',
      verdict: null,
    });
  });

  it('shows the deed of an action once the ledger holds it', async () => {
    await given([...started(1), finished(1), witnessed(1)]);
    await seal([1]);
    expect(await row()).toMatchObject({
      state: 'sealed',
      verdict: 'VERIFIED',
      level: 'L0',
      deed: testId('deed', 1),
      sealedAt: testTime(4),
    });
  });

  it('keeps the deed of an action when an amendment or a late report follows', async () => {
    await given([...started(1), finished(1), witnessed(1)]);
    await seal([1], [2, { kind: 'amendment', action: testId('act', 1) }], [3, { kind: 'admin', action: null }]);
    await scene.log.append(`action-${testId('act', 1)}`, {
      type: 'LateReport',
      data: { ...outcome(), action: testId('act', 1), attempt: 1, claim: 'other', at: testTime(9) },
    });
    expect(await row()).toMatchObject({ state: 'sealed', deed: testId('deed', 1) });
  });

  it('lists an action that waits for people as an approval, and how it was decided', async () => {
    const [action, approval] = [testId('act', 1), testId('apr', 1)];
    await given(waiting);
    await given(started(2));
    const approvals = async (): Promise<ApprovalRow[]> => {
      await scene.project();
      return scene.readModels.source.manager.find(ApprovalRow);
    };
    const shown = { id: approval, action, agent: testId('agt', 1), tool: 'crm.get_customer', expiresAt: expires_at };
    expect(await approvals()).toMatchObject([{ ...shown, status: 'pending', deed: null }]);
    await scene.log.append(`action-${action}`, { type: 'ApprovalExpired', data: { action, approval, at: expires_at } });
    await seal([1]);
    expect(await approvals()).toMatchObject([{ ...shown, status: 'expired', deed: testId('deed', 1) }]);
  });

  describe('hourly counts', () => {
    const counts = async (): Promise<HourlyCountRow[]> => {
      await scene.project();
      return scene.readModels.source.manager.find(HourlyCountRow, { order: { status: 'ASC', agent: 'ASC' } });
    };

    it('sum up actions with equal facts, in the hour of their submission', async () => {
      await given([...started(1), finished(1), witnessed(1)]);
      await given([...started(2), finished(2), witnessed(2)]);
      await given(started(3, { agent: testId('agt', 2) }));
      const hour = `${testTime(1).slice(0, 13)}:00:00.000Z`;
      const alike = { org: TEST_ORG, hour, tool: 'crm.get_customer', decision: 'allow', ruleId: 'read-crm' };
      expect(await counts()).toMatchObject([
        { ...alike, agent: testId('agt', 1), status: 'processing', verdict: 'VERIFIED', level: 'L0', actions: 2 },
        { ...alike, agent: testId('agt', 2), status: 'processing', verdict: null, level: null, actions: 1 },
      ]);
    });

    it('move with an action, and leave no row that says 0', async () => {
      await given(started(1));
      await given(started(2));
      expect(await counts()).toMatchObject([{ status: 'processing', execution: null, actions: 2 }]);
      await scene.log.append(`action-${testId('act', 1)}`, finished(1), witnessed(1));
      await seal([1]);
      expect(await counts()).toMatchObject([
        { status: 'executed', execution: 'succeeded', verdict: 'VERIFIED', actions: 1 },
        { status: 'processing', execution: null, actions: 1 },
      ]);
      await scene.log.append(`action-${testId('act', 2)}`, finished(2), witnessed(2));
      await seal([2]);
      expect(await counts()).toMatchObject([{ status: 'executed', actions: 2 }]);
    });
  });

  it('keeps totals by how actions ended, whatever their agent and tool', async () => {
    const totals = async (): Promise<HourlyTotalRow[]> => {
      await scene.project();
      return scene.readModels.source.manager.find(HourlyTotalRow, { order: { status: 'ASC' } });
    };
    await given(started(1));
    await given(started(2, { agent: testId('agt', 2), tool: 'crm.other' }));
    const alike = { org: TEST_ORG, hour: `${testTime(1).slice(0, 13)}:00:00.000Z`, decision: 'allow', source: 'rule' };
    expect(await totals()).toMatchObject([{ ...alike, status: 'processing', verdict: null, actions: 2 }]);
    for (const number of [1, 2]) {
      await scene.log.append(`action-${testId('act', number)}`, finished(number), witnessed(number));
      await seal([number]);
    }
    expect(await totals()).toMatchObject([{ ...alike, status: 'executed', verdict: 'VERIFIED', actions: 2 }]);
    expect(await totals()).toHaveLength(1);
  });

  it('has no row for an id that never became an action', async () => {
    const action = testId('act', 1);
    await given([{ type: 'SubmissionAbandoned', data: { action, at: testTime(1) } }]);
    expect(await rows()).toEqual([]);
  });

  it('keeps what deeds commit to in no row, so an approval is the same after one batch and after many', async () => {
    await given(waiting);
    await scene.project();
    const [approval] = await scene.readModels.source.manager.find(ApprovalRow);
    expect(approval?.folded).not.toHaveProperty('commitments');
    expect((await row()).folded).not.toHaveProperty('commitments');
  });

  it('continues from the rows after half of a stream was projected', async () => {
    await given(started(1));
    await given(started(2));
    expect(await rows()).toMatchObject([{ state: 'executing' }, { state: 'executing' }]);
    await scene.log.append(`action-${testId('act', 1)}`, finished(1), witnessed(1));
    await seal([1]);
    await scene.log.append(`action-${testId('act', 2)}`, finished(2));
    expect(await rows()).toMatchObject([
      { state: 'sealed', folded: { revision: 5, attempts: [{ claim: 'claim 1' }] } },
      { state: 'witnessing', folded: { revision: 4 } },
    ]);
  });

  it('stores U+0000 as U+FFFD where text is searched, and exactly where it is shown', async () => {
    await given(started(1, { tool: 'crm.\0get', on_behalf_of: 'a\0b' }));
    expect(await row()).toMatchObject({
      tool: 'crm.\uFFFDget',
      onBehalfOf: 'a\uFFFDb',
      folded: { submission: { tool: 'crm.\0get', on_behalf_of: 'a\0b' } },
    });
  });

  it('stops at a deed whose action the log does not hold', async () => {
    await seal([1]);
    await expect(rows()).rejects.toThrow('ledger-');
  });

  // Rows that were stored in an older shape would be read as if they had the new one. If this test fails, raise
  // `version`, then change the list below.
  it('keeps rows in the shape of its version', async () => {
    await given([...started(1), finished(1), witnessed(1)]);
    const { folded } = await row();
    expect([actionsProjection.version, Object.keys(folded).sort()]).toEqual([
      10,
      [
        'amendedRevision',
        'approval',
        'attempts',
        'changeLog',
        'charges',
        'createdAt',
        'decidedAt',
        'decision',
        'edge',
        'lateReport',
        'outcome',
        'readBack',
        'ready',
        'revision',
        'sealingRevision',
        'shadow',
        'state',
        'submission',
        'witness',
      ],
    ]);
  });
});
