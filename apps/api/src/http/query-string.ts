import { DomainError } from '#libs/domain/kernel';

/** Query parameters by name, in the order sent. A name that ends in `[]` may be sent several times; all others once. */
export type Query = ReadonlyMap<string, readonly string[]>;

const MAX_PARAMETERS = 100;
/** The most of a name that is repeated back in `param`. */
const MAX_NAME_CHARACTERS = 100;

/**
 * Reads the query of a request target by the rules of HTML forms (`+` is a space), strictly: broken percent-encoding,
 * bytes that are not UTF-8 and U+0000 are refused instead of guessed at.
 * @throws {DomainError} validation_failed with the parameter's name
 */
export const parseQuery = (target: string): Query => {
  const query = new Map<string, string[]>();
  const start = target.indexOf('?');
  if (start < 0 || start === target.length - 1) return query;
  const pairs = target.slice(start + 1).split('&');
  if (pairs.length > MAX_PARAMETERS) {
    throw new DomainError('validation_failed', {
      message: `The query has more than ${MAX_PARAMETERS} parameters. Send fewer.`,
    });
  }
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), null);
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1), name);
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else if (name.endsWith('[]')) values.push(value);
    else throw queryProblem(name, 'must be sent once');
  }
  return query;
};

/** Names the parameter and says what it must be. `next` is a sentence of its own, where there is more to say. */
export const queryProblem = (name: string, problem: string, next: string | null = null): DomainError => {
  const param = name.slice(0, MAX_NAME_CHARACTERS);
  return new DomainError('validation_failed', {
    param,
    message: `The query parameter ${JSON.stringify(param)} ${problem}.${next === null ? '' : ` ${next}`}`,
  });
};

const decode = (text: string, name: string | null): string => {
  const decoded = decodeComponent(text.replaceAll('+', ' '));
  if (decoded === null)
    throw undecodable(name, 'is not percent-encoded UTF-8', 'Encode it and send the request again.');
  // No text column holds U+0000, and no name or filter contains it.
  if (decoded.includes('\0')) throw undecodable(name, 'holds a zero byte (%00)', 'Leave it out.');
  return decoded;
};

const undecodable = (name: string | null, problem: string, next: string): DomainError =>
  name === null
    ? new DomainError('validation_failed', { message: `The name of a query parameter ${problem}. ${next}` })
    : queryProblem(name, problem, next);

const decodeComponent = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
};
