import { DomainError, type Decider } from '../kernel/index.js';
import { requireRole } from './actor-rights.js';
import { decideAdminKey, evolveAdminKeys, isAdminKeyEvent } from './admin-key.decider.js';
import type { MemberCommand } from './member.commands.js';
import { decideMember, evolveMembers } from './member.decider.js';
import { MEMBER_EVENT_TYPES, type MemberEvent } from './member.events.js';
import type { Membership } from './membership.js';
import type { OrganizationCommand } from './organization.commands.js';
import { updateOrganization } from './organization-settings.decider.js';
import type { ApprovalSettings, OrganizationEvent } from './organization.events.js';
import type { LivingOrganization, Organization } from './organization.state.js';
import { decidePasskey, evolvePasskeys, PASSKEY_COMMANDS, type PasskeyCommand } from './passkey.decider.js';
import { PASSKEY_EVENT_TYPES, type PasskeyEvent } from './passkey.events.js';
import { activatePolicy, deactivatePolicy, inSlot } from './policy-slots.decider.js';
import type { Role } from './role.js';

const initialState = (): Organization => ({ status: 'none' });

const decide = (command: OrganizationCommand, state: Organization): readonly OrganizationEvent[] => {
  const { now: at } = command.metadata;
  if (command.type === 'CreateOrganization') {
    if (state.status !== 'none') throw new DomainError('conflict');
    return [{ type: 'OrganizationCreated', data: { ...command.data, at } }];
  }
  if (state.status === 'none') throw new DomainError('not_found');
  if (isOfMembers(command)) return decideMember(command, state);
  return isOfPasskeys(command) ? decidePasskey(command, state) : decideLiving(command, state);
};

type LivingCommand = Exclude<OrganizationCommand, MemberCommand | PasskeyCommand | { type: 'CreateOrganization' }>;

/** The lowest role in which each may be done (rule PEOPLE-1). */
const LOWEST_ROLE = {
  UpdateOrganization: 'admin',
  StopOrganization: 'admin',
  StartOrganization: 'owner',
  CreateAdminKey: 'admin',
  RollAdminKey: 'admin',
  RevokeAdminKey: 'admin',
  ActivatePolicy: 'admin',
  DeactivatePolicy: 'admin',
} as const satisfies Record<LivingCommand['type'], Role>;

const decideLiving = (command: LivingCommand, state: LivingOrganization): readonly OrganizationEvent[] => {
  const { actor, now: at } = command.metadata;
  requireRole(state, actor, LOWEST_ROLE[command.type], at);
  const { org } = state;
  switch (command.type) {
    case 'UpdateOrganization':
      return updateOrganization(command.data, state, command.metadata);
    case 'StopOrganization':
      if (state.status === 'stopped') return [];
      return [{ type: 'OrganizationStopped', data: { org, ...command.data, by: { ...actor }, at } }];
    case 'StartOrganization':
      return state.status === 'started' ? [] : [{ type: 'OrganizationStarted', data: { org, ...command.data, at } }];
    case 'CreateAdminKey':
    case 'RollAdminKey':
    case 'RevokeAdminKey':
      return decideAdminKey(command, state);
    case 'ActivatePolicy':
      return activatePolicy(command.data, state, command.metadata);
    case 'DeactivatePolicy':
      return deactivatePolicy(command.data, state, at);
  }
};

const evolve = (state: Organization, event: OrganizationEvent): Organization => {
  if (event.type === 'OrganizationCreated') {
    const { org, name, timezone, owner, pinned_version: pinnedVersion = null, at } = event.data;
    const first = ownerSince(event.data);
    return {
      status: 'started',
      org,
      name,
      timezone,
      owner,
      createdAt: at,
      members: new Map([[first.membership, first]]),
      pinnedVersion,
      retentionDays: null,
      approvals: DEFAULT_APPROVALS,
      stop: null,
      adminKeys: new Map(),
      passkeys: new Map(),
      enforced: null,
      shadow: null,
    };
  }
  if (state.status === 'none') return state;
  if (isMemberEvent(event)) return { ...state, members: evolveMembers(state.members, event) };
  if (isPasskeyEvent(event)) return { ...state, passkeys: evolvePasskeys(state.passkeys, event) };
  if (isAdminKeyEvent(event)) return { ...state, adminKeys: evolveAdminKeys(state.adminKeys, event) };
  switch (event.type) {
    case 'OrganizationUpdated': {
      const { name, timezone, pinned_version, retention_days, approvals } = event.data;
      return {
        ...state,
        name: name ?? state.name,
        timezone,
        pinnedVersion: pinned_version ?? state.pinnedVersion,
        retentionDays: retention_days === undefined ? state.retentionDays : retention_days,
        approvals: approvals ?? state.approvals,
      };
    }
    case 'OrganizationStopped':
      return { ...state, status: 'stopped', stop: { at: event.data.at, by: event.data.by ?? null } };
    case 'OrganizationStarted':
      return { ...state, status: 'started', stop: null };
    case 'PolicyActivated': {
      const { policy, version_id: versionId, version, version_hash: versionHash, mode } = event.data;
      const { at: since, by = null } = event.data;
      return inSlot(state, mode, { policy, versionId, version, versionHash, since, by });
    }
    case 'PolicyDeactivated':
      return inSlot(state, event.data.mode, null);
  }
};

/** The organization is made with its owner, whom nobody invited (rule PEOPLE-12). */
const ownerSince = ({ membership, owner, at }: Creation): Membership => ({
  membership,
  user: owner,
  role: 'owner',
  status: 'active',
  invitedBy: null,
  invitation: null,
  invitationExpiresAt: null,
  joinedAt: at,
  references: [],
  chatAccounts: [],
});

type Creation = Extract<OrganizationEvent, { type: 'OrganizationCreated' }>['data'];

const DEFAULT_APPROVALS: ApprovalSettings = { mail: 'decide', chat: 'off', expires_in_s: 86_400 };

const isMemberEvent = (event: OrganizationEvent): event is MemberEvent => Object.hasOwn(MEMBER_EVENT_TYPES, event.type);

const isPasskeyEvent = (event: OrganizationEvent): event is PasskeyEvent =>
  Object.hasOwn(PASSKEY_EVENT_TYPES, event.type);

const MEMBER_COMMANDS: Readonly<Record<MemberCommand['type'], true>> = {
  InviteMember: true,
  JoinOrganization: true,
  ChangeMemberRole: true,
  RemoveMember: true,
  ChangeMemberReferences: true,
  SetMemberAddress: true,
  IssueLoginLink: true,
};

const isOfMembers = (command: OrganizationCommand): command is MemberCommand =>
  Object.hasOwn(MEMBER_COMMANDS, command.type);

const isOfPasskeys = (command: OrganizationCommand): command is PasskeyCommand =>
  Object.hasOwn(PASSKEY_COMMANDS, command.type);

export const organizationDecider: Decider<Organization, OrganizationCommand, OrganizationEvent> = {
  category: 'org',
  eventTypes: {
    ...MEMBER_EVENT_TYPES,
    ...PASSKEY_EVENT_TYPES,
    OrganizationCreated: true,
    OrganizationUpdated: true,
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
