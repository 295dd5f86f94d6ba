/** Which headers a config may name, and what a header may hold (rules REST-3 and REST-6). */

const FIELD_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
/** One line: visible ASCII with inner spaces, none at the ends. A value may be empty. */
const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;
const HEADER_ARGUMENT_NAME = /^X-[A-Za-z0-9-]{1,64}$/;

/** Which the service, HTTP or a proxy speaks by (rule REST-3). */
const REFUSED_NAMES = new Set([
  'authorization',
  'cookie',
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'user-agent',
]);
const REFUSED_PREFIXES = ['proxy-', 'x-forwarded-', 'service-'];

/**
 * Headers that frame the message, or that promise what the client would then have to keep. They belong to the
 * connection, not to a config.
 */
const FRAMING_NAMES = new Set([
  'accept-encoding',
  'content-encoding',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
]);

/** Headers that let the upstream read another method or path than the policy judged. */
const OVERRIDING_NAMES = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
]);

const isReserved = (lowerCaseName: string): boolean =>
  REFUSED_PREFIXES.some((prefix) => lowerCaseName.startsWith(prefix)) ||
  FRAMING_NAMES.has(lowerCaseName) ||
  OVERRIDING_NAMES.has(lowerCaseName);

/** A default header, or the header that carries an idempotency key. */
export const isAllowedHeaderName = (name: string): boolean => {
  const lowerCaseName = name.toLowerCase();
  return FIELD_NAME.test(name) && !REFUSED_NAMES.has(lowerCaseName) && !isReserved(lowerCaseName);
};

/** The header that carries the credential: `Authorization` itself is its usual place. */
export const isCredentialHeaderName = (name: string): boolean =>
  name.toLowerCase() === 'authorization' || isAllowedHeaderName(name);

export const isAllowedHeaderArgumentName = (name: string): boolean =>
  HEADER_ARGUMENT_NAME.test(name) && isAllowedHeaderName(name);

export const isHeaderValue = (text: string, maxBytes: number): boolean =>
  text.length <= maxBytes && FIELD_VALUE.test(text);
