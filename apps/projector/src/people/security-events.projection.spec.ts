import type { AgentEvent } from '#libs/domain/agents';
import { OPERATOR, SYSTEM, type Actor } from '#libs/domain/kernel';
import type { ExportEvent } from '#libs/domain/ledger';
import type { KeyRecord, OrganizationEvent, SessionEvent, SignInFailureEvent } from '#libs/domain/people';
import { SecurityEventRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { securityEventsProjection } from './security-events.projection.js';

const session = testId('ses', 1);
const about = (seconds: number) => ({ org: TEST_ORG, session, user: testId('usr', 1), at: testTime(seconds) });
const started: SessionEvent = {
  type: 'SessionStarted',
  data: { ...about(1), membership: testId('mem', 1), via: 'code' },
};
const ended: SessionEvent = { type: 'SessionEnded', data: { ...about(2), why: 'everywhere' } };

const by: Actor = { type: 'user', id: testId('usr', 1) };
const agent = testId('agt', 1);
const recordOf = (number: number, prefix: string): KeyRecord => ({
  key: testId('key', number),
  prefix,
  hash: 'hashed',
  livemode: true,
});
const [first, second] = [recordOf(1, 'abcd1234'), recordOf(2, 'efgh5678')];

describe('security events projection', () => {
  const scene = new ProjectionScene(securityEventsProjection);
  const rows = () => scene.readModels.source.manager.find(SecurityEventRow, { order: { createdAt: 'ASC' } });

  it('shows who signed in and out, and how', async () => {
    await scene.log.append(`session-${session}`, started, ended);
    await scene.project();
    const common = { org: TEST_ORG, user: testId('usr', 1), session, key: null };
    expect(await rows()).toMatchObject([
      { ...common, type: 'user.signed_in', via: 'code', why: null, createdAt: testTime(1) },
      { ...common, type: 'user.signed_out', via: null, why: 'everywhere', createdAt: testTime(2) },
    ]);
  });

  it('shows each key that is issued, rolled and revoked: by whom, and which by its id', async () => {
    const of = { org: TEST_ORG, at: testTime(1) };
    await scene.log.appendAs(
      by,
      `org-${TEST_ORG}`,
      { type: 'AdminKeyCreated', data: { ...of, record: first } } satisfies OrganizationEvent,
      {
        type: 'AdminKeyRolled',
        data: { ...of, key: first.key, successor: second, expires_at: testTime(9), at: testTime(2) },
      } satisfies OrganizationEvent,
      { type: 'AdminKeyRevoked', data: { ...of, key: second.key, at: testTime(3) } } satisfies OrganizationEvent,
    );
    await scene.log.appendAs(
      by,
      `agent-${agent}`,
      {
        type: 'AgentKeyCreated',
        data: { ...of, agent, record: first, scopes: ['deeds:read'], at: testTime(4) },
      } satisfies AgentEvent,
      {
        type: 'AgentIntentKeyAdded',
        data: { ...of, agent, kid: 'k1', public_key: 'ed25519:x', by, at: testTime(5) },
      } satisfies AgentEvent,
    );
    await scene.project(2);
    const about = { org: TEST_ORG, by, user: null, session: null, via: null, why: null };
    expect(await rows()).toMatchObject([
      {
        ...about,
        type: 'admin_key.created',
        key: { id: first.key, prefix: 'svc_live_abcd1234', successor: null, agent: null },
      },
      {
        ...about,
        type: 'admin_key.rolled',
        key: { id: first.key, prefix: 'svc_live_efgh5678', successor: second.key },
      },
      { ...about, type: 'admin_key.revoked', key: { id: second.key, prefix: null, agent: null } },
      { ...about, type: 'agent_key.created', key: { id: first.key, prefix: 'svc_live_abcd1234', agent } },
      { ...about, type: 'intent_key.added', key: { id: 'k1', prefix: null, agent } },
    ]);
  });

  it('shows whose sign-in failed', async () => {
    const failed: SignInFailureEvent = {
      type: 'SignInFailed',
      data: { org: TEST_ORG, user: testId('usr', 1), why: 'wrong_code', at: testTime(5) },
    };
    await scene.log.append('sign_in-1', failed);
    await scene.project();
    expect(await rows()).toMatchObject([
      { type: 'user.sign_in_failed', by: SYSTEM, user: testId('usr', 1), session: null, why: 'wrong_code' },
    ]);
  });

  it('shows what was exported and by whom', async () => {
    const range = { kind: 'deeds', from: testTime(1), to: null, first_seq: 3, last_seq: 9 } as const;
    const started: ExportEvent = { type: 'ExportStarted', data: { org: TEST_ORG, ...range, at: testTime(5) } };
    await scene.log.appendAs(by, 'export-1', started);
    await scene.project();
    expect(await rows()).toMatchObject([{ type: 'export.started', by, user: null, key: null, export: range }]);
  });

  it('shows whose address was changed and for whom an operator made a link, and no other change of people', async () => {
    const of = { org: TEST_ORG, user: testId('usr', 2) };
    const membership = testId('mem', 2);
    await scene.log.appendAs(
      OPERATOR,
      `org-${TEST_ORG}`,
      {
        type: 'MemberJoined',
        data: { ...of, membership, role: 'viewer', at: testTime(1) },
      } satisfies OrganizationEvent,
      { type: 'MemberAddressSet', data: { ...of, membership, at: testTime(2) } } satisfies OrganizationEvent,
      {
        type: 'LoginLinkIssued',
        data: { ...of, purpose: 'sign_in', via: 'operator', at: testTime(3) },
      } satisfies OrganizationEvent,
    );
    await scene.project();
    expect(await rows()).toMatchObject([
      { type: 'member.address_set', by: OPERATOR, user: of.user, createdAt: testTime(2) },
      { type: 'login_link.issued', by: OPERATOR, user: of.user, createdAt: testTime(3) },
    ]);
  });
});
