import { ARGS_PROFILE, type JsonObject, parseStrictJson } from '#libs/crypto';
import { compilePolicy, evaluatePolicy } from '#libs/domain/policies';
import { dearObjects } from '../../libs/crypto/src/testing/dear-json.js';
import { canonicalRequest } from '../../libs/domain/src/gate/submission.js';
import { MANY_VALUES, policyOf, UNWATCHED_POLICIES } from '../../libs/domain/src/policies/testing/dear-conditions.js';
import { Redactor } from '../../libs/infra/src/connectors/redactor.js';
import { REDACTION_BOMBS } from '../../libs/infra/src/connectors/testing/redaction-bombs.js';
import { redactText } from '../../libs/infra/src/logging/redaction.js';
import { HOSTILE_SOURCES, LARGE_POLICIES } from '../policies/policy-bombs.js';
import { hundredRules, ordinaryCall } from '../policies/hundred-rules.js';
import { policyInput } from '../support/given-policy-input.js';
import { absolute, print, say } from './figure.js';
import { quantile } from './pace.js';

const RUNS = 5;

/** What somebody hostile may send, and the one piece of work that it makes without a turn for anybody else. */
type Hold = readonly [name: string, work: () => unknown];

const GOALS_MS = { arguments: 100, redaction: 250, logLine: 50, policy: 200, unwatched: 25, watched: 120, ordinary: 5 };

/**
 * The longest that hostile input holds the event loop, in milliseconds of the processor: of each work the least of five
 * runs, because the first are cold and a machine may be busy, and of all works the longest.
 */
export const holds = (): void => {
  say('reading, judging and redacting what hostile callers and upstreams may send ...');
  printLongest(
    'hold_arguments',
    dearObjects(ARGS_PROFILE.maxBytes).map(([name, text]) => [name, canonicalising(text)]),
    GOALS_MS.arguments,
  );
  printLongest(
    'hold_redaction',
    REDACTION_BOMBS.map(({ name, sensitive, answer }) => [name, () => new Redactor([], sensitive).json(answer)]),
    GOALS_MS.redaction,
  );
  printLongest(
    'hold_log_line',
    ['a', 'x://', 'svc_live_'].map((piece) => [piece, () => redactText(piece.repeat(1_000_000))]),
    GOALS_MS.logLine,
  );
  printLongest(
    'hold_policy_check',
    [...HOSTILE_SOURCES, ...LARGE_POLICIES].map(([name, source]) => [name, () => compilePolicy(source)]),
    GOALS_MS.policy,
  );
  printLongest('hold_evaluation_unwatched', unwatched(), GOALS_MS.unwatched);
  printLongest('hold_evaluation_watched', watched(), GOALS_MS.watched);
  print(absolute('evaluation_p99', ordinaryEvaluationMs(), 'ms', GOALS_MS.ordinary));
};

const printLongest = (figure: string, works: readonly Hold[], goalMs: number): void => {
  const timed = works.map(([name, work]) => ({ name, ms: leastMs(work) })).sort((one, other) => other.ms - one.ms);
  for (const { name, ms } of timed.slice(0, 3)) say(`  ${figure}: ${name}: ${ms.toFixed(1)} ms`);
  print(absolute(figure, timed[0]?.ms ?? 0, 'ms', goalMs));
};

const leastMs = (work: () => unknown): number => Math.min(...Array.from({ length: RUNS }, () => processorMs(work)));

const processorMs = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

const canonicalising = (text: Uint8Array): (() => unknown) => {
  const args = parseStrictJson(text, ARGS_PROFILE) as JsonObject;
  return () =>
    canonicalRequest({
      tool: 'crm.get_customer',
      args,
      mode: 'gateway',
      key: 'key_00000000000000000000000001' as never,
      livemode: true,
      idempotencyKey: null,
      onBehalfOf: null,
      session: null,
    });
};

const unwatched = (): readonly Hold[] =>
  UNWATCHED_POLICIES.flatMap(({ title, policy, calls }) =>
    Object.entries(calls).map(([name, args]): Hold => {
      const input = policyInput({ args });
      return [`${title}, ${name}`, () => evaluatePolicy(policy, input)];
    }),
  );

const watched = (): readonly Hold[] => {
  const policy = policyOf('args.large.size() == 1', 1);
  return Object.entries(MANY_VALUES).map(([name, args]) => [name, () => evaluatePolicy(policy, policyInput({ args }))]);
};

/** 99 of 100 evaluations of a policy of 100 rules that all match take no longer. */
const ordinaryEvaluationMs = (): number => {
  const policy = hundredRules();
  const timesMs = Array.from({ length: 2_000 }, () => processorMs(() => evaluatePolicy(policy, ordinaryCall)));
  return quantile(timesMs.slice(500), 0.99);
};
