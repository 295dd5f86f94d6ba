import { canonicalize, digestOf, digestOfJson, type Digest } from '#libs/crypto';
import type { ActionMode } from './action.events.js';

/** What one request is, apart from who sends it and when. */
export interface CallRequest {
  readonly tool: string;
  /** The arguments in RFC 8785 form. */
  readonly canonicalArgs: string;
  readonly mode: ActionMode;
}

/**
 * The digest of the RFC 8785 form of `{args, mode, tool, tool_digest}` (rule GATE-8). Members stand in JCS order, so
 * the canonical arguments are spliced in instead of being written twice.
 */
export const requestDigestOf = (request: CallRequest, toolDigest: Digest | null): Digest => {
  const tool = canonicalize(request.tool);
  const definition = canonicalize(toolDigest);
  return digestOf(
    `{"args":${request.canonicalArgs},"mode":"${request.mode}","tool":${tool},"tool_digest":${definition}}`,
  );
};

/** The request digest plus the two references; a new signed intent does not matter (rule GATE-12). */
export const comparisonDigestOf = (requestDigest: Digest, onBehalfOf: string | null, session: string | null): Digest =>
  digestOfJson({ on_behalf_of: onBehalfOf, request_digest: requestDigest, session });
