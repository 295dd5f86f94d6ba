import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './api.d.ts';
import { learnFromAnswer } from './clock.ts';
import { ApiError, errorOf, unreachable } from './errors.ts';
import { queryText } from './query-text.ts';

export type Schemas = components['schemas'];

/**
 * The session of this window, as every request names it. Kept in memory, because browser storage must never hold a
 * token.
 */
const session: { user: string | null; org: string | null; csrf: string | null } = { user: null, org: null, csrf: null };

export const rememberSession = (me: Schemas['Me']): void => {
  session.user = me.user.id;
  session.org = me.org.id;
  session.csrf = me.csrf_token;
};

/** Whether `me` is the person and the organization that this window was opened with. */
export const isOwnSession = ({ user, org }: Schemas['Me']): boolean =>
  isOwnOrg(org.id) && (session.user === null || session.user === user.id);

export const isOwnOrg = (org: string): boolean => session.org === null || session.org === org;

const PATIENCE_MS = 30_000;
const ME = '/v1/me';

/**
 * Names the page's organization, proves that changes come from the page itself (rule PEOPLE-10), and sets the service's
 * clock from the answer's `Date`.
 */
const identity: Middleware = {
  onRequest({ request }) {
    if (session.org !== null && !request.url.endsWith(ME)) request.headers.set('Service-Org', session.org);
    if (session.csrf !== null && request.method !== 'GET') request.headers.set('Service-CSRF', session.csrf);
    return request;
  },
  onResponse({ response }) {
    learnFromAnswer(response.headers.get('Date'));
  },
};

export const api = createClient<paths>({
  baseUrl: location.origin,
  querySerializer: queryText,
  credentials: 'same-origin',
  cache: 'no-store',
  redirect: 'error',
  fetch: (request: Request) =>
    fetch(new Request(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(PATIENCE_MS)]) })),
});
api.use(identity);

/**
 * Called with every refusal. The shell sets it to handle an ended session, a role that was taken away, and an
 * organization that another window switched.
 */
export const onRefusal: { current: (error: ApiError) => void } = { current: () => undefined };

export interface Answer<Body> {
  readonly data?: Body | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The body of an answer.
 * @throws {ApiError} if the service refuses, or no answer comes
 */
export const bodyOf = async <Body>(asked: Promise<Answer<Body>>): Promise<NonNullable<Body>> =>
  (await answerOf(asked)).body;

/**
 * The body of a list's answer, and how many events the rows of that list are behind.
 * @throws {ApiError} as `bodyOf`
 */
export const answerOf = async <Body>(
  asked: Promise<Answer<Body>>,
): Promise<{ readonly body: NonNullable<Body>; readonly lag: number }> => {
  const { data, error, response } = await arrived(asked);
  if (data === undefined || data === null) throw refused(error, response);
  return { body: data, lag: Number(response.headers.get('Service-Projection-Lag') ?? 0) };
};

/**
 * Resolves if a request succeeded whose answer has no body.
 * @throws {ApiError} as `bodyOf`
 */
export const doneOf = async (asked: Promise<Answer<unknown>>): Promise<void> => {
  const { error, response } = await arrived(asked);
  if (!response.ok) throw refused(error, response);
};

const arrived = <Body>(asked: Promise<Answer<Body>>): Promise<Answer<Body>> =>
  asked.catch((failure: unknown) => {
    // An aborted request is the caller's own doing and is passed on; every other failure means that no answer came.
    if (failure instanceof DOMException && failure.name === 'AbortError') throw failure;
    throw unreachable();
  });

const refused = (error: unknown, response: Response): ApiError => {
  const refusal = errorOf(error, response);
  onRefusal.current(refusal);
  return refusal;
};

/** A new idempotency key. A form keeps one key for all retries of the same wish. */
export const newKey = (): string => `console-${crypto.randomUUID()}`;

export { ApiError };
