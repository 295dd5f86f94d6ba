import { type CallOutcome, failedOutcome, verdictOfStatus } from '#libs/domain/connectors';
import { DomainError, ERROR_CATALOGUE, RPC_CODE, StoreUnavailable } from '#libs/domain/kernel';
import { EgressFailure } from '#libs/infra/egress';

import { outcomeOfFailure } from '../call-outcomes.js';
import { recordedResult } from '../http-result.js';
import type { Redactor } from '../redactor.js';
import { MissingCredential } from './mcp-credential.js';
import { NoCommonRevision, RefusedQuestion } from './mcp-dialect.js';
import { recordedRpcError, recordedToolResult } from './mcp-result.js';
import type { RpcReply } from './mcp-wire.js';
import { UnreadableAnswer } from './rpc-message.js';

type Outcome = Pick<CallOutcome, 'status' | 'errorCode' | 'errorMessage'>;

/** JSON-RPC errors by which a server says that it has not begun: it could not read the request, or knows no such tool. */
const NOTHING_BEGAN: ReadonlySet<number> = new Set([
  RPC_CODE.invalidRequest,
  RPC_CODE.methodNotFound,
  RPC_CODE.invalidParams,
  RPC_CODE.parseError,
  RPC_CODE.headerMismatch,
  RPC_CODE.missingCapability,
  RPC_CODE.unsupportedVersion,
]);

const MAY_HAVE_RUN = 'The call may have run: read the state before you try again.';

const SUCCEEDED: Outcome = { status: 'succeeded', errorCode: null, errorMessage: null };
/** Half-done work is an error, too: `failed` would mean that certainly nothing was applied. */
const TOOL_FAILED: Outcome = {
  status: 'unknown',
  errorCode: 'upstream_error',
  errorMessage: `The tool said that it failed. Its own words are in the result. ${MAY_HAVE_RUN}`,
};
const REFUSED: Outcome = {
  status: 'failed',
  errorCode: 'upstream_error',
  errorMessage: 'The server refused the call and did not begin it. Its own words are in the result.',
};
const NOT_A_RESULT: Outcome = {
  status: 'unknown',
  errorCode: 'upstream_error',
  errorMessage: `The server answered with something that is no result of a tool. ${MAY_HAVE_RUN}`,
};
const WANTS_MORE: Outcome = {
  status: 'unknown',
  errorCode: 'upstream_error',
  errorMessage: `The tool asks for more than a call can give it: input from a person, or a task that is followed. ${MAY_HAVE_RUN}`,
};

const sent = (outcome: Outcome, result: string | null): CallOutcome => ({
  ...outcome,
  result,
  hasSent: true,
  retryAfterMs: null,
});

/** What the answer to tools/call came to, and what is kept of it. */
export const outcomeOfReply = async (
  reply: RpcReply,
  hasOutputSchema: boolean,
  redactor: Redactor,
): Promise<CallOutcome> => {
  switch (reply.kind) {
    case 'result': {
      const { result, hasLargeIntegers } = reply;
      const { resultType = 'complete', isError } = result;
      if (resultType !== 'complete') return sent(WANTS_MORE, null);
      const kept = await recordedToolResult({ result, hasLargeIntegers, hasOutputSchema }, redactor);
      if (kept === null) return sent(NOT_A_RESULT, null);
      return sent(isError === true ? TOOL_FAILED : SUCCEEDED, kept);
    }
    case 'error': {
      const outcome = NOTHING_BEGAN.has(reply.error.code) ? REFUSED : { ...TOOL_FAILED, errorMessage: RPC_ERROR };
      return sent(outcome, recordedRpcError(reply.error, redactor));
    }
    case 'refused':
      return sent(verdictOfStatus(reply.response.status, false), await recordedResult(reply.response, redactor));
    case 'accepted':
      return sent(NOT_A_RESULT, null);
  }
};

const TOO_LARGE = `The answer of the server is larger than what is read of one. ${MAY_HAVE_RUN} Ask for less then.`;
const RPC_ERROR = `The server answered with an error. Its own words are in the result. ${MAY_HAVE_RUN}`;

/** What became of tools/call where no answer to it came. Rethrows what is no doing of the world. */
export const outcomeOfCallFault = (fault: unknown): CallOutcome => {
  if (fault instanceof EgressFailure) {
    const outcome = outcomeOfFailure(fault, false);
    // No setting of this type makes room for more.
    return fault.reason === 'too_large' ? { ...outcome, errorMessage: TOO_LARGE } : outcome;
  }
  if (fault instanceof UnreadableAnswer) return sent(NOT_A_RESULT, null);
  throw fault;
};

/** Nothing was called, and why. Rethrows what is no doing of the world. */
export const outcomeOfPreparation = (fault: unknown): CallOutcome => {
  if (fault instanceof MissingCredential) return failedOutcome('credentials_missing', MISSING_CREDENTIALS);
  if (fault instanceof DomainError && fault.code === 'vault_unavailable') {
    return failedOutcome('vault_unavailable', `${fault.message} Nothing was sent.`);
  }
  // What a server said could not be brought into the log.
  if (fault instanceof StoreUnavailable) {
    return failedOutcome(
      'service_unavailable',
      `${ERROR_CATALOGUE.service_unavailable.message} The tool was not called.`,
    );
  }
  // What was sent asked for tools and called none.
  if (fault instanceof EgressFailure) {
    if (!fault.hasSent) return outcomeOfFailure(fault, false);
    return failedOutcome('connector_unavailable', fault.reason === 'timeout' ? TOO_SLOW : NO_WHOLE_ANSWER);
  }
  if (fault instanceof RefusedQuestion) return refusedQuestion(fault.status);
  if (fault instanceof NoCommonRevision) return failedOutcome('connector_unavailable', NO_REVISION);
  if (fault instanceof UnreadableAnswer) return failedOutcome('connector_unavailable', NO_LIST);
  throw fault;
};

const refusedQuestion = (status: number): CallOutcome => {
  const { errorCode, errorMessage } = verdictOfStatus(status, true);
  if (errorCode === 'upstream_auth_failed' || errorCode === 'upstream_rate_limited') {
    return failedOutcome(errorCode, `${errorMessage ?? ''} The tool was not called.`);
  }
  return failedOutcome(
    'connector_unavailable',
    `The server answered ${status} when it was asked for its tools, and the tool was not called.`,
  );
};

const MISSING_CREDENTIALS =
  'The connector has no credentials of the kind its config asks for, and nothing was sent. An admin can store them with PUT /v1/connectors/{id}/credentials.';
const NO_REVISION =
  'The server speaks no revision of MCP that this service speaks, and the tool was not called. An admin can test the connector, which says more.';
const NO_WHOLE_ANSWER = 'The server gave no whole answer when it was asked for its tools, and the tool was not called.';
const TOO_SLOW =
  'The server took too long to say which tools it has, and the tool was not called. A server that a bridge starts anew for each request is often too slow: start it once (docs/mcp.md).';
const NO_LIST =
  'The server did not say which tools it has, and the tool was not called. An admin can test the connector, which says more.';
