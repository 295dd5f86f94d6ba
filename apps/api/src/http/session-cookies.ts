import { stringifySetCookie } from 'cookie';
import type { Exchange } from './exchange.js';
import type { Site } from './site.js';

/** What cookies carry: the session, its CSRF token, and which browser asked for a sign-in mail or to sign in by a passkey. */
export type CookieKind = 'session' | 'csrf' | 'login' | 'passkey';

/** Beside `Secure`, the path and no domain (docs/sign-in.md, Sessions and cookies). */
const ATTRIBUTES = {
  session: { httpOnly: true, sameSite: 'lax' },
  csrf: { httpOnly: false, sameSite: 'strict' },
  login: { httpOnly: true, sameSite: 'strict' },
  passkey: { httpOnly: true, sameSite: 'strict' },
} as const;

/** `__Host-` (RFC 6265bis, section 4.1.3.2): Secure, Path=/, no Domain. In development over http the names are bare. */
const cookieName = (kind: CookieKind, { isSecure }: Pick<Site, 'isSecure'>): string =>
  `${isSecure ? '__Host-' : ''}service_${kind}`;

/**
 * The cookie of the names that this site uses, never of the other's. A name that was sent twice counts as not sent: one of
 * the two may have been planted.
 */
export const readCookie = (exchange: Exchange, kind: CookieKind, site: Pick<Site, 'isSecure'>): string | null => {
  const name = cookieName(kind, site);
  const values = exchange
    .headerValues('Cookie')
    .flatMap((header) => header.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? (values[0] as string) : null;
};

export const setCookie = (
  kind: CookieKind,
  value: string,
  maxAgeSeconds: number,
  { isSecure }: Pick<Site, 'isSecure'>,
): string =>
  stringifySetCookie({
    name: cookieName(kind, { isSecure }),
    value,
    path: '/',
    maxAge: maxAgeSeconds,
    secure: isSecure,
    ...ATTRIBUTES[kind],
  });

/** The browser forgets it. */
export const clearCookie = (kind: CookieKind, site: Pick<Site, 'isSecure'>): string => setCookie(kind, '', 0, site);
