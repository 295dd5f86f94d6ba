import { canonicalize, digestOf, digestOfJson, type Digest } from '#libs/crypto';
import type { ActionMode } from './action.events.js';

/** The content of a request, without its sender and time. */
export interface CallRequest {
  readonly tool: string;
  /** The arguments in RFC 8785 form. */
  readonly canonicalArgs: string;
  readonly mode: ActionMode;
}

/**
 * The RFC 8785 form of `{args, mode, tool, tool_digest}`. The members are in JCS order, so the canonical arguments can
 * be inserted as text instead of being canonicalized again.
 */
export const requestTextOf = (request: CallRequest, toolDigest: Digest | null): string => {
  const tool = canonicalize(request.tool);
  const definition = canonicalize(toolDigest);
  return `{"args":${request.canonicalArgs},"mode":"${request.mode}","tool":${tool},"tool_digest":${definition}}`;
};

/** The digest of {@link requestTextOf} (rule GATE-8). */
export const requestDigestOf = (request: CallRequest, toolDigest: Digest | null): Digest =>
  digestOf(requestTextOf(request, toolDigest));

/**
 * Digest over the request digest and the two references. The signed intent is left out, so a retry may be signed anew
 * (rule GATE-12).
 */
export const comparisonDigestOf = (requestDigest: Digest, onBehalfOf: string | null, session: string | null): Digest =>
  digestOfJson({ on_behalf_of: onBehalfOf, request_digest: requestDigest, session });
