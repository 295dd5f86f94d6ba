import { isAllowedPath, type RestConfig, type RestTool } from '#libs/domain/connectors/rest';
import type { EgressResponse } from '#libs/infra/egress';

import type { RedirectDecision, RequestTarget } from '../http-caller.js';

/** Hops of one call (rule REST-11). */
const MAX_REDIRECTS = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/**
 * Reads follow, within the same scheme, host and port; writes never do (rule REST-11). A hop carries the credential, so
 * it stays under `allowed_path_prefixes` as every request does.
 */
export const redirectOf = (
  config: RestConfig,
  tool: RestTool,
  response: EgressResponse,
  from: RequestTarget,
  followed: number,
): RedirectDecision => {
  const location = response.headers.find(([name]) => name === 'location')?.[1];
  const isRead = tool.side_effect === 'read';
  if (config.redirects === 'none' || !isRead || !REDIRECT_STATUSES.has(response.status) || location === undefined) {
    return { kind: 'none' };
  }
  const base = `${from.origin}${from.path}`;
  if (!URL.canParse(location, base)) return { kind: 'none' };
  const next = new URL(location, base);
  if (next.origin !== from.origin || next.username !== '' || next.password !== '') return { kind: 'blocked' };
  if (!isAllowedPath(next.pathname, config.base_url, config.allowed_path_prefixes)) return { kind: 'blocked' };
  if (followed >= MAX_REDIRECTS) return { kind: 'too_many' };
  return { kind: 'follow', target: { origin: from.origin, path: next.pathname, query: next.search.slice(1) } };
};
