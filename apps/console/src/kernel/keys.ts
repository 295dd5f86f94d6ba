import type { Client, MethodResponse } from 'openapi-fetch';
import type { paths } from './api.d.ts';

/** The routes that answer a GET with JSON. */
export type Route = {
  [R in keyof paths]: paths[R]['get'] extends { responses: { 200: { content: { 'application/json': unknown } } } }
    ? R
    : never;
}[keyof paths];

/** What a route is asked with: the parts of its path in braces, and its query. */
export type Params<R extends Route> = paths[R]['get'] extends { parameters: infer P extends object }
  ? Pick<P, Extract<keyof P, 'path' | 'query'>>
  : never;

/** The body of a route's answer. */
export type Body<R extends Route> = MethodResponse<Client<paths>, 'get', R>;

/** Routes whose context is not the first part of their path, because what they read changes apart from the rest. */
const OWN_CONTEXTS = {
  '/v1/org/members': 'members',
  '/v1/org/keys': 'admin-keys',
  '/v1/webhooks/{id}/deliveries': 'deliveries',
  '/.well-known/service/keys.json': 'seal-keys',
  '/.well-known/service/checkpoint-keys.json': 'checkpoint-keys',
} as const satisfies Partial<Record<Route, string>>;

type FirstPart<R> = R extends `/v1/${infer Name}/${string}` ? Name : R extends `/v1/${infer Name}` ? Name : never;

/**
 * What changes together, such as all that the API tells about agents. A context is the first part of the keys of its
 * queries; mutations and events name the contexts that they change, and never a key.
 */
export type Context = {
  [R in Route]: R extends keyof typeof OWN_CONTEXTS ? (typeof OWN_CONTEXTS)[R] : FirstPart<R>;
}[Route];

/**
 * The context, the route and what it is asked with; for a list and for a query that is kept apart from others of its
 * route, also a name.
 */
export type Key = readonly [Context, Route, object, ...string[]];

/** How a list's key ends, by which the event stream finds the rows that it patches. */
export const LIST = 'list';

export const contextOf = (route: Route): Context =>
  (OWN_CONTEXTS as Readonly<Partial<Record<Route, Context>>>)[route] ?? (route.split('/')[2] as Context);

/**
 * The key of a query, derived from its route, so that it cannot be spelled in two ways: whoever asks the same gets the
 * same cached answer.
 */
export const keyOf = <R extends Route>(route: R, params: Params<R>, ...names: readonly string[]): Key => [
  contextOf(route),
  route,
  params,
  ...names,
];
