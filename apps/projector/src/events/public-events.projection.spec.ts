import { digestOf } from '#libs/crypto';
import type { ConnectorEvent } from '#libs/domain/connectors';
import { publicEventObject, publicIdOf, PUBLIC_EVENT_MAX_BYTES } from '#libs/domain/events';
import type { ActionEvent, ApprovalTerms, ApproverAnswer } from '#libs/domain/gate';
import { SYSTEM, type DomainEvent } from '#libs/domain/kernel';
import { PublicEventRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import {
  allowed,
  denied,
  finished,
  sealed,
  started,
  submission,
  TEST_ORG,
  testId,
  testTime,
  witnessed,
} from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { publicEventsProjection } from './public-events.projection.js';

const AGENT = testId('agt', 1);
const ACTION = testId('act', 1);
const APPROVAL = testId('apr', 1);
const at = testTime(5);

describe('public events projection', () => {
  const scene = new ProjectionScene(publicEventsProjection);
  const rows = (): Promise<PublicEventRow[]> =>
    scene.readModels.source.manager.createQueryBuilder(PublicEventRow, 'row').orderBy('row.seq', 'ASC').getMany();
  const told = async (stream: string, ...events: readonly DomainEvent[]) => {
    await scene.log.append(stream, ...events);
    await scene.project();
    return (await rows()).map(({ type, thin }) => [type, thin]);
  };
  const ofAction = (...events: readonly ActionEvent[]) => told(`action-${ACTION}`, ...events);
  const action = (state: string) => ({ object: 'action', id: ACTION, state });

  const answer: ApproverAnswer = {
    by: testId('usr', 1),
    via: 'console',
    context_digest: digestOf('c'),
    reason: 'secret',
  };
  const terms: ApprovalTerms = {
    approval: APPROVAL,
    rule_id: 'ask',
    approvers: ['role:admin'],
    required: 2,
    context_digest: digestOf('c'),
    expires_at: testTime(100),
  };
  const about = { action: ACTION, approval: APPROVAL, at };
  const asked = ({ tool = 'crm.get_customer', ruleId = 'ask' } = {}): readonly ActionEvent[] => [
    { type: 'ActionSubmitted', data: { ...submission(1, { tool }), at } },
    { type: 'ActionDecided', data: { action: ACTION, decision: { ...allowed, outcome: 'require_approval' }, at } },
    { type: 'ApprovalRequested', data: { ...terms, rule_id: ruleId, action: ACTION, at } },
  ];
  const approval = (status: string, countersigned: number) => ({
    object: 'approval',
    id: APPROVAL,
    status,
    action: ACTION,
    agent: AGENT,
    tool: 'crm.get_customer',
    rule_id: 'ask',
    required: 2,
    countersigned,
    deed: null,
  });

  it('tells the life of an action, each event with the state that it left', async () => {
    await ofAction(...started(1), finished(1), witnessed(1));
    expect(await told(`ledger-${TEST_ORG}`, sealed(1))).toEqual([
      ['action.created', action('executing')],
      ['action.decided', action('executing')],
      ['action.executed', action('witnessing')],
      ['action.witnessed', action('recorded')],
      [
        'deed.sealed',
        {
          object: 'deed_summary',
          id: testId('deed', 1),
          seq: 1,
          kind: 'action',
          action: ACTION,
          issued_at: testTime(4),
        },
      ],
    ]);
  });

  it('keeps the trace of the call beside all that it tells of the action', async () => {
    const trace = { id: '4bf92f3577b34da6a3ce929d0e0e4736', sampled: false };
    await ofAction(...started(1, { trace }), finished(1), witnessed(1));
    await told(`ledger-${TEST_ORG}`, sealed(1));
    expect((await rows()).map((row) => row.trace)).toEqual(Array(5).fill(trace));
  });

  it('tells a refusal, which ends an action', async () => {
    const submitted: ActionEvent = { type: 'ActionSubmitted', data: { ...submission(1), at } };
    const refused: ActionEvent = { type: 'ActionDecided', data: { action: ACTION, decision: denied, at } };
    expect(await ofAction(submitted, refused)).toEqual([
      ['action.created', action('executing')],
      ['action.decided', action('recorded')],
    ]);
  });

  it('tells a certain failure as executed, which ends an action, too', async () => {
    expect((await ofAction(...started(1), finished(1, { status: 'failed' }))).at(-1)).toEqual([
      'action.executed',
      action('recorded'),
    ]);
  });

  it('tells a call at the edge as executed when it is lost', async () => {
    const [submitted, decided] = started(1);
    expect(
      await ofAction(
        submitted!,
        decided!,
        { type: 'EdgeAuthorized', data: { action: ACTION, deadline: testTime(60), at } },
        { type: 'EdgeLost', data: { action: ACTION, at } },
      ),
    ).toEqual([
      ['action.created', action('executing')],
      ['action.decided', action('executing')],
      ['action.executed', action('witnessing')],
    ]);
  });

  it('tells an approval with how many people signed it, whatever one of them repeats', async () => {
    const second = { ...answer, by: testId('usr', 2) };
    const decided = { ...about, ...second, outcome: 'approved', tool_digest: null } as const;
    const signed = await ofAction(
      ...asked(),
      { type: 'ApprovalCountersigned', data: { ...about, ...answer } },
      { type: 'ApprovalCountersigned', data: { ...about, ...answer } },
      { type: 'ApprovalCountersigned', data: { ...about, ...second } },
      { type: 'ApprovalDecided', data: { ...decided, counted: [answer.by, second.by] } },
    );
    expect(signed.slice(2)).toEqual([
      ['approval.requested', approval('pending', 0)],
      ['approval.countersigned', approval('pending', 1)],
      ['approval.countersigned', approval('pending', 1)],
      ['approval.countersigned', approval('pending', 2)],
      ['approval.decided', approval('approved', 2)],
    ]);
  });

  it.each<[status: string, event: ActionEvent]>([
    ['denied', { type: 'ApprovalDecided', data: { ...about, ...answer, outcome: 'denied', tool_digest: null } }],
    ['expired', { type: 'ApprovalExpired', data: about }],
    ['cancelled', { type: 'ActionCancelled', data: { ...about, by: SYSTEM } }],
  ])('tells that an approval was %s as decided', async (status, event) => {
    expect((await ofAction(...asked(), event)).at(-1)).toEqual(['approval.decided', approval(status, 0)]);
  });

  it('tells what happened to an agent, to the organization and to its policy, as live', async () => {
    const agent = { org: TEST_ORG, agent: AGENT, reason: 'secret', at };
    await told(
      `agent-${AGENT}`,
      { type: 'AgentRegistered', data: { org: TEST_ORG, agent: AGENT, name: 'n', labels: {}, owner: null, at } },
      { type: 'AgentStopped', data: agent },
      { type: 'AgentResumed', data: agent },
      { type: 'AgentSuspended', data: agent },
    );
    const org = { org: TEST_ORG, reason: 'secret', at };
    const slot = { ...org, mode: 'shadow', policy: testId('pol', 1), version_id: testId('pv', 1) };
    const all = await told(
      `org-${TEST_ORG}`,
      { type: 'OrganizationStopped', data: org },
      { type: 'OrganizationStarted', data: org },
      { type: 'PolicyActivated', data: { ...slot, version: 3, version_hash: 'h', replaced: null } },
      { type: 'PolicyDeactivated', data: slot },
    );
    const status = (said: string) => ({ object: 'agent', id: AGENT, status: said });
    expect(all).toEqual([
      ['agent.stopped', status('stopped')],
      ['agent.resumed', status('active')],
      ['agent.suspended', status('suspended')],
      ['org.stopped', { object: 'organization', id: TEST_ORG, status: 'stopped' }],
      ['org.started', { object: 'organization', id: TEST_ORG, status: 'active' }],
      ['policy.activated', { object: 'policy', id: testId('pol', 1), version: 3, mode: 'shadow' }],
    ]);
    const whose = (await rows()).map(({ agent: own, livemode }) => [own, livemode]);
    expect(whose).toEqual([AGENT, AGENT, AGENT, null, null, null].map((own) => [own, true]));
  });

  const CONNECTOR = testId('con', 1);
  const ofConnector = { org: TEST_ORG, connector: CONNECTOR, name: 'issues', at };
  const hints = { read_only: false, destructive: true, idempotent: false, open_world: true };
  const createdConnector: ConnectorEvent = {
    type: 'ConnectorCreated',
    data: {
      ...{ ...ofConnector, type: 'mcp_http', description: 'secret' },
      ...{ config: { url: 'https://secret.example' }, config_hash: digestOf('{}') },
    },
  };
  /** A list by its tools, each with a word for its definition. */
  const listed = (tools: Readonly<Record<string, string>>, ...accepted: readonly string[]): ConnectorEvent => ({
    type: 'ConnectorToolsRecorded',
    data: {
      ...{ ...ofConnector, protocol: '2026-07-28', accepted, left_out: [] },
      list_digest: digestOf(JSON.stringify(tools)),
      tools: Object.entries(tools).map(([name, word]) => ({ name, definition: digestOf(word), hints })),
    },
  });
  const acceptedBy = (tools: Readonly<Record<string, string>>): ConnectorEvent => ({
    type: 'ConnectorToolsAccepted',
    data: {
      ...ofConnector,
      tools: Object.entries(tools).map(([name, word]) => ({ name, definition: digestOf(word) })),
    },
  });
  const toldOf = (...events: readonly ConnectorEvent[]) =>
    told(`connector-${TEST_ORG}-issues`, createdConnector, ...events);
  const changed = (tools: readonly (readonly [name: string, status: string])[], counts: object = {}) => [
    'connector.tools_changed',
    {
      ...{ object: 'connector', id: CONNECTOR, name: 'issues', has_more: false },
      tools: tools.map(([name, status]) => ({ name, status })),
      counts: { accepted: 0, new: 0, changed: 0, gone: 0, ...counts },
    },
  ];

  it('tells nothing of the first list of a connector, and of one that names the same tools', async () => {
    const renewed = listed({ search: 'one' });
    const data = { ...renewed.data, protocol: '2025-11-25' };
    expect(await toldOf(listed({ search: 'one' }, 'search'), { ...renewed, data } as ConnectorEvent)).toEqual([]);
  });

  it('tells which tools a server changed, those that wait for a person first, and which were accepted', async () => {
    expect(
      await toldOf(
        listed({ add: 'one', search: 'one', drop: 'one' }, 'add', 'search', 'drop'),
        listed({ extra: 'one', add: 'one', search: 'two', held: 'one' }, 'extra'),
        acceptedBy({ search: 'two' }),
        listed({ add: 'one', search: 'three', drop: 'one', extra: 'one' }),
      ),
    ).toEqual([
      changed(
        [
          ['search', 'changed'],
          ['held', 'new'],
          ['drop', 'gone'],
          ['extra', 'accepted'],
        ],
        { accepted: 2, new: 1, changed: 1, gone: 1 },
      ),
      changed([['search', 'accepted']], { accepted: 3, new: 1, gone: 1 }),
      // What nobody accepted is gone for good.
      changed(
        [
          ['search', 'changed'],
          ['held', 'gone'],
          ['drop', 'accepted'],
        ],
        { accepted: 3, changed: 1 },
      ),
    ]);
    expect((await rows()).map(({ agent: own, livemode }) => [own, livemode])).toEqual(Array(3).fill([null, true]));
  });

  it('tells that another definition is held, and that one is called that no person has accepted', async () => {
    expect(
      await toldOf(
        listed({ search: 'one' }, 'search'),
        listed({ search: 'two' }),
        listed({ search: 'three' }),
        listed({ search: 'four' }, 'search'),
      ),
    ).toEqual([
      changed([['search', 'changed']], { changed: 1 }),
      changed([['search', 'changed']], { changed: 1 }),
      changed([['search', 'accepted']], { accepted: 1 }),
    ]);
  });

  it('counts the tools of one connector alone, whatever had its name before, and tells nothing of none', async () => {
    const next = { connector: testId('con', 2) };
    const asNext = (event: ConnectorEvent) => ({ ...event, data: { ...event.data, ...next } }) as ConnectorEvent;
    expect(
      await toldOf(
        listed({ search: 'one' }, 'search'),
        { type: 'ConnectorDeleted', data: { ...ofConnector, credential_version: null } },
        listed({ search: 'planted' }),
        asNext(createdConnector),
        asNext(listed({ search: 'two' }, 'search')),
      ),
    ).toEqual([]);
  });

  it('names fifty tools of a list, of the longest names, and says that there are more', async () => {
    const tools = (word: string) =>
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}`.padEnd(128, 'x'), word]));
    const all = await toldOf(listed(tools('one'), ...Object.keys(tools('one'))), listed(tools('two')));
    expect(all).toMatchObject([['connector.tools_changed', { has_more: true, counts: { changed: 60 } }]]);
    expect((await rows())[0]?.thin['tools']).toHaveLength(50);
    const text = JSON.stringify(publicEventObject((await rows())[0]!));
    expect(Buffer.byteLength(text)).toBeLessThan(PUBLIC_EVENT_MAX_BYTES);
    expect(text).not.toContain('secret');
    expect(text).not.toContain('sha256:');
  });

  it('tells the same of a connector in any batches and again', async () => {
    await toldOf(
      listed({ search: 'one', drop: 'one' }, 'search', 'drop'),
      listed({ search: 'two' }),
      acceptedBy({ search: 'two' }),
    );
    const once = await rows();
    expect(once).toHaveLength(2);
    await scene.readModels.forgetCheckpoints('public_events');
    await scene.project(1);
    expect(await rows()).toEqual(once);
  });

  it('says of an action’s and an amendment’s deed whose they are, and of an admin deed nothing', async () => {
    const agent = testId('agt', 7);
    await ofAction(...started(1, { livemode: false, agent }));
    await told(
      `ledger-${TEST_ORG}`,
      sealed(1),
      sealed(2, { kind: 'amendment', action: ACTION }),
      sealed(3, { kind: 'admin', action: null }),
    );
    const deeds = (await rows()).slice(-3).map(({ agent: own, livemode }) => [own, livemode]);
    expect(deeds).toEqual([
      [agent, false],
      [agent, false],
      [null, true],
    ]);
  });

  it('tells nothing of what cannot follow: somebody else wrote it', async () => {
    const [submitted] = started(1);
    const planted: ActionEvent[] = [
      { type: 'ApprovalExpired', data: about },
      { type: 'EdgeLost', data: about },
    ];
    expect(await ofAction(submitted!, ...planted)).toEqual([['action.created', action('executing')]]);
  });

  it('gives every event the place and the id of the recorded one, in any batches and again', async () => {
    await ofAction(...started(1), finished(1), witnessed(1));
    const once = await rows();
    const log = await scene.log.store.readAll(-1n, 100);
    const heard = log.filter(({ type }) => !['ExecutionReady', 'ExecutionStarted', 'StoreCreated'].includes(type));
    expect(once.map(({ seq, evt }) => [seq, evt])).toEqual(
      heard.map(({ position, id }) => [position.toString(), publicIdOf(id)]),
    );
    await scene.readModels.forgetCheckpoints('public_events');
    await scene.project(1);
    expect(await rows()).toEqual(once);
  });

  it('makes an event object that is whole, says no secret, and is no larger than a webhook may be', async () => {
    const [tool, ruleId] = [String.fromCharCode(1).repeat(200), 'r'.repeat(64)];
    await ofAction(...asked({ tool, ruleId }), { type: 'ApprovalCountersigned', data: { ...about, ...answer } });
    const all = await rows();
    const last = all.at(-1)!;
    expect(publicEventObject(last)).toEqual({
      object: 'event',
      id: last.evt,
      type: 'approval.countersigned',
      api_version: '2026-10-01',
      created_at: at,
      livemode: false,
      org: TEST_ORG,
      data: { object: { ...approval('pending', 1), tool, rule_id: ruleId } },
    });
    const texts = all.map((row) => JSON.stringify(publicEventObject(row)));
    expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThan(PUBLIC_EVENT_MAX_BYTES);
    expect(texts.join('')).not.toContain('secret');
  });
});
