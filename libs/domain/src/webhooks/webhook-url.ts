import { DomainError, hostNameFault } from '../kernel/index.js';

const URL_MAX_CHARACTERS = 2_048;
/** Nothing that a URL parser would drop, decode or read as something else. */
const WHOLE_URL = /^https?:\/\/[^\s\p{Cc}\\@?#/]+(?:[/?][\x21-\x7e]*)?$/u;

/**
 * Where an endpoint receives, exactly as it was written.
 * @throws {DomainError} validation_failed, param `url`. Whether the address may be reached is the egress door's to say
 */
export const checkedWebhookUrl = (text: string, isProduction: boolean): string => {
  const fault = faultOf(text, isProduction);
  if (fault === null) return text;
  throw new DomainError('validation_failed', { param: 'url', message: `The field url ${fault}` });
};

/** What it breaks, the first rule first. Never quoted: what stands in it may be a password. */
const faultOf = (text: string, isProduction: boolean): string | null => {
  if ([...text].length > URL_MAX_CHARACTERS) return `must have at most ${URL_MAX_CHARACTERS} characters.`;
  const isScheme = isProduction ? /^https:\/\// : /^https?:\/\//;
  if (!isScheme.test(text)) return `must begin with ${isProduction ? 'https://' : 'http:// or https://'}.`;
  const authority = /^https?:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  if (authority.includes('@')) return 'must have no user or password: deliveries are proved by their signature.';
  if (text.includes('#')) return 'must have no fragment: nothing from "#" on.';
  if (!WHOLE_URL.test(text) || !URL.canParse(text)) {
    return 'must be a whole URL: a host, with a port from 0 to 65535 where it has one, and no blanks or backslashes.';
  }
  const hostFault = hostNameFault(text);
  return hostFault === null ? null : `${hostFault}, so it leads nowhere.`;
};
