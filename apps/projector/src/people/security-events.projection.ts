import { agentDecider, type AgentEvent } from '#libs/domain/agents';
import type { EventEnvelope } from '#libs/domain/kernel';
import { exportDecider, type ExportEvent } from '#libs/domain/ledger';
import {
  organizationDecider,
  sessionDecider,
  signInFailureDecider,
  type KeyRecord,
  type OrganizationEvent,
  type SessionEvent,
  type SignInFailureEvent,
} from '#libs/domain/people';
import { SecurityEventRow, type SecurityEventKey } from '#libs/infra/read-models';
import type { Projection } from '../projection.js';

/** Rows of GET /v1/security-events: one for each event that is shown there. Nothing ever changes one. */
export const securityEventsProjection: Projection = {
  name: 'security_events',
  version: 4,
  follows: {
    agent: agentDecider.eventTypes,
    export: exportDecider.eventTypes,
    org: organizationDecider.eventTypes,
    session: sessionDecider.eventTypes,
    sign_in: signInFailureDecider.eventTypes,
  },
  rowTypes: [SecurityEventRow],

  async project(events, rows) {
    await rows.upsert(SecurityEventRow, events.flatMap(rowsOf));
  },
};

type Followed = AgentEvent | ExportEvent | OrganizationEvent | SessionEvent | SignInFailureEvent;

/** What a row says beside whose it is, when it was and who did it. */
type Told = Pick<SecurityEventRow, 'type'> &
  Partial<Pick<SecurityEventRow, 'user' | 'session' | 'via' | 'why' | 'key' | 'export'>>;

type Telling = {
  readonly [Type in Followed['type']]: ((data: Extract<Followed, { type: Type }>['data']) => Told) | null;
};

const keyOf = (id: string, told: Partial<SecurityEventKey> = {}): SecurityEventKey => ({
  id,
  prefix: null,
  successor: null,
  agent: null,
  ...told,
});

/** As people see it where the key stands. */
const beginningOf = ({ livemode, prefix }: KeyRecord): string => `svc_${livemode ? 'live' : 'test'}_${prefix}`;

/** Complete, or it does not compile: whoever adds an event says here what the list shows of it. Null: nothing. */
const TOLD: Telling = {
  SessionStarted: ({ user, session, via }) => ({ type: 'user.signed_in', user, session, via }),
  SessionEnded: ({ user, session, why }) => ({ type: 'user.signed_out', user, session, why }),
  SignInFailed: ({ user, why }) => ({ type: 'user.sign_in_failed', user, why }),
  LoginLinkIssued: ({ user }) => ({ type: 'login_link.issued', user }),
  MemberAddressSet: ({ user }) => ({ type: 'member.address_set', user }),
  AdminKeyCreated: ({ record }) => ({
    type: 'admin_key.created',
    key: keyOf(record.key, { prefix: beginningOf(record) }),
  }),
  AdminKeyRolled: ({ key, successor }) => ({
    type: 'admin_key.rolled',
    key: keyOf(key, { prefix: beginningOf(successor), successor: successor.key }),
  }),
  AdminKeyRevoked: ({ key }) => ({ type: 'admin_key.revoked', key: keyOf(key) }),
  PasskeyRegistered: ({ user, passkey }) => ({ type: 'passkey.registered', user, key: keyOf(passkey) }),
  PasskeyRemoved: ({ user, passkey }) => ({ type: 'passkey.removed', user, key: keyOf(passkey) }),
  AgentKeyCreated: ({ agent, record }) => ({
    type: 'agent_key.created',
    key: keyOf(record.key, { agent, prefix: beginningOf(record) }),
  }),
  AgentKeyRolled: ({ agent, key, successor }) => ({
    type: 'agent_key.rolled',
    key: keyOf(key, { agent, prefix: beginningOf(successor), successor: successor.key }),
  }),
  AgentKeyRevoked: ({ agent, key }) => ({ type: 'agent_key.revoked', key: keyOf(key, { agent }) }),
  AgentIntentKeyAdded: ({ agent, kid }) => ({ type: 'intent_key.added', key: keyOf(kid, { agent }) }),
  AgentIntentKeyRemoved: ({ agent, kid }) => ({ type: 'intent_key.removed', key: keyOf(kid, { agent }) }),
  ExportStarted: ({ kind, from, to, first_seq, last_seq }) => ({
    type: 'export.started',
    export: { kind, from, to, first_seq, last_seq },
  }),
  OrganizationCreated: null,
  OrganizationUpdated: null,
  OrganizationStopped: null,
  OrganizationStarted: null,
  MemberInvited: null,
  MemberJoined: null,
  MemberRoleChanged: null,
  MemberRemoved: null,
  MemberReferencesChanged: null,
  PolicyActivated: null,
  PolicyDeactivated: null,
  AgentRegistered: null,
  AgentIntentModeSet: null,
  AgentLabelsSet: null,
  AgentBudgetsSet: null,
  AgentStopped: null,
  AgentSuspended: null,
  AgentResumed: null,
};

const NOTHING = { user: null, session: null, via: null, why: null, key: null, export: null };

const rowsOf = ({ event, metadata, recorded }: EventEnvelope): readonly SecurityEventRow[] => {
  const { type, data } = event as Followed;
  const telling = TOLD[type] as ((data: Followed['data']) => Told) | null;
  if (telling === null) return [];
  const { org, at: createdAt } = data;
  return [{ id: recorded.id, org, by: metadata.actor, createdAt, ...NOTHING, ...telling(data) }];
};
