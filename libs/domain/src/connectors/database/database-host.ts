import { hostNameFault } from '../../kernel/index.js';

/** No socket's path, no user, nothing that a URL would end the host at or decode. */
const HOST_TEXT = /^[^\s\p{Cc}\\@?#/%[\]]+$/u;

/**
 * What a host breaks, as the end of a sentence; null for one that can be dialled. There is one spelling of each, the one
 * that a URL has: what a resolver would make an address of, such as 0x7f.1 or 2130706433, is written as that address.
 */
export const hostFault = (host: string): string | null => {
  if (host.startsWith('/')) return 'must be a name or an address: a socket in the file system cannot be reached.';
  if (host.startsWith('[')) return 'must be written without brackets.';
  const url = `http://${host.includes(':') ? `[${host}]` : host}`;
  if (!HOST_TEXT.test(host) || !URL.canParse(url))
    return 'must be a name, an IPv4 address or an IPv6 address alone; port and database are keys of their own.';
  const written = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (written !== host) return `must be written as it is dialled: ${written}.`;
  const fault = hostNameFault(url);
  return fault === null ? null : `${fault}, so it leads nowhere.`;
};
