import type { Actor, UserId } from '../kernel/index.js';
import type { PeopleDirectory } from './people.ports.js';

/** Who invited somebody, as the one who is invited is told. */
export interface Inviter {
  readonly type: 'user' | 'admin_key' | 'operator';
  /** Where the member reads mail; null of whoever is no member, and of a member who has no address. */
  readonly email: string | null;
}

/** @param actor null: nobody knows, which is nobody of the organization */
export const inviterOf = async (
  people: Pick<PeopleDirectory, 'addressesOf'>,
  actor: Actor | null,
): Promise<Inviter> => {
  if (actor?.type === 'admin_key') return { type: 'admin_key', email: null };
  if (actor?.type !== 'user') return { type: 'operator', email: null };
  const user = actor.id as UserId;
  return { type: 'user', email: (await people.addressesOf([user])).get(user) ?? null };
};

/** The same in a sentence. */
export const inviterInWords = ({ type, email }: Inviter): string => {
  if (email !== null) return email;
  return {
    user: 'a member without an address',
    admin_key: 'an admin key of the organization',
    operator: 'an operator',
  }[type];
};
