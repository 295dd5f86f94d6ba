import { DomainError, ForeseenFault } from '#libs/domain/kernel';
import { isDatabaseUnusable } from '../postgres/index.js';

/**
 * Redaction of log records (rule OPS-2). It runs on every record, so that no call site has to remember it. It is a net
 * below the rule that secrets, arguments, results and bodies are never passed to a logger at all.
 */

/**
 * Attribute names whose values are dropped, compared in lower case and without `-` and `_`: `set-cookie`, `Set_Cookie`
 * and `setCookie` are one name.
 */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'setcookie',
  'password',
  'secret',
  'token',
  'apikey',
  'dsn',
  'databaseurl',
  'smtpurl',
  'proxyauthorization',
  'connectionstring',
  'credential',
  'credentials',
  'pepper',
  'privatekey',
]);

/** Deeper groups are cut: a log line is no place for a tree, and cycles end here too. */
const MAX_DEPTH = 8;
const MAX_TEXT_CHARACTERS = 16_384;
const MAX_ITEMS = 100;

const API_KEY_TEXT = /\b(svc_(?:live|test))_[0-9A-Za-z_]+/g;
// Greedy up to the last @ before the path: a password may itself hold an @.
const URL_USERINFO = /\b([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/?#"'<>]*@/gi;

/** Rewrites API keys to `svc_live_[redacted]` or `svc_test_[redacted]` and the userinfo of URLs to `[redacted]`. */
export const redactText = (text: string): string => {
  const clipped = text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}[cut]` : text;
  return clipped.replace(API_KEY_TEXT, '$1_[redacted]').replace(URL_USERINFO, '$1[redacted]@');
};

/** A copy that may be written: plain JSON values only, secret names dropped at every depth, texts rewritten. */
export const redactAttributes = (attributes: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  redactMembers(Object.entries(attributes), 0);

const isSecretName = (name: string): boolean => SECRET_NAMES.has(name.toLowerCase().replace(/[-_]/g, ''));

const redactMembers = (members: Iterable<readonly [unknown, unknown]>, depth: number): Record<string, unknown> => {
  // Without a prototype, a member named __proto__ is a member like any other.
  const kept = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of members) {
    const name = redactText(String(key));
    if (!isSecretName(name)) kept[name] = redactValue(value, depth + 1);
  }
  return kept;
};

const redactValue = (value: unknown, depth: number): unknown => {
  switch (typeof value) {
    case 'string':
      return redactText(value);
    case 'bigint':
      return value.toString();
    case 'function':
    case 'symbol':
      return `[${typeof value}]`;
    case 'object':
      return value === null ? null : redactObject(value, depth);
    default:
      return value;
  }
};

const redactObject = (value: object, depth: number): unknown => {
  if (depth > MAX_DEPTH) return '[deeper]';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (value instanceof Error) return redactError(value, depth);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return redactItems(value as unknown[], depth);
  if (value instanceof Set) return redactItems([...(value as Set<unknown>)], depth);
  if (value instanceof Map) return redactMembers(value as Map<unknown, unknown>, depth);
  return redactMembers(Object.entries(value), depth);
};

const redactItems = (items: readonly unknown[], depth: number): unknown[] =>
  items.slice(0, MAX_ITEMS).map((item) => redactValue(item, depth + 1));

/**
 * Name, code, message and stack; then what caused it. Other properties of an error may quote a whole request. What was
 * foreseen has no stack: where in the program it was met says nothing of it, and hides what does.
 *
 * @param isPartOfForeseen whether it caused what was foreseen. The cause of an answer is judged by itself: it may be ours
 */
const redactError = (error: Error, depth: number, isPartOfForeseen = false): Record<string, unknown> => {
  const isWithin = isPartOfForeseen || error instanceof ForeseenFault;
  const { cause } = error;
  const redacted = (part: unknown): unknown =>
    isWithin && part instanceof Error && depth < MAX_DEPTH
      ? redactError(part, depth + 1, true)
      : redactValue(part, depth + 1);
  return {
    name: error.name,
    ...('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
      ? { code: redactValue(error.code, depth + 1) }
      : {}),
    message: redactText(error.message),
    ...(isWithin || isForeseenFault(error) ? {} : { stack: redactText(error.stack ?? '') }),
    ...(cause === undefined ? {} : { cause: redacted(cause) }),
    ...(error instanceof AggregateError ? { errors: error.errors.slice(0, MAX_ITEMS).map(redacted) } : {}),
  };
};

/** What the surroundings did or refused, in words of its own. */
const isForeseenFault = (error: Error): boolean =>
  (error instanceof DomainError && error.code !== 'internal_error') || isDatabaseUnusable(error);
