import type { Schemas } from '../kernel/client.ts';
import { viaInWords } from './session-words.ts';

type SecurityEvent = Schemas['SecurityEvent'];
type Type = SecurityEvent['type'];

/** The choices of the filter, each with the event types that it stands for. */
const GROUPS = {
  'sign-ins': ['user.signed_in', 'user.signed_out', 'login_link.issued'],
  failures: ['user.sign_in_failed'],
  keys: [
    'admin_key.created',
    'admin_key.rolled',
    'admin_key.revoked',
    'agent_key.created',
    'agent_key.rolled',
    'agent_key.revoked',
    'intent_key.added',
    'intent_key.removed',
  ],
  passkeys: ['passkey.registered', 'passkey.removed'],
  addresses: ['member.address_set'],
  exports: ['export.started'],
} as const satisfies Readonly<Record<string, readonly Type[]>>;

export const GROUP_CHOICES: readonly (readonly [group: keyof typeof GROUPS, word: string])[] = [
  ['sign-ins', 'sign-ins and sign-outs'],
  ['failures', 'failed sign-ins'],
  ['keys', 'keys'],
  ['passkeys', 'passkeys'],
  ['addresses', 'changed addresses'],
  ['exports', 'exports'],
];

/**
 * The event types that a filter asks for; null means all. A word that is no group is passed on, for the service to
 * judge.
 */
export const typesOf = (filter: string | null): readonly Type[] | null =>
  filter === null ? null : filter.split(',').flatMap((word) => GROUPS[word as keyof typeof GROUPS] ?? [word as Type]);

const WHY: Readonly<Record<NonNullable<SecurityEvent['why']>, string>> = {
  signed_out: 'signed out',
  everywhere: 'signed out everywhere',
  ended: 'session ended from another session',
  switched: 'switched to another organization',
  address_set: 'session ended, because an operator changed the address',
  wrong_code: 'sign-in failed: somebody entered a wrong code',
  code_used_up: 'sign-in failed: a code is used up by wrong tries',
};

/** Whether the sentence about an event begins with the person whom it concerns, rather than with its actor. */
export const isOfPerson = ({ type }: Pick<SecurityEvent, 'type'>): boolean => type.startsWith('user.');

/**
 * What happened, as the rest of a sentence that begins with the actor, or with the person concerned (see isOfPerson).
 * @param person the name of the person concerned
 */
export const eventInWords = (
  { type, via, why, key, export: range }: Pick<SecurityEvent, 'type' | 'via' | 'why' | 'key' | 'export'>,
  person: string,
): string => {
  const prefix = key?.prefix ?? null;
  const begins = prefix === null ? '' : `; the new key begins with ${prefix}`;
  switch (type) {
    case 'user.signed_in':
      return `signed in${via === null ? '' : ` ${viaInWords(via)}`}`;
    case 'user.signed_out':
      return why === null ? 'signed out' : WHY[why];
    case 'user.sign_in_failed':
      return why === null ? 'sign-in failed' : WHY[why];
    case 'login_link.issued':
      return `made a sign-in link for ${person}`;
    case 'member.address_set':
      return `changed the address of ${person}`;
    case 'passkey.registered':
      return 'added a passkey';
    case 'passkey.removed':
      return `removed a passkey of ${person}`;
    case 'admin_key.created':
      return `issued an admin key${begins}`;
    case 'admin_key.rolled':
      return `rolled an admin key${begins}`;
    case 'admin_key.revoked':
      return 'revoked an admin key';
    case 'agent_key.created':
      return `issued a key for an agent${begins}`;
    case 'agent_key.rolled':
      return `rolled a key of an agent${begins}`;
    case 'agent_key.revoked':
      return 'revoked a key of an agent';
    case 'intent_key.added':
      return 'added an intent key to an agent';
    case 'intent_key.removed':
      return 'removed an intent key from an agent';
    case 'export.started':
      return exportInWords(range);
  }
};

/**
 * Names the range of deeds in the bundle, by which they can be found, rather than the range of times that was asked
 * for.
 */
const exportInWords = (range: SecurityEvent['export']): string => {
  const [first, last] = [range?.first_seq ?? null, range?.last_seq ?? null];
  if (first === null || last === null) return 'exported a bundle without deeds';
  return first === last ? `exported the deed #${first}` : `exported the deeds #${first} to #${last}`;
};
