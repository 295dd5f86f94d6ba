import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import type { Exchange } from './exchange.js';
import { readCookie } from './session-cookies.js';
import type { Site } from './site.js';

const CSRF_HEADER = 'Service-CSRF';

const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Fetch Metadata: this very origin, or a person at the address bar. A sibling of the domain is another site. */
const OWN_FETCH_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

export const isChanging = (method: string): boolean => CHANGING.has(method);

/**
 * The first proof (rule PEOPLE-10): a page of another site must not make a browser send a change. A request without
 * either header comes from no browser of this decade; then the token alone decides.
 * @throws {DomainError} csrf_failed
 */
export const requireOwnSite = (exchange: Exchange, site: Site): void => {
  const fetchSites = exchange.headerValues('Sec-Fetch-Site');
  const origins = exchange.headerValues('Origin');
  const isForeign = fetchSites.length > 1 || (fetchSites.length === 1 && !OWN_FETCH_SITES.has(fetchSites[0] as string));
  const isElsewhere = origins.length > 1 || (origins.length === 1 && !site.isOwnOrigin(origins[0] as string));
  if (!isForeign && !isElsewhere) return;
  throw new DomainError('csrf_failed', {
    message:
      'The request came from another site than this service’s own, so it was refused. Open the Console at its own ' +
      'address and try again there.',
  });
};

/**
 * The second proof (rule PEOPLE-10): the header must equal the cookie, which another site cannot read, and its hash the
 * session's, which another session's cookie does not.
 * @throws {DomainError} csrf_failed
 */
export const requireCsrfToken = (exchange: Exchange, csrfHash: Uint8Array, site: Site): void => {
  const sent = exchange.headerValues(CSRF_HEADER);
  const cookie = readCookie(exchange, 'csrf', site);
  const [token] = sent;
  const isRight =
    sent.length === 1 && token !== undefined && cookie !== null && isEqual(token, cookie) && isHashOf(csrfHash, token);
  if (!isRight) throw new DomainError('csrf_failed', { param: CSRF_HEADER });
};

/** Null where the cookie is not the session's: what is told to scripts is what they may send. */
export const csrfTokenOf = (exchange: Exchange, csrfHash: Uint8Array, site: Site): string | null => {
  const cookie = readCookie(exchange, 'csrf', site);
  return cookie !== null && isHashOf(csrfHash, cookie) ? cookie : null;
};

/** Over digests, which are of one length: the time tells nothing about where two texts differ. */
const isEqual = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));

const isHashOf = (hash: Uint8Array, token: string): boolean => {
  const own = sha256(token);
  return own.byteLength === hash.byteLength && timingSafeEqual(own, hash);
};
