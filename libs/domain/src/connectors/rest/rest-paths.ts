/**
 * Paths (rule REST-4). A path is compared, cleaned and sent as the same text: nothing here decodes, so there is no
 * second reading of it.
 */

/** What a path argument may hold, besides being `.` or `..`. */
const PATH_VALUE = /^[A-Za-z0-9._~-]{1,256}$/;
/** What a path of a config may hold between slashes: RFC 3986 characters of a segment, without percent signs. */
const LITERAL_SEGMENT = /^[A-Za-z0-9._~!$&'()*+,;=:@-]+$/;
const PLACEHOLDER = /^\{([^{}]+)\}$/;

export const isPathValue = (text: string): boolean => PATH_VALUE.test(text) && text !== '.' && text !== '..';

/** Empty and dot segments resolved the way servers do; a last slash stays, because servers tell it apart. */
export const cleanedPath = (path: string): string => {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const isDirectory = kept.length > 0 && /\/\.{0,2}$/.test(path);
  return `/${kept.join('/')}${isDirectory ? '/' : ''}`;
};

/** `/v1/users` covers itself and `/v1/users/42`, never `/v1/users-admin`. A last slash of the prefix changes nothing. */
const isUnderPrefix = (path: string, prefix: string): boolean => {
  const base = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
  return path === base || path.startsWith(`${base}/`);
};

export const isUnderAnyPrefix = (path: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => isUnderPrefix(path, prefix));

/**
 * What servers read as a dot, a slash, a backslash, the end of a text or another percent sign once they have decoded it:
 * such a path has two readings. So has a dot segment with parameters (`..;x`), which some servers drop.
 */
const AMBIGUOUS_PATH = /%(?:2e|2f|5c|00|25)|\/\.{1,2};/i;

/**
 * Whether a path that an upstream named, with the path of `base_url` in front as it is sent, is one that a tool could have:
 * below `base_url`, under an allowed prefix, in its own cleaned form and with one reading only.
 */
export const isAllowedPath = (path: string, baseUrl: string, prefixes: readonly string[]): boolean => {
  const basePath = basePathOf(baseUrl);
  const own = path.slice(basePath.length);
  if (!path.startsWith(basePath) || AMBIGUOUS_PATH.test(own)) return false;
  return (own === '' || cleanedPath(own) === own) && isUnderAnyPrefix(own, prefixes);
};

/** What stands before every path of a connector; no slash at its end. */
export const basePathOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, '');

/** Why a path of a config cannot be used, or null. */
export const literalPathFault = (path: string): string | null => {
  if (!path.startsWith('/')) return 'must begin with a slash';
  if (cleanedPath(path) !== path) return 'must not hold empty, "." or ".." segments';
  const segments = path.split('/').filter((segment) => segment !== '');
  return segments.every((segment) => LITERAL_SEGMENT.test(segment))
    ? null
    : "may hold letters, digits and -._~!$&'()*+,;=:@ between slashes";
};

export type PathTemplate = readonly ({ readonly literal: string } | { readonly placeholder: string })[];

/** The segments of a tool's path. Null when a placeholder is only part of a segment or a segment is malformed. */
export const parsePathTemplate = (path: string): PathTemplate | null => {
  const stubbed = path.replace(/\{[^{}/]+\}/g, 'x');
  if (literalPathFault(stubbed) !== null) return null;
  const segments = path.split('/').slice(1);
  const template: (PathTemplate[number] | null)[] = segments.map((segment) => {
    const placeholder = PLACEHOLDER.exec(segment)?.[1];
    if (placeholder !== undefined) return { placeholder };
    return /[{}]/.test(segment) ? null : { literal: segment };
  });
  return template.every((segment) => segment !== null) ? template : null;
};

export const placeholdersOf = (template: PathTemplate): readonly string[] =>
  template.flatMap((segment) => ('placeholder' in segment ? [segment.placeholder] : []));

/** The path with its placeholders replaced; `valueOf` gives text that {@link isPathValue} accepted. */
export const fillPath = (template: PathTemplate, valueOf: (placeholder: string) => string): string =>
  template.map((segment) => `/${'placeholder' in segment ? valueOf(segment.placeholder) : segment.literal}`).join('');
