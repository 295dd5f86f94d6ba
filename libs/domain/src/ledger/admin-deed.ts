import type { JsonValue } from '#libs/crypto';
import type { AgentEvent } from '../agents/index.js';
import type { ConnectorEvent } from '../connectors/index.js';
import { UnknownEventType, type DomainEvent, type EventEnvelope, type EventTypes } from '../kernel/index.js';
import type { OrganizationEvent, PersonEvent, SessionEvent, SignInFailureEvent } from '../people/index.js';
import type { PolicyEvent } from '../policies/index.js';
import type { WebhookEvent } from '../webhooks/index.js';
import type { DecoderEvent } from '../witness/index.js';
import type { CheckpointActEvent, CheckpointCosigned, CheckpointMade } from './checkpoint.events.js';
import type { LedgerEvent } from './deed.events.js';
import type { EvidenceExportEvent } from './evidence-export.events.js';
import type { ExportEvent } from './export.events.js';
import type { FileEvent } from './sealed-file.events.js';
import type { WitnessPolicyEvent } from './witness-policy.events.js';

/** What an admin deed says (rule DEED-12): who did what to which object. Only the digest of `data` enters the deed. */
export interface AdminAct {
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly reason: string | null;
  readonly data: { readonly [member: string]: JsonValue };
}

export type AdminEvent =
  | AgentEvent
  | CheckpointActEvent
  | ConnectorEvent
  | EvidenceExportEvent
  | FileEvent
  | OrganizationEvent
  | PolicyEvent
  | WebhookEvent
  | WitnessPolicyEvent;

type ActOf<Event extends DomainEvent> = {
  readonly [Type in Event['type']]: (data: Extract<Event, { type: Type }>['data']) => AdminAct;
};

const act = (
  action: string,
  type: string,
  id: string,
  data: AdminAct['data'],
  reason: string | null = null,
): AdminAct => ({ action, target: { type, id }, reason, data });

/**
 * Every change to who can act, or what they may do, is sealed. A new event type of these contexts does not compile
 * until this table says how its deed reads.
 */
const ADMIN_ACTS: ActOf<AdminEvent> = {
  OrganizationCreated: ({ org, name, timezone, owner }) => act('org.created', 'org', org, { name, timezone, owner }),
  // The settings of approvals and the days of retention are in the deed only if the event has them.
  OrganizationUpdated: ({ org, fields, timezone, retention_days, approvals }) =>
    act('org.updated', 'org', org, {
      ...(approvals === undefined ? {} : { approvals: { ...approvals } }),
      fields: [...fields],
      ...(retention_days === undefined ? {} : { retention_days }),
      timezone,
    }),
  MemberInvited: ({ membership, user, role }) => act('member.invited', 'membership', membership, { role, user }),
  MemberJoined: ({ membership, role }) => act('member.joined', 'membership', membership, { role }),
  MemberRoleChanged: ({ membership, from, to, kept_keys }) =>
    act('member.role_changed', 'membership', membership, {
      from,
      ...(kept_keys === undefined ? {} : { kept_keys: [...kept_keys] }),
      to,
    }),
  MemberRemoved: ({ membership, role, self, kept_keys }) =>
    act('member.removed', 'membership', membership, {
      ...(kept_keys === undefined ? {} : { kept_keys: [...kept_keys] }),
      role,
      self,
    }),
  MemberReferencesChanged: ({ membership, references, chat_accounts }) =>
    act('member.references_changed', 'membership', membership, {
      chat_accounts: [...chat_accounts],
      references: [...references],
    }),
  MemberAddressSet: ({ membership, user }) => act('member.address_set', 'membership', membership, { user }),
  // Whoever is to check what a passkey signed needs the key, so its deed holds all that says which it is.
  PasskeyRegistered: ({ passkey, user, credential, alg, public_key, rp_id }) =>
    act('passkey.registered', 'passkey', passkey, { alg, credential, public_key, rp_id, user }),
  PasskeyRemoved: ({ passkey, user, credential }) => act('passkey.removed', 'passkey', passkey, { credential, user }),
  LoginLinkIssued: ({ user, purpose, via }) => act('login_link.issued', 'user', user, { purpose, via }),
  OrganizationStopped: ({ org, reason }) => act('org.stopped', 'org', org, {}, reason),
  OrganizationStarted: ({ org, reason }) => act('org.started', 'org', org, {}, reason),
  // The deed's actor is whoever made the key.
  AdminKeyCreated: ({ record, expires_at }) =>
    act('admin_key.created', 'key', record.key, {
      ...(expires_at === undefined ? {} : { expires_at }),
      livemode: record.livemode,
      prefix: record.prefix,
    }),
  AdminKeyRolled: ({ key, successor, expires_at, successor_expires_at }) =>
    act('admin_key.rolled', 'key', key, {
      expires_at,
      prefix: successor.prefix,
      successor: successor.key,
      ...(successor_expires_at === undefined ? {} : { successor_expires_at }),
    }),
  AdminKeyRevoked: ({ key }) => act('admin_key.revoked', 'key', key, {}),
  PolicyActivated: ({ mode, policy, version_id, version, version_hash, replaced, reason }) =>
    act('policy.activated', 'policy', policy, { mode, replaced, version, version_hash, version_id }, reason),
  PolicyDeactivated: ({ mode, policy, version_id, reason }) =>
    act('policy.deactivated', 'policy', policy, { mode, version_id }, reason),
  AgentRegistered: ({ agent, name, labels, owner }) =>
    act('agent.created', 'agent', agent, { labels: { ...labels }, name, owner }),
  AgentKeyCreated: ({ agent, record, scopes }) =>
    act('agent_key.created', 'key', record.key, {
      agent,
      livemode: record.livemode,
      prefix: record.prefix,
      scopes: [...scopes],
    }),
  AgentKeyRolled: ({ agent, key, successor, expires_at }) =>
    act('agent_key.rolled', 'key', key, { agent, expires_at, prefix: successor.prefix, successor: successor.key }),
  AgentKeyRevoked: ({ agent, key }) => act('agent_key.revoked', 'key', key, { agent }),
  AgentIntentKeyAdded: ({ agent, kid, public_key }) =>
    act('intent_key.added', 'intent_key', kid, { agent, public_key }),
  AgentIntentKeyRemoved: ({ agent, kid }) => act('intent_key.removed', 'intent_key', kid, { agent }),
  AgentIntentModeSet: ({ agent, from, to }) => act('agent.intent_mode_set', 'agent', agent, { from, to }),
  AgentLabelsSet: ({ agent, labels }) => act('agent.labels_set', 'agent', agent, { labels: { ...labels } }),
  AgentBudgetsSet: ({ agent, calls_per_day, spend_per_day }) =>
    act('agent.budgets_set', 'agent', agent, { calls_per_day, spend_per_day: spend_per_day && { ...spend_per_day } }),
  AgentStopped: ({ agent, reason }) => act('agent.stopped', 'agent', agent, {}, reason),
  AgentSuspended: ({ agent, reason }) => act('agent.suspended', 'agent', agent, {}, reason),
  AgentResumed: ({ agent, reason }) => act('agent.resumed', 'agent', agent, {}, reason),
  ConnectorCreated: ({ connector, name, type, config_hash }) =>
    act('connector.created', 'connector', connector, { config_hash, name, type }),
  ConnectorUpdated: ({ connector, status, config_hash, description }) =>
    act('connector.updated', 'connector', connector, {
      ...(config_hash === undefined ? {} : { config_hash }),
      ...(description === undefined ? {} : { description }),
      ...(status === undefined ? {} : { status }),
    }),
  ConnectorDisabled: ({ connector, reason, upstream_request_id }) =>
    act(
      'connector.disabled',
      'connector',
      connector,
      upstream_request_id === undefined ? {} : { upstream_request_id },
      reason,
    ),
  ConnectorDeleted: ({ connector }) => act('connector.deleted', 'connector', connector, {}),
  ConnectorCredentialsUpdated: ({ connector, kind, fields, version }) =>
    act('connector.credentials_updated', 'connector', connector, { fields: [...fields], kind, version }),
  ConnectorCredentialsRemoved: ({ connector, version }) =>
    act('connector.credentials_removed', 'connector', connector, { version }),
  ConnectorToolsRecorded: ({ connector, protocol, list_digest, tools, accepted, left_out }) =>
    act('connector.tools_recorded', 'connector', connector, {
      accepted: [...accepted],
      left_out: [...left_out],
      list_digest,
      protocol,
      tools: [...tools],
    }),
  ConnectorToolsAccepted: ({ connector, tools }) =>
    act('connector.tools_accepted', 'connector', connector, { tools: [...tools] }),
  PolicyCreated: ({ policy, name }) => act('policy.created', 'policy', policy, { name }),
  PolicyVersionAdded: ({ policy, version_id, version, version_hash, source_hash, origin }) =>
    act('policy.version_added', 'policy', policy, { origin, source_hash, version, version_hash, version_id }),
  WebhookCreated: ({ webhook, url, events, description, secret_version }) =>
    act('webhook.created', 'webhook', webhook, { description, events: [...events], secret_version, url }),
  WebhookUpdated: ({ webhook, url, events, description, status }) =>
    act('webhook.updated', 'webhook', webhook, {
      ...(description === undefined ? {} : { description }),
      ...(events === undefined ? {} : { events: [...events] }),
      ...(status === undefined ? {} : { status }),
      ...(url === undefined ? {} : { url }),
    }),
  WebhookSecretRolled: ({ webhook, secret_version, old_until }) =>
    act('webhook.secret_rolled', 'webhook', webhook, { old_until, secret_version }),
  WebhookDisabled: ({ webhook, failing_since }) => act('webhook.disabled', 'webhook', webhook, { failing_since }),
  WebhookDeleted: ({ webhook }) => act('webhook.deleted', 'webhook', webhook, {}),
  // A person who has the file finds its deed by the digest.
  FileSealed: ({ sha256, bytes, media_type, label }) =>
    act('file.sealed', 'file', sha256, { sha256, bytes, media_type, label }, label),
  // Which key speaks for the chain's tree, and from when on: a reader finds it in the chain itself.
  CheckpointKeyAnnounced: ({ kid, alg, origin, public_key, activated_at }) =>
    act('checkpoint_key.registered', 'checkpoint_key', kid, { activated_at, alg, origin, public_key }),
  CheckpointKeyWithdrawn: ({ kid, origin, public_key }) =>
    act('checkpoint_key.retired', 'checkpoint_key', kid, { origin, public_key }),
  LedgerBreakAccepted: ({ org, origin, broken, reason }) =>
    act('ledger.broken', 'ledger', org, { broken: { ...broken }, origin }, reason),
  // A reader of the chain sees who was asked to cosign it, and when: a witness is not exchanged unseen.
  WitnessAdded: ({ witness, name, url, vkey }) => act('witness.added', 'witness', witness, { name, url, vkey }),
  WitnessRemoved: ({ witness, name, url, vkey }) => act('witness.removed', 'witness', witness, { name, url, vkey }),
  WitnessPolicyChanged: ({ org, quorum }) => act('witness_policy.changed', 'ledger', org, { quorum }),
  // It changes nothing, but whoever reads the chain is to know who took the values out that deeds keep to themselves.
  EvidenceExported: ({ org, format, from, to, first_seq, last_seq }) =>
    act('evidence.exported', 'org', org, { first_seq, format, from, last_seq, to }),
};

/**
 * Event types of an organization's log that no admin deed seals; deeds of actions are decided by folding the action.
 * Signing in and out are security events without a deed (rule DEED-13), and so are a failed sign-in and an export of deeds
 * alone, because they change nothing. How the decoder of a change log is, is nobody's doing. A checkpoint tells of the
 * ledger: a deed of it would be its own next reason.
 */
const UNSEALED: EventTypes<
  | CheckpointMade
  | CheckpointCosigned
  | DecoderEvent
  | ExportEvent
  | LedgerEvent
  | PersonEvent
  | SessionEvent
  | SignInFailureEvent
> = {
  CheckpointCosigned: true,
  CheckpointMade: true,
  DecoderAttached: true,
  DecoderDetached: true,
  DecoderDegraded: true,
  DecoderRecovered: true,
  DecoderAlerted: true,
  DeedSealed: true,
  ExportStarted: true,
  PersonCreated: true,
  SessionStarted: true,
  SessionEnded: true,
  SignInFailed: true,
};

/**
 * What the admin deed for an event says; null for an event that no admin deed seals.
 * @throws {UnknownEventType} when a newer version wrote the event and may seal it. If it were skipped, it would never
 * be sealed, because later deeds say that everything before them is sealed
 */
export const adminActOf = (envelope: EventEnvelope): AdminAct | null => {
  const { type, data } = envelope.event;
  if (Object.hasOwn(UNSEALED, type)) return null;
  if (!Object.hasOwn(ADMIN_ACTS, type)) throw new UnknownEventType(envelope.recorded.stream, type);
  const describe = ADMIN_ACTS[type as AdminEvent['type']] as (data: object) => AdminAct;
  return describe(data);
};
