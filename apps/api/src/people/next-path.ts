/**
 * The page of the Console that was wanted before signing in; null for anything that a browser could take for another place.
 * A path of this origin: one slash, then what a path is written with (RFC 3986, section 3.3), a query, a fragment.
 */
export const nextPath = (text: string | undefined): string | null => {
  if (text === undefined || !/^\/(?![/\\])[A-Za-z0-9\-._~!$&'()*+,;=:@/?#%[\]]*$/.test(text)) return null;
  const url = URL.canParse(text, BASE) ? new URL(text, BASE) : null;
  // As a browser reads it: dots are resolved, and what is left must be what was written.
  if (url === null || url.origin !== BASE || `${url.pathname}${url.search}${url.hash}` !== text) return null;
  return /%(0[0-9a-f]|1[0-9a-f]|2f|5c|7f)/i.test(url.pathname) || url.pathname.includes('//') ? null : text;
};

const BASE = 'https://console.invalid';
