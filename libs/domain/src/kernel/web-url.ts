import { hostNameFault } from './host-labels.js';

const URL_MAX_CHARACTERS = 2_048;
/** Nothing that a URL parser would drop, decode or read as something else. */
const WHOLE_URL = /^https?:\/\/[^\s\p{Cc}\\@?#/]+(?:[/?][\x21-\x7e]*)?$/u;

interface WebUrlRules {
  /** Production takes https alone. */
  readonly isProduction: boolean;
  /** Why no user and no password is needed, behind a colon. */
  readonly whyNoUser: string;
}

/**
 * What the URL breaks of somebody whom the service sends to, the first rule first; null where it breaks none. Never quoted:
 * what stands in it may be a password.
 */
export const webUrlFault = (text: string, { isProduction, whyNoUser }: WebUrlRules): string | null => {
  if ([...text].length > URL_MAX_CHARACTERS) return `must have at most ${URL_MAX_CHARACTERS} characters.`;
  const isScheme = isProduction ? /^https:\/\// : /^https?:\/\//;
  if (!isScheme.test(text)) return `must begin with ${isProduction ? 'https://' : 'http:// or https://'}.`;
  const authority = /^https?:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  if (authority.includes('@')) return `must have no user or password: ${whyNoUser}.`;
  if (text.includes('#')) return 'must have no fragment: nothing from "#" on.';
  if (!WHOLE_URL.test(text) || !URL.canParse(text)) {
    return 'must be a whole URL: a host, with a port from 0 to 65535 where it has one, and no blanks or backslashes.';
  }
  const hostFault = hostNameFault(text);
  return hostFault === null ? null : `${hostFault}, so it leads nowhere.`;
};
