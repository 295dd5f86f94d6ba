import { canonicalize, type JsonObject, type JsonValue } from '#libs/crypto';

import type { ArgumentFault } from '../connector-driver.port.js';
import type { HttpRequest } from '../http-request.js';
import { codeHostArgumentsFault, textOf } from './code-host-arguments.js';
import { basePathOf, type CodeHostConfig, originOf } from './code-host-config.js';
import { markedMessage, markedText } from './code-host-marker.js';
import { encodedPath } from './code-host-names.js';

export type PlannedRequest =
  { readonly ok: true; readonly request: HttpRequest } | { readonly ok: false; readonly fault: ArgumentFault };

const USER_AGENT = 'Service-Connectors/1.0';
/** Sent with every request, so that answers stay as they were tested. */
const API_VERSION = '2022-11-28';

export type Parameter = readonly [name: string, value: string];

/**
 * The request of a call, or why there is none. Pure.
 * @param action null for a request that is shown, and not sent
 */
export const planCodeHost = (
  config: CodeHostConfig,
  toolName: string,
  args: JsonObject,
  action: string | null,
): PlannedRequest => {
  const fault = codeHostArgumentsFault(config, toolName, args);
  if (fault !== null) return { ok: false, fault };
  return { ok: true, request: requestOf(config, SHAPES[toolName]?.(args, action) as Shape) };
};

interface Shape {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: readonly Parameter[];
  readonly body?: JsonObject;
}

const only = (args: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(args, name)).map((name) => [name, args[name] as JsonValue]));
const given = (args: JsonObject, ...names: readonly string[]): readonly Parameter[] =>
  names.filter((name) => Object.hasOwn(args, name)).map((name) => [name, textOf(args, name)]);
/** A text that is given with the mark under it; one that is not stays as it is. */
const marked = (args: JsonObject, action: string | null): JsonObject =>
  Object.hasOwn(args, 'body') ? { body: markedText(textOf(args, 'body'), action) } : {};

/** Where a repository is. Its name is one of the config's. */
export const repositoryPath = (args: JsonObject): string => `/repos/${textOf(args, 'repository')}`;
export const contentsPath = (args: JsonObject): string =>
  `${repositoryPath(args)}/contents/${encodedPath(textOf(args, 'path'))}`;
export const refPath = (args: JsonObject, where: 'ref' | 'refs' | 'matching-refs'): string =>
  `${repositoryPath(args)}/git/${where}/heads/${encodedPath(textOf(args, 'branch'))}`;
export const issuePath = (args: JsonObject): string => `${repositoryPath(args)}/issues/${textOf(args, 'number')}`;
export const pullPath = (args: JsonObject): string => `${repositoryPath(args)}/pulls/${textOf(args, 'number')}`;

/** What a list holds at most where the call does not say. */
const PAGE = 10;
const page = (args: JsonObject): readonly Parameter[] => [
  ['per_page', textOf({ limit: PAGE, ...args }, 'limit')],
  ...given(args, 'page'),
];
const newest = (args: JsonObject, ...filters: readonly string[]): readonly Parameter[] => [
  ...given(args, ...filters),
  ['sort', 'created'],
  ['direction', 'desc'],
  ...page(args),
];

const SHAPES: Readonly<Record<string, (args: JsonObject, action: string | null) => Shape>> = {
  get_file: (args) => ({ method: 'GET', path: contentsPath(args), query: given(args, 'ref') }),
  get_branch: (args) => ({
    method: 'GET',
    path: `${repositoryPath(args)}/branches/${encodedPath(textOf(args, 'branch'))}`,
  }),
  list_issues: (args) => ({ method: 'GET', path: `${repositoryPath(args)}/issues`, query: newest(args, 'state') }),
  get_issue: (args) => ({ method: 'GET', path: issuePath(args) }),
  list_comments: (args) => ({ method: 'GET', path: `${issuePath(args)}/comments`, query: page(args) }),
  list_pull_requests: (args) => ({
    method: 'GET',
    path: `${repositoryPath(args)}/pulls`,
    query: newest(args, 'state', 'base'),
  }),
  get_pull_request: (args) => ({ method: 'GET', path: pullPath(args) }),
  create_issue: (args, action) => ({
    method: 'POST',
    path: `${repositoryPath(args)}/issues`,
    body: { ...only(args, 'title'), body: markedText(textOf(args, 'body'), action) },
  }),
  update_issue: (args, action) => ({
    method: 'PATCH',
    path: issuePath(args),
    body: { ...only(args, 'title', 'state'), ...marked(args, action) },
  }),
  create_comment: (args, action) => ({
    method: 'POST',
    path: `${issuePath(args)}/comments`,
    body: marked(args, action),
  }),
  create_branch: (args) => ({
    method: 'POST',
    path: `${repositoryPath(args)}/git/refs`,
    body: { ref: `refs/heads/${textOf(args, 'branch')}`, ...only(args, 'sha') },
  }),
  put_file: (args, action) => ({
    method: 'PUT',
    path: contentsPath(args),
    body: {
      ...only(args, 'branch', 'sha'),
      message: markedMessage(textOf(args, 'message'), action),
      content: Buffer.from(textOf(args, 'content')).toString('base64'),
    },
  }),
  create_pull_request: (args, action) => ({
    method: 'POST',
    path: `${repositoryPath(args)}/pulls`,
    body: {
      ...only(args, 'head', 'base', 'title'),
      draft: args['draft'] === true,
      // Otherwise whoever owns the base could push to the head.
      maintainer_can_modify: false,
      body: markedText(textOf(args, 'body'), action),
    },
  }),
  delete_comment: (args) => ({ method: 'DELETE', path: commentPath(args, textOf(args, 'comment')) }),
  delete_file: (args, action) => ({
    method: 'DELETE',
    path: contentsPath(args),
    body: { ...only(args, 'branch', 'sha'), message: markedMessage(textOf(args, 'message'), action) },
  }),
  delete_branch: (args) => ({ method: 'DELETE', path: refPath(args, 'refs') }),
  merge_pull_request: (args) => ({
    method: 'PUT',
    path: `${pullPath(args)}/merge`,
    body: { sha: textOf(args, 'head_sha'), merge_method: textOf(args, 'method') },
  }),
};

export const commentPath = (args: JsonObject, id: string): string => `${repositoryPath(args)}/issues/comments/${id}`;

const requestOf = (config: CodeHostConfig, { method, path, query, body }: Shape): HttpRequest => ({
  method,
  origin: originOf(config),
  path: `${basePathOf(config)}${path}`,
  query: (query ?? []).map((pair) => pair.map(encodeURIComponent).join('=')).join('&'),
  headers: [
    ['Accept', 'application/vnd.github+json'],
    ['X-GitHub-Api-Version', API_VERSION],
    ['User-Agent', USER_AGENT],
    ...(body === undefined ? [] : [['Content-Type', 'application/json'] as const]),
  ],
  body: body === undefined ? null : canonicalize(body),
  sensitive: [],
});

/** A read beside the calls: of what a call would change, of what one has changed, and of a connection test. */
export const planCodeHostRead = (config: CodeHostConfig, path: string, query: readonly Parameter[] = []): HttpRequest =>
  requestOf(config, { method: 'GET', path, query });
