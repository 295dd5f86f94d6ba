import type { JsonValue } from '#libs/crypto';

import { isObject } from '../config-reader.js';
import { isRetriedStatus, type UpstreamVerdict, verdictOfStatus } from '../upstream-mapping.js';

/** An answer of the host, as much of it as it is judged by. */
export interface CodeHostAnswer {
  readonly status: number;
  /** Undefined where the body is no JSON. */
  readonly body: JsonValue | undefined;
  readonly isEmpty: boolean;
  /** The body whatever it is, empty where it is no text. */
  readonly text: () => string;
  /** Values of headers, by lower-case name. */
  readonly header: (name: string) => string | null;
}

export interface JudgedCodeHost extends UpstreamVerdict {
  readonly isPassing: boolean;
}

/** What came of a request (docs/connectors-code-host.md, What a call answers). The first row that fits. */
export const judgeCodeHost = (answer: CodeHostAnswer, toolName: string, isRead: boolean): JudgedCodeHost => {
  const { status } = answer;
  if (status === 403 || status === 429) return ended(isRateLimited(answer) ? RATE_LIMITED : REFUSED);
  if (status === 404) return ended(NOT_FOUND);
  if (status >= 300 && status < 400) return ended(RENAMED);
  if (status === 409 || status === 422) return ended(CONFLICT);
  if (status >= 200 && status < 300) return ended(verdictOfSuccess(answer, toolName, isRead));
  return { ...verdictOfStatus(status, isRead), isPassing: isRead && isRetriedStatus(status) };
};

/** What a refusal says whose body was cut off or too large; null where only the body would say what came of the call. */
export const judgeCutOffCodeHost = (answer: CodeHostAnswer): UpstreamVerdict | null =>
  answer.status >= 300 && answer.status < 500 ? judgeCodeHost(answer, '', false) : null;

const ended = (verdict: UpstreamVerdict): JudgedCodeHost => ({ ...verdict, isPassing: false });

/**
 * A refusal for having asked too often looks like one for want of a permission. A secondary limit may have no header at all,
 * and say it in its words alone: in the message, in an error beside it, or on a page of something that stands before the host.
 */
const isRateLimited = ({ status, text, header }: CodeHostAnswer): boolean =>
  status === 429 ||
  header('retry-after') !== null ||
  header('x-ratelimit-remaining')?.trim() === '0' ||
  /rate limit|rate-limits-for-the-rest-api|abuse detection/i.test(text());

/** Tools whose answer has no body. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['delete_comment', 'delete_branch']);

const verdictOfSuccess = (
  { status, body, isEmpty }: CodeHostAnswer,
  toolName: string,
  isRead: boolean,
): UpstreamVerdict => {
  if (status === 202) return isRead ? NOT_READY : ACCEPTED;
  if (WITHOUT_BODY.has(toolName) && isEmpty) return SUCCEEDED;
  const isReadable = isObject(body) || (isRead && Array.isArray(body));
  if (!isReadable) return isRead ? UNREADABLE : UNREADABLE_WRITE;
  const isUnmerged = toolName === 'merge_pull_request' && isObject(body) && body['merged'] !== true;
  return isUnmerged ? UNREADABLE_WRITE : SUCCEEDED;
};

const SUCCEEDED: UpstreamVerdict = { status: 'succeeded', errorCode: null, errorMessage: null };
const failed = (errorCode: UpstreamVerdict['errorCode'], errorMessage: string): UpstreamVerdict => ({
  status: 'failed',
  errorCode,
  errorMessage,
});
const unknown = (errorMessage: string): UpstreamVerdict => ({
  status: 'unknown',
  errorCode: 'upstream_error',
  errorMessage: `${errorMessage} The call may have run: read the state before you try again.`,
});

const RATE_LIMITED = failed(
  'upstream_rate_limited',
  'The code host limits the requests of this token, and did not apply the call. Try again later, and more slowly.',
);
const REFUSED = failed(
  'upstream_auth_failed',
  'The code host refused the call: the token lacks a permission for it, or a rule of the repository forbids it. Its own words are in the result.',
);
const NOT_FOUND = failed(
  'upstream_not_found',
  'The code host answered 404: nothing is there, or the token may not see it. Check the arguments, then the repositories and permissions of the token.',
);
const RENAMED = failed(
  'upstream_error',
  'The repository, the branch or the issue was renamed, moved or transferred, and the call was not applied. Look at it on the host: an admin can put the new name of a repository into the config.',
);
const CONFLICT = failed(
  'upstream_error',
  'The code host did not apply the call, because it does not fit what is there. Its own words are in the result.',
);
const UNREADABLE = failed('upstream_error', 'The code host did not answer as it should to a read.');
const NOT_READY = failed('upstream_error', 'The code host has no answer yet. Try again later.');
const UNREADABLE_WRITE = unknown('The code host did not answer as it should to a write.');
const ACCEPTED = unknown('The code host took the call, and runs it later.');
