import {
  DomainError,
  type CommandMetadata,
  type MembershipId,
  type PasskeyId,
  type Timestamp,
} from '../kernel/index.js';
import { activeMembershipOf, type Membership } from './membership.js';
import type { LivingOrganization } from './organization.state.js';
import type { PasskeyEvent } from './passkey.events.js';
import type { Passkey, PasskeyCredential, PasskeyRing } from './passkey.state.js';

/** Of one person in one organization. */
export const PASSKEYS_MAX = 10;

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

/** Each by the person whose passkey it is, and by nobody else. */
export type PasskeyCommand =
  | Command<'RegisterPasskey', PasskeyCredential & { passkey: PasskeyId }>
  | Command<'RemovePasskey', { passkey: PasskeyId }>;

export const PASSKEY_COMMANDS: Readonly<Record<PasskeyCommand['type'], true>> = {
  RegisterPasskey: true,
  RemovePasskey: true,
};

/** Of an organization that exists. @throws {DomainError} insufficient_role, not_found, conflict */
export const decidePasskey = (command: PasskeyCommand, state: LivingOrganization): readonly PasskeyEvent[] => {
  const { now: at } = command.metadata;
  const { membership, user } = ownMembership(state, command.metadata);
  switch (command.type) {
    case 'RegisterPasskey': {
      const { passkey, credential, alg, publicKey, rpId } = command.data;
      requireNew(state.passkeys, credential);
      requireRoomForPasskey(state.passkeys, membership);
      const of = { org: state.org, passkey, membership, user, credential };
      return [{ type: 'PasskeyRegistered', data: { ...of, alg, public_key: publicKey, rp_id: rpId, at } }];
    }
    case 'RemovePasskey': {
      const found = passkeysOf(state.passkeys, membership).find(({ passkey }) => passkey === command.data.passkey);
      if (found === undefined) throw new DomainError('not_found');
      return [removalOf(state, found, at)];
    }
  }
};

/** Only a person has passkeys, and only one's own. */
const ownMembership = (state: LivingOrganization, { actor }: CommandMetadata): Membership => {
  const own = actor.type === 'user' && actor.id !== null ? activeMembershipOf(state.members, actor.id) : null;
  if (own === null) throw new DomainError('insufficient_role');
  return own;
};

const requireNew = (passkeys: PasskeyRing, credential: string): void => {
  if (!passkeys.has(credential)) return;
  throw new DomainError('conflict', {
    param: 'credential',
    message: 'This passkey is registered already. GET /v1/passkeys lists yours.',
  });
};

/** @throws {DomainError} conflict */
export const requireRoomForPasskey = (passkeys: PasskeyRing, membership: MembershipId): void => {
  if (passkeysOf(passkeys, membership).length < PASSKEYS_MAX) return;
  throw new DomainError('conflict', {
    message: `A person has at most ${PASSKEYS_MAX} passkeys in an organization. Remove one that you no longer use first.`,
  });
};

/** Oldest first. */
export const passkeysOf = (passkeys: PasskeyRing, membership: MembershipId): readonly Passkey[] =>
  [...passkeys.values()].filter((passkey) => passkey.membership === membership);

/**
 * The end of all passkeys of a membership, each by an event of its own, so that whoever reads the deeds needs to know of no
 * other way in which one ends.
 */
export const endPasskeysOf = (
  state: LivingOrganization,
  membership: MembershipId,
  at: Timestamp,
): readonly PasskeyEvent[] => passkeysOf(state.passkeys, membership).map((passkey) => removalOf(state, passkey, at));

const removalOf = (
  { org }: LivingOrganization,
  { passkey, membership, user, credential }: Passkey,
  at: Timestamp,
): PasskeyEvent => ({ type: 'PasskeyRemoved', data: { org, passkey, membership, user, credential, at } });

export const evolvePasskeys = (passkeys: PasskeyRing, { type, data }: PasskeyEvent): PasskeyRing => {
  const changed = new Map(passkeys);
  switch (type) {
    case 'PasskeyRegistered': {
      const { passkey, membership, user, credential, alg, public_key: publicKey, rp_id: rpId, at: createdAt } = data;
      return changed.set(credential, { passkey, membership, user, credential, alg, publicKey, rpId, createdAt });
    }
    case 'PasskeyRemoved':
      changed.delete(data.credential);
      return changed;
  }
};
