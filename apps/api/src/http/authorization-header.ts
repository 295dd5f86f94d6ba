import { DomainError } from '#libs/domain/kernel';

// The scheme is case-insensitive (RFC 9110, section 11.1); one space, one token (RFC 6750, section 2.1), nothing else.
const BEARER = /^bearer ([\x21-\x7e]+)$/i;

/**
 * The key in the Authorization header. Strict: a second header, another scheme, a second token or a missing one is refused
 * and never read another way.
 * @param values every value of the header, in order
 * @throws {DomainError} authentication_required when there is none, else invalid_api_key
 */
export const parseAuthorization = (values: readonly string[]): string => {
  if (values.length === 0) throw new DomainError('authentication_required');
  const match = values.length === 1 ? BEARER.exec(values[0] as string) : null;
  if (!match) throw new DomainError('invalid_api_key');
  return match[1] as string;
};
