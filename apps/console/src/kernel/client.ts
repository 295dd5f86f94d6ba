import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './api.d.ts';
import { learnFromAnswer } from './clock.ts';
import { ApiError, errorOf, unreachable } from './errors.ts';

export type Schemas = components['schemas'];

/** What every request says of its window. In memory alone: browser storage never holds a token. */
const session: { user: string | null; org: string | null; csrf: string | null } = { user: null, org: null, csrf: null };

export const rememberSession = (me: Schemas['Me']): void => {
  session.user = me.user.id;
  session.org = me.org.id;
  session.csrf = me.csrf_token;
};

/** Whether this window was opened by this person, in this organization. */
export const isOwnSession = ({ user, org }: Schemas['Me']): boolean =>
  isOwnOrg(org.id) && (session.user === null || session.user === user.id);

export const isOwnOrg = (org: string): boolean => session.org === null || session.org === org;

const PATIENCE_MS = 30_000;
const ME = '/v1/me';

/**
 * Names the page's organization, proves that its changes are its own (rule PEOPLE-10), and learns the service's time.
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
  credentials: 'same-origin',
  cache: 'no-store',
  redirect: 'error',
  fetch: (request: Request) =>
    fetch(new Request(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(PATIENCE_MS)]) })),
});
api.use(identity);

/** What happens when a session is over, a role was taken, or another window switched the organization. Set by the shell. */
export const onRefusal: { current: (error: ApiError) => void } = { current: () => undefined };

interface Answer<Body> {
  readonly data?: Body | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The body of an answer.
 * @throws {ApiError} for every refusal, and where no answer came
 */
export const bodyOf = async <Body>(asked: Promise<Answer<Body>>): Promise<NonNullable<Body>> =>
  (await answerOf(asked)).body;

/** The same, with how many events the rows of a list are behind. */
export const answerOf = async <Body>(
  asked: Promise<Answer<Body>>,
): Promise<{ readonly body: NonNullable<Body>; readonly lag: number }> => {
  const { data, error, response } = await arrived(asked);
  if (data === undefined || data === null) throw refused(error, response);
  return { body: data, lag: Number(response.headers.get('Service-Projection-Lag') ?? 0) };
};

/**
 * That it was done, where the answer has no body.
 * @throws {ApiError} as `bodyOf`
 */
export const doneOf = async (asked: Promise<Answer<unknown>>): Promise<void> => {
  const { error, response } = await arrived(asked);
  if (!response.ok) throw refused(error, response);
};

const arrived = <Body>(asked: Promise<Answer<Body>>): Promise<Answer<Body>> =>
  asked.catch((failure: unknown) => {
    // Whoever aborted the request waits for no answer; everything else is the network's.
    if (failure instanceof DOMException && failure.name === 'AbortError') throw failure;
    throw unreachable();
  });

const refused = (error: unknown, response: Response): ApiError => {
  const refusal = errorOf(error, response);
  onRefusal.current(refusal);
  return refusal;
};

/** One for each form that a person fills in, kept for its retries. */
export const newKey = (): string => `console-${crypto.randomUUID()}`;

export { ApiError };
