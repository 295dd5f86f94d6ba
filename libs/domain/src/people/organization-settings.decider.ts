import type { CommandMetadata } from '../kernel/index.js';
import { requireRole } from './actor-rights.js';
import type { OrganizationChanges } from './organization.commands.js';
import type { OrganizationEvent, OrganizationField } from './organization.events.js';
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
  const { mail, chat, expires_in_s } = state.approvals;
  const wanted = changes.approvals ?? {};
  const approvals = {
    mail: wanted.mail ?? mail,
    chat: wanted.chat ?? chat,
    expires_in_s: wanted.expires_in_s ?? expires_in_s,
  };
  const isNewDoor = approvals.mail !== mail || approvals.chat !== chat || approvals.expires_in_s !== expires_in_s;
  return {
    ...(name === undefined || name === state.name ? {} : { name }),
    ...(timezone === undefined || timezone === state.timezone ? {} : { timezone }),
    ...(pinnedVersion === undefined || pinnedVersion === state.pinnedVersion ? {} : { pinned_version: pinnedVersion }),
    ...(retentionDays === undefined || retentionDays === state.retentionDays ? {} : { retention_days: retentionDays }),
    ...(isNewDoor ? { approvals } : {}),
  };
};

const sentFields = (changes: OrganizationChanges): readonly OrganizationField[] => [
  ...(changes.pinnedVersion === undefined ? [] : (['pinned_version'] as const)),
  ...(changes.retentionDays === undefined ? [] : (['retention_days'] as const)),
  ...(changes.approvals === undefined ? [] : (['approvals'] as const)),
];
