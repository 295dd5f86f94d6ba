import { DomainError, type Decider, type Timestamp } from '../kernel/index.js';
import { isRevocable, newKey, requireRollable, requireRoomForKey, withChangedKey, withKey } from './key-ring.js';
import type { OrganizationCommand } from './organization.commands.js';
import type { OrganizationEvent } from './organization.events.js';
import type { ActivePolicy, LivingOrganization, Organization } from './organization.state.js';

const initialState = (): Organization => ({ status: 'none' });

const decide = (command: OrganizationCommand, state: Organization): readonly OrganizationEvent[] => {
  const at = command.metadata.now;
  if (command.type === 'CreateOrganization') {
    if (state.status !== 'none') throw new DomainError('conflict');
    return [{ type: 'OrganizationCreated', data: { ...command.data, at } }];
  }
  if (state.status === 'none') throw new DomainError('not_found');
  const { org } = state;
  switch (command.type) {
    case 'StopOrganization':
      return state.status === 'stopped' ? [] : [{ type: 'OrganizationStopped', data: { org, ...command.data, at } }];
    case 'StartOrganization':
      return state.status === 'started' ? [] : [{ type: 'OrganizationStarted', data: { org, ...command.data, at } }];
    case 'CreateAdminKey':
      requireRoomForKey(state.adminKeys, at);
      return [{ type: 'AdminKeyCreated', data: { org, record: command.data.record, at } }];
    case 'RollAdminKey': {
      const { key, successor, expiresAt } = command.data;
      requireRollable(state.adminKeys, key, expiresAt, at);
      return [{ type: 'AdminKeyRolled', data: { org, key, successor, expires_at: expiresAt, at } }];
    }
    case 'RevokeAdminKey': {
      const { key } = command.data;
      return isRevocable(state.adminKeys, key) ? [{ type: 'AdminKeyRevoked', data: { org, key, at } }] : [];
    }
    case 'ActivatePolicy':
      return activatePolicy(command.data, state, at);
    case 'DeactivatePolicy':
      return deactivatePolicy(command.data, state, at);
  }
};

const activatePolicy = (
  data: Extract<OrganizationCommand, { type: 'ActivatePolicy' }>['data'],
  state: LivingOrganization,
  at: Timestamp,
): readonly OrganizationEvent[] => {
  const { mode, policy, versionId, version, versionHash, reason } = data;
  const holder = mode === 'enforce' ? state.enforced : state.shadow;
  if (holder?.versionId === versionId) return [];
  if (mode === 'shadow' && holder) throw new DomainError('shadow_slot_taken', { param: 'mode' });
  const activated: OrganizationEvent = {
    type: 'PolicyActivated',
    data: {
      org: state.org,
      mode,
      policy,
      version_id: versionId,
      version,
      version_hash: versionHash,
      reason,
      replaced: holder?.versionId ?? null,
      at,
    },
  };
  // Document 3, Suggestion: promoting what runs in shadow ends its shadow.
  if (mode === 'enforce' && state.shadow?.versionId === versionId) {
    return [deactivated(state, 'shadow', state.shadow, reason, at), activated];
  }
  return [activated];
};

const deactivatePolicy = (
  data: Extract<OrganizationCommand, { type: 'DeactivatePolicy' }>['data'],
  state: LivingOrganization,
  at: Timestamp,
): readonly OrganizationEvent[] => {
  const holder = data.mode === 'enforce' ? state.enforced : state.shadow;
  if (!holder || holder.policy !== data.policy) {
    throw new DomainError('conflict', {
      param: 'mode',
      message: `No version of this policy is active in the ${data.mode} slot. Read the organization's policies again.`,
    });
  }
  return [deactivated(state, data.mode, holder, data.reason, at)];
};

const deactivated = (
  state: LivingOrganization,
  mode: 'enforce' | 'shadow',
  holder: ActivePolicy,
  reason: string | null,
  at: Timestamp,
): OrganizationEvent => ({
  type: 'PolicyDeactivated',
  data: { org: state.org, mode, policy: holder.policy, version_id: holder.versionId, reason, at },
});

const evolve = (state: Organization, event: OrganizationEvent): Organization => {
  if (event.type === 'OrganizationCreated') {
    const { org, name, timezone, owner, at } = event.data;
    const empty = { adminKeys: new Map(), enforced: null, shadow: null };
    return { status: 'started', org, name, timezone, owner, createdAt: at, ...empty };
  }
  if (state.status === 'none') return state;
  switch (event.type) {
    case 'OrganizationStopped':
      return { ...state, status: 'stopped' };
    case 'OrganizationStarted':
      return { ...state, status: 'started' };
    case 'AdminKeyCreated':
      return { ...state, adminKeys: withKey(state.adminKeys, newKey(event.data.record, event.data.at)) };
    case 'AdminKeyRolled': {
      const { key, successor, expires_at: expiresAt, at } = event.data;
      const made = newKey(successor, at, state.adminKeys.get(key));
      return { ...state, adminKeys: withKey(withChangedKey(state.adminKeys, key, { expiresAt }), made) };
    }
    case 'AdminKeyRevoked':
      return { ...state, adminKeys: withChangedKey(state.adminKeys, event.data.key, { revokedAt: event.data.at }) };
    case 'PolicyActivated': {
      const { policy, version_id: versionId, version, version_hash: versionHash, mode } = event.data;
      return inSlot(state, mode, { policy, versionId, version, versionHash });
    }
    case 'PolicyDeactivated':
      return inSlot(state, event.data.mode, null);
  }
};

const inSlot = (state: LivingOrganization, mode: 'enforce' | 'shadow', active: ActivePolicy | null): Organization =>
  mode === 'enforce' ? { ...state, enforced: active } : { ...state, shadow: active };

export const organizationDecider: Decider<Organization, OrganizationCommand, OrganizationEvent> = {
  category: 'org',
  eventTypes: {
    OrganizationCreated: true,
    OrganizationStopped: true,
    OrganizationStarted: true,
    AdminKeyCreated: true,
    AdminKeyRolled: true,
    AdminKeyRevoked: true,
    PolicyActivated: true,
    PolicyDeactivated: true,
  },
  initialState,
  decide,
  evolve,
};
