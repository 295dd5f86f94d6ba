import type { CommandMetadata } from '../kernel/index.js';
import { requireRole } from './actor-rights.js';
import type { OrganizationChanges } from './organization.commands.js';
import type { ApprovalSettings, OrganizationEvent, OrganizationField } from './organization.events.js';
import type { LivingOrganization } from './organization.state.js';

type Updated = Extract<OrganizationEvent, { type: 'OrganizationUpdated' }>['data'];

/** These are an owner's to change, the others an admin's (rule PEOPLE-1). */
const OWNERS_FIELDS: readonly OrganizationField[] = ['pinned_version', 'retention_days', 'approvals'];

/** None when everything already is as asked. @throws {DomainError} insufficient_role, naming the field */
export const updateOrganization = (
  changes: OrganizationChanges,
  state: LivingOrganization,
  { actor, now: at }: CommandMetadata,
): readonly OrganizationEvent[] => {
  const wanted = changedMembers(changes, state);
  const fields = (Object.keys(wanted) as OrganizationField[]).sort();
  const owners = sentFields(changes).find((field) => OWNERS_FIELDS.includes(field));
  if (owners !== undefined) requireRole(state, actor, 'owner', at, owners);
  if (fields.length === 0) return [];
  return [{ type: 'OrganizationUpdated', data: { org: state.org, fields, timezone: state.timezone, ...wanted, at } }];
};

type Members = Partial<Pick<Updated, OrganizationField>>;

const changedMembers = (changes: OrganizationChanges, state: LivingOrganization): Members => {
  const { name, timezone, pinnedVersion, retentionDays } = changes;
  const approvals = approvalsAfter(changes.approvals ?? {}, state.approvals);
  return {
    ...(name === undefined || name === state.name ? {} : { name }),
    ...(timezone === undefined || timezone === state.timezone ? {} : { timezone }),
    ...(pinnedVersion === undefined || pinnedVersion === state.pinnedVersion ? {} : { pinned_version: pinnedVersion }),
    ...(retentionDays === undefined || retentionDays === state.retentionDays ? {} : { retention_days: retentionDays }),
    ...(isSame(approvals, state.approvals) ? {} : { approvals }),
  };
};

const approvalsAfter = (wanted: NonNullable<OrganizationChanges['approvals']>, known: ApprovalSettings) => {
  const isSigned = wanted.signed ?? known.signed === true;
  return {
    mail: wanted.mail ?? known.mail,
    chat: wanted.chat ?? known.chat,
    expires_in_s: wanted.expires_in_s ?? known.expires_in_s,
    ...(isSigned ? { signed: true as const } : {}),
  };
};

const isSame = (one: ApprovalSettings, other: ApprovalSettings): boolean =>
  one.mail === other.mail &&
  one.chat === other.chat &&
  one.expires_in_s === other.expires_in_s &&
  one.signed === other.signed;

const sentFields = (changes: OrganizationChanges): readonly OrganizationField[] => [
  ...(changes.pinnedVersion === undefined ? [] : (['pinned_version'] as const)),
  ...(changes.retentionDays === undefined ? [] : (['retention_days'] as const)),
  ...(changes.approvals === undefined ? [] : (['approvals'] as const)),
];
