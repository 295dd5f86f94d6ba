import {
  DomainError,
  type Actor,
  type CommandMetadata,
  type KeyId,
  type Timestamp,
  type UserId,
} from '../kernel/index.js';
import { requireRole } from './actor-rights.js';
import {
  isKeyActive,
  isRevocable,
  newKey,
  requireRollable,
  requireRoomForKey,
  withChangedKey,
  withKey,
  type AdminKey,
  type KeyRing,
} from './key-ring.js';
import type { OrganizationCommand } from './organization.commands.js';
import type { OrganizationEvent } from './organization.events.js';
import type { LivingOrganization } from './organization.state.js';

export type AdminKeyEvent = Extract<OrganizationEvent, { type: `AdminKey${string}` }>;
type AdminKeyRevoked = Extract<AdminKeyEvent, { type: 'AdminKeyRevoked' }>;
export type AdminKeyCommand = Extract<OrganizationCommand, { type: `${string}AdminKey` }>;

/** Of an organization that exists, by whoever may in its role. @throws {DomainError} */
export const decideAdminKey = (command: AdminKeyCommand, state: LivingOrganization): readonly AdminKeyEvent[] => {
  const { actor, now: at } = command.metadata;
  const { org, adminKeys } = state;
  switch (command.type) {
    case 'CreateAdminKey': {
      refuseKeysOfKeys(command.metadata);
      const { record, expiresAt = null } = command.data;
      requireLaterEnd(expiresAt, at);
      requireRoomForKey(adminKeys, at);
      const end = expiresAt === null ? {} : { expires_at: expiresAt };
      return [{ type: 'AdminKeyCreated', data: { org, record, by: { ...actor }, ...end, at } }];
    }
    case 'RollAdminKey': {
      refuseKeysOfKeys(command.metadata);
      const { key, successor } = command.data;
      const ownEnd = adminKeys.get(key)?.expiresAt ?? null;
      // An overlap ends a key sooner, never later than it was to end.
      const expiresAt = ownEnd !== null && ownEnd < command.data.expiresAt ? ownEnd : command.data.expiresAt;
      requireRollable(adminKeys, key, expiresAt, at);
      const end = ownEnd === null ? {} : { successor_expires_at: ownEnd };
      const data = { org, key, successor, expires_at: expiresAt, ...end, by: { ...actor }, at };
      return [{ type: 'AdminKeyRolled', data }];
    }
    case 'RevokeAdminKey': {
      const { key } = command.data;
      return isRevocable(adminKeys, key) ? [{ type: 'AdminKeyRevoked', data: { org, key, at } }] : [];
    }
  }
};

/** An admin key is made by a signed-in admin or an operator, never by another admin key (rule KEY-7). */
const refuseKeysOfKeys = ({ actor }: CommandMetadata): void => {
  if (actor.type !== 'admin_key') return;
  throw new DomainError('insufficient_scope', {
    message:
      'An admin key makes and rolls no admin keys. Sign in to do so, or ask an operator: `npm run ags -- keys create --admin`.',
  });
};

const requireLaterEnd = (expiresAt: Timestamp | null, now: Timestamp): void => {
  if (expiresAt === null || now < expiresAt) return;
  throw new DomainError('validation_failed', {
    param: 'expires_at',
    message: 'The field expires_at must be later than now. Leave it out for a key without an end.',
  });
};

export const isAdminKeyEvent = (event: OrganizationEvent): event is AdminKeyEvent => event.type.startsWith('AdminKey');

export const evolveAdminKeys = (ring: KeyRing<AdminKey>, event: AdminKeyEvent): KeyRing<AdminKey> => {
  switch (event.type) {
    case 'AdminKeyCreated': {
      const { record, by: createdBy = null, expires_at: expiresAt = null, at } = event.data;
      return withKey(ring, { ...newKey(record, at), expiresAt, createdBy });
    }
    case 'AdminKeyRolled': {
      const { key, successor, expires_at: expiresAt, successor_expires_at: end = null, at } = event.data;
      const { by: createdBy = null } = event.data;
      const made = { ...newKey(successor, at, ring.get(key)), expiresAt: end, createdBy };
      return withKey(withChangedKey(ring, key, { expiresAt, successor: successor.key }), made);
    }
    case 'AdminKeyRevoked':
      return withChangedKey(ring, event.data.key, { revokedAt: event.data.at });
  }
};

/** Which of the keys that a person was shown live on when the person no longer may what an admin may. */
export interface EndOfKeys {
  readonly revocations: readonly AdminKeyRevoked[];
  readonly kept: readonly KeyId[];
}

/**
 * The end of the working admin keys of which this person was shown the secret, but for those that are to be kept.
 * @throws {DomainError} validation_failed: one to be kept that is not this person's; insufficient_role: who may make no key
 *   keeps none; api_key_revoked, api_key_expired
 */
export const endKeysOf = (
  state: LivingOrganization,
  user: UserId,
  keep: readonly KeyId[],
  { actor, now: at }: CommandMetadata,
): EndOfKeys => {
  if (keep.length > 0) requireRole(state, actor, 'admin', at, 'keep_keys');
  const own = [...state.adminKeys.values()].filter(({ createdBy }) => isPerson(createdBy, user));
  const stranger = keep.find((id) => !own.some(({ key }) => key === id));
  if (stranger !== undefined) {
    throw new DomainError('validation_failed', {
      param: 'keep_keys',
      message: `${stranger} is no admin key that this person made. GET /v1/org/keys names with created_by who made each.`,
    });
  }
  const working = own.filter((key) => isKeyActive(key, at)).map(({ key }) => key);
  const { org } = state;
  return {
    revocations: working
      .filter((key) => !keep.includes(key))
      .map((key) => ({ type: 'AdminKeyRevoked', data: { org, key, at } })),
    kept: working.filter((key) => keep.includes(key)),
  };
};

const isPerson = (actor: Actor | null, user: UserId): boolean => actor?.type === 'user' && actor.id === user;
