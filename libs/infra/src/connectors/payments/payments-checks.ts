import {
  type CallOutcome,
  type CheckFinding,
  COMMON_CHECKS,
  type ConnectorCheck,
  failedCheck,
  passedCheck,
  type TestedConnector,
} from '#libs/domain/connectors';
import { paymentsConfigOf } from '#libs/domain/connectors/payments';

import type { EndedPayment } from './payments-line.js';

type Read = (
  tested: TestedConnector,
  path: string,
  query: readonly (readonly [name: string, value: string])[],
) => Promise<EndedPayment>;

const ONE = [['limit', '1']] as const;

/** What the tools of the type read. What a key may write cannot be tried without writing. */
const LISTS = [
  ['charges', '/v1/charges'],
  ['customers', '/v1/customers'],
  ['payment intents', '/v1/payment_intents'],
  ['refunds', '/v1/refunds'],
  ['subscriptions', '/v1/subscriptions'],
] as const;

/** Whether the key is taken, whether the processor speaks the version of the config, and what the key may read. */
export const paymentsChecks = (read: Read): readonly ConnectorCheck[] => [
  { name: 'auth', restsOn: COMMON_CHECKS, run: (tested) => authFinding(read, tested) },
  { name: 'version', restsOn: ['auth'], run: (tested) => versionFinding(read, tested) },
  { name: 'permissions', restsOn: ['auth'], run: (tested) => permissionsFinding(read, tested) },
];

const FIRST = LISTS[0][1];

const authFinding = async (read: Read, tested: TestedConnector): Promise<CheckFinding> => {
  const ended = await read(tested, FIRST, ONE);
  const status = ended.answer?.response.status ?? null;
  // A key that may not read charges is a key of the account all the same.
  if (ended.outcome.errorCode === null || status === 403) return passedCheck('The processor takes the key.');
  return unansweredFinding(ended.outcome);
};

const versionFinding = async (read: Read, tested: TestedConnector): Promise<CheckFinding> => {
  const { outcome, answer } = await read(tested, FIRST, ONE);
  if (answer === null) return unansweredFinding(outcome);
  const wanted = paymentsConfigOf(tested.connector.config).api_version;
  const sent = answer.response.headers.find(([name]) => name === 'stripe-version')?.[1];
  if (sent === wanted) return passedCheck(`The processor answers in version ${wanted}.`);
  const detail =
    sent === undefined
      ? 'The processor does not say in which version it answers.'
      : `The processor answers in another version than ${wanted}.`;
  return failedCheck(detail, 'Set api_version to a version that the processor has.');
};

const permissionsFinding = async (read: Read, tested: TestedConnector): Promise<CheckFinding> => {
  const refused: string[] = [];
  for (const [name, path] of LISTS) {
    const { outcome, answer } = await read(tested, path, ONE);
    if (answer?.response.status === 403) refused.push(name);
    else if (outcome.errorCode !== null) return { ...unansweredFinding(outcome), onlyWarns: true };
  }
  if (refused.length === 0) {
    return passedCheck('The key may read all that the tools read. What it may write cannot be tried without writing.');
  }
  return {
    ...failedCheck(
      `The key may not read ${refused.join(', ')}: tools that do will be refused.`,
      'Give the restricted key these permissions at the processor, or allow no tool that needs them.',
    ),
    onlyWarns: true,
  };
};

const unansweredFinding = ({ errorCode, errorMessage, breaker }: CallOutcome): CheckFinding => {
  const finding = failedCheck(errorMessage ?? 'The processor did not answer.', FIXES[errorCode ?? ''] ?? 'Test again.');
  return breaker === undefined ? finding : { ...finding, breaker };
};

const FIXES: Readonly<Record<string, string>> = {
  upstream_auth_failed: 'Store a key of the processor’s sandbox that is good: sk_test_ or rk_test_.',
  payments_live_key_refused: 'Store a key of the processor’s sandbox, and enable the connector again.',
  payments_livemode_detected: 'Store a key of the processor’s sandbox, and enable the connector again.',
  upstream_rate_limited: 'Test again later.',
};
