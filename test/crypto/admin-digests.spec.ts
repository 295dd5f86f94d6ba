/** What docs/deed-format.md says of each administrator's change, against the deeds that the service makes of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  canonicalize,
  commitmentOf,
  digestOf,
  type Digest,
  type JsonObject,
  type JsonValue,
  newSalt,
  saltFor,
} from '#libs/crypto';
import type { AgentEvent } from '#libs/domain/agents';
import type { ConnectorEvent } from '#libs/domain/connectors';
import { type Actor, type EventEnvelope, OPERATOR } from '#libs/domain/kernel';
import {
  adminActOf,
  adminSections,
  type CheckpointActEvent,
  type EvidenceExportEvent,
  type FileEvent,
  revocationAct,
  type WitnessPolicyEvent,
} from '#libs/domain/ledger';
import type { KeyRecord, OrganizationEvent } from '#libs/domain/people';
import type { PolicyEvent } from '#libs/domain/policies';
import type { WebhookEvent } from '#libs/domain/webhooks';
import { testId } from '../support/given-log.js';
import { NOW } from '../support/given.js';
import { ROOT } from '../support/service.js';

type Change =
  | AgentEvent
  | CheckpointActEvent
  | ConnectorEvent
  | EvidenceExportEvent
  | FileEvent
  | OrganizationEvent
  | PolicyEvent
  | WebhookEvent
  | WitnessPolicyEvent;

const [org, agent, user, membership] = [testId('org', 1), testId('agt', 2), testId('usr', 3), testId('mem', 4)];
const [connector, policy, webhook, key] = [testId('con', 5), testId('pol', 6), testId('whk', 7), testId('key', 8)];
const [version_id, replaced] = [testId('pv', 9), testId('pv', 10)];
const at = NOW;
const by: Actor = OPERATOR;
const SALT = newSalt();
const kid = '0123456789abcdef'.repeat(2);
const [hash, otherHash] = [digestOf('one'), digestOf('other')];
const record: KeyRecord = { key, prefix: 'abcd1234', hash: 'hashed', livemode: true };
const successor: KeyRecord = { key: testId('key', 11), prefix: 'efgh5678', hash: 'hashed', livemode: false };
const ofAgent = { org, agent, at };
const ofMember = { org, membership, at };
const ofPasskey = { ...ofMember, passkey: testId('pky', 12), user, credential: 'c2VjcmV0IG5vdA' };
const ofConnector = { org, connector, name: 'crm', at };
const ofWebhook = { org, webhook, at };
const ofPolicy = { org, policy, version_id, at };
const ofWitness = { org, witness: hash, name: 'w1', vkey: 'w1+0a1b2c3d+BAAA', url: 'https://w1.example', at };
const reason = 'because';
const origin = `governance.example/ledger/${org}`;
const hints = { read_only: true, destructive: false, idempotent: true, open_world: false };

/** Of every change one with all it can have: an event type that is left out does not compile. */
const CHANGES: { readonly [Type in Change['type']]: Extract<Change, { type: Type }>['data'] } = {
  OrganizationCreated: { org, name: 'Grüße', timezone: 'UTC', owner: user, membership, at },
  OrganizationUpdated: {
    ...{
      org,
      at,
      fields: ['timezone', 'retention_days', 'approvals'],
      timezone: 'Europe/Berlin',
      retention_days: null,
    },
    approvals: { mail: 'decide', chat: 'off', expires_in_s: 3_600 },
  },
  OrganizationStopped: { org, reason, at },
  OrganizationStarted: { org, reason: null, at },
  MemberInvited: { ...ofMember, user, role: 'admin', invitation: 'random', by, expires_at: at },
  MemberJoined: { ...ofMember, user, role: 'owner' },
  MemberRoleChanged: { ...ofMember, from: 'owner', to: 'viewer' },
  MemberRemoved: { ...ofMember, role: 'viewer', self: true },
  MemberReferencesChanged: { ...ofMember, references: ['mail:a'], chat_accounts: ['b'] },
  MemberAddressSet: { ...ofMember, user },
  PasskeyRegistered: { ...ofPasskey, alg: -7, public_key: 'MFkw', rp_id: 'ags.example.com' },
  PasskeyRemoved: ofPasskey,
  LoginLinkIssued: { org, user, purpose: 'sign_in', via: 'operator', at },
  AdminKeyCreated: { org, record, at },
  AdminKeyRolled: { org, key, successor, expires_at: at, at },
  AdminKeyRevoked: { org, key, at },
  AgentRegistered: { ...ofAgent, name: 'support', labels: { team: 'a' }, owner: null },
  AgentKeyCreated: { ...ofAgent, record, scopes: ['deeds:read'] },
  AgentKeyRolled: { ...ofAgent, key, successor, expires_at: at },
  AgentKeyRevoked: { ...ofAgent, key },
  AgentIntentKeyAdded: { ...ofAgent, kid, public_key: 'ed25519:x', by },
  AgentIntentKeyRemoved: { ...ofAgent, kid },
  AgentIntentModeSet: { ...ofAgent, from: 'off', to: 'required' },
  AgentLabelsSet: { ...ofAgent, labels: {} },
  AgentBudgetsSet: { ...ofAgent, calls_per_day: null, spend_per_day: { amount: 5, currency: 'eur' } },
  AgentStopped: { ...ofAgent, reason },
  AgentSuspended: { ...ofAgent, reason },
  AgentResumed: { ...ofAgent, reason },
  ConnectorCreated: { ...ofConnector, type: 'rest', description: 'private', config: { a: 1 }, config_hash: hash },
  ConnectorUpdated: { ...ofConnector, description: null, status: 'active', config: { a: 1 }, config_hash: hash },
  ConnectorDisabled: { ...ofConnector, reason },
  ConnectorDeleted: { ...ofConnector, credential_version: 'v1' },
  ConnectorCredentialsUpdated: { ...ofConnector, kind: 'bearer', fields: ['token'], hint: '1234', version: 'v2' },
  ConnectorCredentialsRemoved: { ...ofConnector, version: 'v2' },
  ConnectorToolsRecorded: {
    ...{ ...ofConnector, protocol: '2026-07-28', list_digest: hash, accepted: ['search'] },
    tools: [{ name: 'search', definition: otherHash, hints }],
    left_out: [{ why: 'name', count: 1 }],
  },
  ConnectorToolsAccepted: { ...ofConnector, tools: [{ name: 'search', definition: otherHash }] },
  PolicyCreated: { org, policy, name: 'Grüße', at },
  PolicyVersionAdded: {
    ...{ ...ofPolicy, version: 2, source: 'rules: []', source_hash: hash, version_hash: otherHash },
    ...{ notes: 'private', author: by, origin: 'user' },
  },
  PolicyActivated: { ...ofPolicy, mode: 'enforce', version: 2, version_hash: hash, reason, replaced },
  PolicyDeactivated: { ...ofPolicy, mode: 'shadow', reason },
  WebhookCreated: {
    ...{ ...ofWebhook, url: 'https://a.example', events: ['*'], description: null },
    ...{ secret_version: 's1', secret_hint: '1234' },
  },
  WebhookUpdated: { ...ofWebhook, url: 'https://a.example', events: ['*'], description: 'x', status: 'disabled' },
  WebhookSecretRolled: { ...ofWebhook, secret_version: 's2', secret_hint: '1234', old_until: at },
  WebhookDisabled: { ...ofWebhook, failing_since: at },
  WebhookDeleted: { ...ofWebhook, secret_versions: ['s1'] },
  FileSealed: { org, sha256: hash, bytes: 12, media_type: 'application/pdf', label: 'Contract', at },
  CheckpointKeyAnnounced: { org, origin, kid, alg: 'Ed25519', public_key: `ed25519:${kid}`, activated_at: at, at },
  CheckpointKeyWithdrawn: { org, origin, kid, public_key: `ed25519:${kid}`, at },
  LedgerBreakAccepted: { org, origin, broken: { origin, size: 7, root: 'AAAA' }, reason, at },
  WitnessAdded: ofWitness,
  WitnessRemoved: ofWitness,
  WitnessPolicyChanged: { org, quorum: 2, at },
  EvidenceExported: { org, format: 'service.bundle/2', from: null, to: at, first_seq: 3, last_seq: 9, at },
};

/** What a change says, by the names that the page gives it. */
const saidBy = (data: object): Record<string, JsonValue> => {
  const { record: made, successor: next, ...said } = data as { record?: KeyRecord; successor?: KeyRecord };
  const { livemode, prefix } = made ?? next ?? {};
  const ofKeys = { ...(next && { successor: next.key }), ...((made ?? next) && { livemode, prefix }) };
  return { ...said, ...ofKeys } as unknown as Record<string, JsonValue>;
};

const page = readFileSync(join(ROOT, 'docs', 'deed-format.md'), 'utf8');
const section = page.slice(page.indexOf('### What a change digests'), page.indexOf('Rules between members:'));
const rows = [...section.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| `([a-z_]+)` \| `\{(.*)\}` \|$/gm)].map(
  ([, action = '', type = '', members = '']) => ({
    action,
    type,
    members: [...members.matchAll(/"([a-z0-9_]+)"(\??)/g)].map(([, name = '', mark]) => ({
      name,
      isOptional: mark === '?',
    })),
  }),
);

/** The digest of the object that the page names, made of what the change says alone. */
const documentedDigest = (action: string, type: string, data: object): Digest => {
  const row = rows.find((each) => each.action === action);
  expect(row, `docs/deed-format.md has no row for ${action}`).toBeDefined();
  expect(row?.type).toBe(type);
  const said = saidBy(data);
  const object: JsonObject = {};
  for (const { name, isOptional } of row?.members ?? []) {
    if (said[name] === undefined && isOptional) continue;
    expect(said, `${action} says nothing of ${name}`).toHaveProperty(name);
    object[name] = said[name] as JsonValue;
  }
  return commitmentOf(saltFor(SALT, 'data'), canonicalize(object));
};

const adminOf = (type: string, data: object) => {
  const act = adminActOf({ event: { type, data }, metadata: {}, recorded: {} } as unknown as EventEnvelope);
  return act === null ? null : adminSections(act, OPERATOR, SALT).admin;
};

describe('the digest of a change is of what the page says', () => {
  it.each(Object.entries(CHANGES))('%s', (type, data) => {
    const admin = adminOf(type, data);
    expect(admin?.data_digest).toBe(documentedDigest(admin?.action ?? '', admin?.target.type ?? '', data));
  });

  it.each([
    ['OrganizationUpdated', { org, at, fields: ['name'], name: 'New', timezone: 'UTC' }],
    ['ConnectorUpdated', { ...ofConnector, status: 'disabled' }],
    ['ConnectorDisabled', { ...ofConnector, reason, upstream_request_id: 'req_1' }],
    ['WebhookUpdated', { ...ofWebhook, status: 'active' }],
  ])('%s of one thing alone', (type, data) => {
    const admin = adminOf(type, data);
    expect(admin?.data_digest).toBe(documentedDigest(admin?.action ?? '', admin?.target.type ?? '', data));
  });

  it('of a seal key that was revoked', () => {
    const act = revocationAct(kid, reason, { seq: 12, body_hash: hash });
    const { admin } = adminSections(act, OPERATOR, SALT);
    const data = { kid, last_seq: 12, last_body_hash: hash };
    expect(admin?.data_digest).toBe(documentedDigest('seal_key.revoked', 'seal_key', data));
  });

  it('and the page lists no other change', () => {
    const actions = Object.entries(CHANGES).map(([type, data]) => adminOf(type, data)?.action);
    expect(rows.map(({ action }) => action).sort()).toEqual([...actions, 'seal_key.revoked'].sort());
  });
});
