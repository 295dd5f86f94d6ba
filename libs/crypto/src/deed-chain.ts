import { type Checked, closed, nullable, matching, oneOf, timestamp } from './closed-schema.js';
import type { DeedBody } from './deed-schema.js';
import type { Digest } from './digest.js';
import { KID_PATTERN } from './ed25519.js';

/** A seal key as the public key set lists it. Its window is half open. */
export const sealKeySchema = closed({
  kid: matching(KID_PATTERN),
  alg: oneOf('Ed25519'),
  public_key: matching(/^ed25519:[A-Za-z0-9_-]{43}$/),
  activated_at: timestamp,
  retired_at: nullable(timestamp),
  revoked_at: nullable(timestamp),
});

export type SealKeyEntry = Checked<typeof sealKeySchema>;

/** What the place of a deed in its chain depends on. */
export type LinkedBody = Pick<DeedBody, 'org' | 'seq' | 'issued_at' | 'chain' | 'admin'>;

/** The end of a chain as far as it is known: what the next deed must continue. */
export interface ChainPosition {
  readonly org: string;
  /** The last deed's seq; 0 before the first deed. */
  readonly seq: number;
  /** The last deed's body hash; null before the first deed. */
  readonly bodyHash: Digest | null;
  /** The last deed's time; null when it is not known. */
  readonly issuedAt: string | null;
}

/** A deed that does not continue the chain. Closed; judged in this order. */
export type LinkFault = 'wrong_org' | 'gap' | 'duplicate' | 'broken_link' | 'time_went_back';

/** A key that does not vouch for a deed although its signature holds. Closed; judged in this order. */
export type KeyFault = 'seal_key_revoked' | 'outside_key_window';

/** Where every organization's chain begins. */
export const startOfChain = (org: string): ChainPosition => ({ org, seq: 0, bodyHash: null, issuedAt: null });

/** Where the chain stands after this deed. Only for a deed without a fault. */
export const afterDeed = (body: LinkedBody, bodyHash: Digest): ChainPosition => ({
  org: body.org,
  seq: body.seq,
  bodyHash,
  issuedAt: body.issued_at,
});

/** What keeps a deed from being the next of its chain, or null. The same rule when it is appended and when checked. */
export const linkFault = (position: ChainPosition, body: LinkedBody): LinkFault | null => {
  if (body.org !== position.org) return 'wrong_org';
  if (body.seq > position.seq + 1) return 'gap';
  if (body.seq <= position.seq) return 'duplicate';
  if (body.chain.prev_hash !== position.bodyHash) return 'broken_link';
  // Timestamps have one spelling of one length, so they compare as texts.
  if (position.issuedAt !== null && body.issued_at < position.issuedAt) return 'time_went_back';
  return null;
};

/**
 * A deed is valid under a key when `activated_at <= issued_at < retired_at` and the key is not revoked (rule DEED-3). A
 * revocation has no window: it takes the word from every deed under the key, also from older ones.
 */
export const keyFault = (key: SealKeyEntry, issuedAt: string): KeyFault | null => {
  if (key.revoked_at !== null) return 'seal_key_revoked';
  const isRetired = key.retired_at !== null && issuedAt >= key.retired_at;
  return issuedAt < key.activated_at || isRetired ? 'outside_key_window' : null;
};

/** The kid that an admin deed `seal_key.revoked` takes the word from, or null: the chain itself carries revocations. */
export const revokedKid = ({ admin }: LinkedBody): string | null =>
  admin?.action === 'seal_key.revoked' ? admin.target.id : null;

/** The time of the next deed: the clock's, but never before the deed before it (rule DEED-4). */
export const nextIssuedAt = (position: ChainPosition, now: string): string =>
  position.issuedAt !== null && position.issuedAt > now ? position.issuedAt : now;
