import { type CheckFinding, failedCheck, passedCheck, skippedCheck } from '#libs/domain/connectors';
import type { RestConfig, RestTool } from '#libs/domain/connectors/rest';
import type { ErrorCode } from '#libs/domain/kernel';

import type { EndedCall } from '../http-caller.js';

/** The test request of a config as the tool that it would be; null where it names none. */
export const testToolOf = ({ test }: RestConfig): RestTool | null =>
  test === undefined
    ? null
    : { name: 'test', method: test.method, path: test.path, side_effect: 'read', idempotent: true, args: {} };

export const NO_TEST_REQUEST: CheckFinding = skippedCheck(
  'The config names no test request, so nobody knows whether the system takes the credential.',
  'Name one as `test` in the config: a GET or HEAD of a path that only a good credential may read.',
);

/** What the answer to the test request says. Of the answer only its status is told: not a word of it is kept. */
export const authFindingOf = (config: RestConfig, { method, path }: RestTool, ended: EndedCall): CheckFinding => {
  const { errorCode } = ended.outcome;
  if (errorCode === null) {
    return passedCheck(`${method} ${path} was answered with ${ended.answer?.response.status ?? 'success'}.`);
  }
  const status = ended.answer?.response.status ?? null;
  const request = `${method} ${path}`;
  return FINDINGS[errorCode]?.({ request, status, config }) ?? unanswered(request, status);
};

interface Told {
  readonly request: string;
  /** Null where no whole answer came. */
  readonly status: number | null;
  readonly config: RestConfig;
}

const answered = ({ request, status }: Told, otherwise: string): string =>
  status === null ? `${request} was answered with ${otherwise}.` : `${request} was answered with ${status}.`;

const CHANGED = failedCheck('The connector was changed while it was tested, and nothing was sent.', 'Test again.');

const FINDINGS: Readonly<Partial<Record<ErrorCode, (told: Told) => CheckFinding>>> = {
  upstream_auth_failed: (told) => {
    const detail = answered(told, '401 or 403');
    return told.config.auth.kind === 'none'
      ? failedCheck(`${detail} The system asks for a credential.`, 'Set auth in the config, and store a credential.')
      : failedCheck(
          `${detail} The system does not take the credential, or not for this path.`,
          'Store a credential that may read it, and check auth.kind: how the credential travels.',
        );
  },
  upstream_not_found: (told) =>
    failedCheck(answered(told, '404'), 'Check base_url and the path of `test` in the config.'),
  upstream_rate_limited: (told) => ({
    ...failedCheck(
      `${answered(told, '429')} The system limits requests, and has not said whether it takes the credential.`,
      'Test again later.',
    ),
    onlyWarns: true,
  }),
  destination_blocked: ({ request, status }) =>
    status === null
      ? failedCheck(
          `The egress rules do not let ${request} out, and nothing was sent.`,
          'Change base_url in the config.',
        )
      : failedCheck(
          `${request} was answered with a redirect to where the connector may not go, which it did not follow.`,
          'Name in base_url and `test` what the redirect leads to.',
        ),
  connector_unavailable: ({ request }) =>
    failedCheck(
      `No connection came up for ${request}, and nothing was sent.`,
      'Test again; the checks above say more.',
    ),
  timeout: ({ request, config }) =>
    failedCheck(
      `${request} had no whole answer within ${config.timeout_ms} ms.`,
      'Choose a test request that is answered sooner, or raise timeout_ms.',
    ),
  response_too_large: ({ request, config }) =>
    failedCheck(
      `The answer to ${request} is larger than max_response_bytes, ${config.max_response_bytes}.`,
      'Choose a test request with a smaller answer, such as a HEAD.',
    ),
  credentials_missing: () =>
    failedCheck('The credential was removed while it was tested, and nothing was sent.', 'Test again.'),
  vault_unavailable: () => failedCheck('The credential could not be opened, and nothing was sent.', 'Test again.'),
  service_unavailable: () =>
    failedCheck('Whether the connector still stands could not be read, and nothing was sent.', 'Test again.'),
  conflict: () => CHANGED,
  not_found: () => CHANGED,
};

const unanswered = (request: string, status: number | null): CheckFinding => {
  if (status === null) {
    return failedCheck(
      `The connection broke before ${request} had a whole answer.`,
      'Test again. If it stays so, look at the log of the system or of what stands before it.',
    );
  }
  const isRedirect = status >= 300 && status < 400;
  return failedCheck(
    `${request} was answered with ${status}.`,
    isRedirect
      ? 'Name in base_url and `test` what the redirect leads to: none is followed, or no more than three.'
      : 'Choose a test request that the system answers with 2xx, or look at why it does not.',
  );
};
