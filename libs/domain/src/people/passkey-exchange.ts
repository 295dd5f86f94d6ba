import { decodeBase64url, EncodingError, encodeBase64url } from '#libs/crypto';
import { DomainError, type MembershipId } from '../kernel/index.js';
import type { RelyingParty } from './passkey.ports.js';
import { secretHash } from './secrets.js';
import { RECENT_SIGN_IN_MS, SESSION_ABSOLUTE_MS } from './session-limits.js';

/** A browser writes some 130 bytes. */
const CLIENT_DATA_MAX_BYTES = 4_096;

/**
 * The challenge that a client says its device signed, by which its row is found. Nothing else of the text is believed, and this
 * only once the signature over it holds.
 * @returns its hash too; null for what holds none
 */
export const challengeIn = (
  clientDataJson: string,
): { readonly challenge: string; readonly hash: Uint8Array } | null => {
  const challenge = memberOf(clientDataJson);
  const hash = typeof challenge === 'string' ? secretHash(challenge) : null;
  return hash === null ? null : { challenge: challenge as string, hash };
};

const memberOf = (clientDataJson: string): unknown => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      decodeBase64url(clientDataJson, CLIENT_DATA_MAX_BYTES),
    );
    return (JSON.parse(text) as { readonly challenge?: unknown } | null)?.challenge;
  } catch (error) {
    if (error instanceof EncodingError || error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
};

/** By which a device tells accounts apart: one a membership, so that a person has passkeys in two organizations on one device. */
export const userHandleOf = (membership: MembershipId): string => encodeBase64url(Buffer.from(membership, 'utf8'));

/** @throws {DomainError} not_found: the service is at a place where browsers have no passkeys */
export const requireParty = (party: RelyingParty | null): RelyingParty => {
  if (party !== null) return party;
  throw new DomainError('not_found', {
    message:
      'There are no passkeys here: browsers have them at a host name over https, or at http://localhost in development, ' +
      'and never at an IP address. The operator sets SERVICE_BASE_URL to one.',
  });
};

/**
 * Rule PEOPLE-13. Whoever switches organizations keeps the absolute end, and so the time of signing in, which a new row does not tell.
 */
export const isRecentSignIn = (session: { readonly expiresAtMs: number }, nowMs: number): boolean => {
  const signedInAtMs = session.expiresAtMs - SESSION_ABSOLUTE_MS;
  return nowMs - signedInAtMs < RECENT_SIGN_IN_MS;
};

/** @throws {DomainError} recent_sign_in_required */
export const requireRecentSignIn = (session: { readonly expiresAtMs: number }, nowMs: number): void => {
  if (!isRecentSignIn(session, nowMs)) throw new DomainError('recent_sign_in_required');
};
