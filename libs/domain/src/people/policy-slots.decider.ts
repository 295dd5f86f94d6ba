import { type CommandMetadata, DomainError, type PolicyMode, type Timestamp } from '../kernel/index.js';
import type { OrganizationCommand } from './organization.commands.js';
import type { OrganizationEvent } from './organization.events.js';
import type { ActivePolicy, HeldSlot, LivingOrganization, Organization } from './organization.state.js';

/** What a version in a slot replaces, and what that ends. @throws {DomainError} shadow_slot_taken */
export const activatePolicy = (
  data: Extract<OrganizationCommand, { type: 'ActivatePolicy' }>['data'],
  state: LivingOrganization,
  { actor, now: at }: CommandMetadata,
): readonly OrganizationEvent[] => {
  const { mode, policy, versionId, version, versionHash, reason } = data;
  const holder = mode === 'enforce' ? state.enforced : state.shadow;
  if (holder?.versionId === versionId) return [];
  if (mode === 'shadow' && holder) throw shadowTaken(holder);
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
      by: { ...actor },
      at,
    },
  };
  // Enforcing what runs in shadow ends its shadow (rule POLICY-6).
  if (mode === 'enforce' && state.shadow?.versionId === versionId) {
    return [deactivated(state, 'shadow', state.shadow, reason, at), activated];
  }
  return [activated];
};

const shadowTaken = ({ policy, version }: ActivePolicy): DomainError =>
  new DomainError('shadow_slot_taken', {
    param: 'mode',
    message: `Version ${version} of ${policy} already runs in shadow. End it with POST /v1/policies/${policy}/deactivate and {"mode": "shadow"}, then send this again.`,
  });

/** @throws {DomainError} conflict: another version, or none, is in the slot */
export const deactivatePolicy = (
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
  mode: PolicyMode,
  holder: ActivePolicy,
  reason: string | null,
  at: Timestamp,
): OrganizationEvent => ({
  type: 'PolicyDeactivated',
  data: { org: state.org, mode, policy: holder.policy, version_id: holder.versionId, reason, at },
});

export const inSlot = (state: LivingOrganization, mode: PolicyMode, active: HeldSlot | null): Organization =>
  mode === 'enforce' ? { ...state, enforced: active } : { ...state, shadow: active };
