/**
 * Identifiers (rule FORM-1): a prefix plus 26 characters, 128 bits in Crockford's base 32. Ids are opaque: nothing may
 * be read out of their bits, not even an order in time.
 */
import { encodeId, isId, sha256 } from '#libs/crypto';

/** Every prefix with the brand of its id. */
export interface IdBrands {
  org: 'OrgId';
  usr: 'UserId';
  mem: 'MembershipId';
  ses: 'SessionId';
  agt: 'AgentId';
  key: 'KeyId';
  act: 'ActionId';
  deed: 'DeedId';
  apr: 'ApprovalId';
  evt: 'EventId';
  req: 'RequestId';
  con: 'ConnectorId';
  pol: 'PolicyId';
  pv: 'PolicyVersionId';
  whk: 'WebhookId';
  sug: 'SuggestionId';
  /** The id of a replay of recorded actions. */
  rpl: 'ReplayId';
  pky: 'PasskeyId';
}

export type IdPrefix = keyof IdBrands;

/**
 * A checked id. Only code that has checked or made it has this type, as {@link parseId} and {@link idOf} do, so inner
 * code never checks again.
 */
export type Id<Prefix extends IdPrefix> = string & { readonly __brand: IdBrands[Prefix] };

export type OrgId = Id<'org'>;
export type UserId = Id<'usr'>;
export type MembershipId = Id<'mem'>;
export type SessionId = Id<'ses'>;
export type AgentId = Id<'agt'>;
export type KeyId = Id<'key'>;
export type ActionId = Id<'act'>;
export type DeedId = Id<'deed'>;
export type ApprovalId = Id<'apr'>;
export type RequestId = Id<'req'>;
export type ConnectorId = Id<'con'>;
export type PolicyId = Id<'pol'>;
export type PolicyVersionId = Id<'pv'>;
export type WebhookId = Id<'whk'>;
export type ReplayId = Id<'rpl'>;
export type EventId = Id<'evt'>;
export type PasskeyId = Id<'pky'>;

/** The id in `text`; null if it is not an id with that prefix. */
export const parseId = <Prefix extends IdPrefix>(prefix: Prefix, text: unknown): Id<Prefix> | null =>
  typeof text === 'string' && isId(prefix, text) ? (text as Id<Prefix>) : null;

/** The id of 16 given bytes: random ones from {@link Randomness}, or derived ones. */
export const idOf = <Prefix extends IdPrefix>(prefix: Prefix, bytes: Uint8Array): Id<Prefix> =>
  encodeId(prefix, bytes) as Id<Prefix>;

/**
 * The id of an object that a command creates: the same for every retry of that command, so a retry after a crash never
 * makes a second object.
 */
export const derivedId = <Prefix extends IdPrefix>(prefix: Prefix, commandId: string): Id<Prefix> =>
  idOf(prefix, sha256(`service/object-id/v1\n${prefix}\n${commandId}`).subarray(0, 16));
