import { type CallOutcome, failedOutcome, type UpstreamVerdict, verdictOfStatus } from '#libs/domain/connectors';
import { ERROR_CATALOGUE, type ErrorCode } from '#libs/domain/kernel';
import type { EgressFailure, EgressResponse } from '#libs/infra/egress';

/** What an answer says although its body did not come whole. Null: what one of its status says of any type. */
export type CutOffJudge = (head: Pick<EgressResponse, 'status' | 'headers'>) => UpstreamVerdict | null;

const unknownOutcome = (errorCode: ErrorCode, errorMessage: string): CallOutcome => ({
  ...failedOutcome(errorCode, errorMessage),
  status: 'unknown',
  hasSent: true,
});

/** What a request without a whole answer came to (rule EXEC-4). */
export const outcomeOfFailure = (failure: EgressFailure, isRead: boolean, judgeCutOff?: CutOffJudge): CallOutcome => {
  switch (failure.reason) {
    case 'blocked':
      return failedOutcome('destination_blocked', `${ERROR_CATALOGUE.destination_blocked.message} Nothing was sent.`);
    case 'unreachable':
      return failedOutcome('connector_unavailable', 'The upstream service could not be reached, and nothing was sent.');
    case 'untrusted':
      return failedOutcome(
        'connector_unavailable',
        'The upstream service showed a certificate that is not good for its name, and nothing was sent.',
      );
    case 'withdrawn':
      return failedOutcome(failure.code ?? 'service_unavailable', withdrawnMessage(failure.code));
    case 'timeout':
      return failure.hasSent
        ? unknownOutcome(
            'timeout',
            'The upstream service did not answer in time. The call may have run: read the state before you try again.',
          )
        : failedOutcome('connector_unavailable', 'No connection could be made in time, and nothing was sent.');
    case 'too_large':
      return (
        ofHead(failure, judgeCutOff) ?? unknownOutcome('response_too_large', ERROR_CATALOGUE.response_too_large.message)
      );
    case 'broken':
      return ofHead(failure, judgeCutOff) ?? brokenOutcome(failure, isRead, judgeCutOff === undefined);
  }
};

const withdrawnMessage = (code: ErrorCode | null): string =>
  `${ERROR_CATALOGUE[code ?? 'service_unavailable'].message} Nothing was sent.`;

/** What the type makes of a status and headers whose body was cut off. */
const ofHead = ({ status, headers }: EgressFailure, judgeCutOff: CutOffJudge | undefined): CallOutcome | null => {
  const verdict = status === null ? null : (judgeCutOff?.({ status, headers }) ?? null);
  if (verdict === null) return null;
  const { status: ended, errorCode, errorMessage } = verdict;
  return { ...failedOutcome('upstream_error', ''), status: ended, errorCode, errorMessage, hasSent: true };
};

/** A refusal whose words were cut off is still a refusal, where its type does not say otherwise; anything else may have run. */
const brokenOutcome = ({ status }: EgressFailure, isRead: boolean, isByStatus: boolean): CallOutcome => {
  if (isByStatus && status !== null && status >= 400 && status < 500) {
    return { ...failedOutcome('upstream_error', ''), ...verdictOfStatus(status, isRead), hasSent: true };
  }
  return unknownOutcome(
    'upstream_error',
    'The connection to the upstream service broke before its answer was complete. The call may have run: read the state before you try again.',
  );
};
