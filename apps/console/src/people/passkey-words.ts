/** Where this page stands, as far as passkeys go. */
export type PasskeyPlace =
  | { readonly is: 'usable' }
  /** The address of the same page at a name that has passkeys; null if there is none. */
  | { readonly is: 'address'; readonly host: string; readonly elsewhere: string | null }
  | { readonly is: 'unsupported' };

/** Browsers have no passkeys at an IP address. `[::1]` is one, too. */
const ADDRESS = /^(?:[\d.]+|\[.*\])$/;
const LOOPBACK = /^(?:127\.[\d.]+|\[::1\])$/;

/** @param hasPasskeys whether the browser knows them */
export const passkeyPlaceOf = (page: string, hasPasskeys: boolean): PasskeyPlace => {
  const url = new URL(page);
  const { hostname: host } = url;
  if (ADDRESS.test(host)) {
    url.hostname = 'localhost';
    // In development the service is at this name, too.
    return { is: 'address', host, elsewhere: LOOPBACK.test(host) && url.protocol === 'http:' ? url.href : null };
  }
  return { is: hasPasskeys ? 'usable' : 'unsupported' };
};

interface Known {
  readonly discoverable: boolean | null;
  readonly rp_id: string;
  readonly counter_fell_at: string | null;
}

/** What to know of a passkey, the most important first: whether it may have been copied, and where it does not work. */
export const passkeyNotes = ({ discoverable, rp_id: host, counter_fell_at: fell }: Known, here: string): string[] => [
  ...(fell === null
    ? []
    : ['It counted its signatures wrongly, as a copy would. If nobody else has it, ignore this; else remove it.']),
  ...(host === here ? [] : [`It works at ${host}, not here.`]),
  ...(discoverable === false ? ['Its device does not offer it at a sign-in.'] : []),
];
