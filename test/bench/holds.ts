import {
  ARGS_PROFILE,
  bodyProfile,
  canonicalize,
  type JsonObject,
  parseStrictJson,
  strictJsonInPieces,
} from '#libs/crypto';
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

/** The most of a request body with arguments, and of an answer that is kept as JSON. */
const BODY_BYTES = 1_048_576;
const BODY_PROFILE = bodyProfile({ maxBytes: BODY_BYTES, maxDepth: 64 });

/** What somebody hostile may send, and the one piece of work that it makes without a turn for anybody else. */
type Hold = readonly [name: string, work: () => unknown];

const GOALS_MS = {
  body: 100,
  arguments: 100,
  result: 200,
  redaction: 250,
  logLine: 50,
  policy: 200,
  unwatched: 25,
  watched: 120,
  ordinary: 2,
};

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
  printLongestPiece('hold_body', dearObjects(BODY_BYTES), GOALS_MS.body);
  printLongest(
    'hold_result',
    dearObjects(BODY_BYTES).flatMap(([name, text]) => recording(name, text)),
    GOALS_MS.result,
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
  print(absolute('evaluation_p99', ordinaryEvaluationMs(), 'ms', 'at most', GOALS_MS.ordinary));
};

const printLongest = (figure: string, works: readonly Hold[], goalMs: number): void => {
  const timed = works.map(([name, work]) => ({ name, ms: leastMs(work) })).sort((one, other) => other.ms - one.ms);
  for (const { name, ms } of timed.slice(0, 3)) say(`  ${figure}: ${name}: ${ms.toFixed(1)} ms`);
  print(absolute(figure, timed[0]?.ms ?? 0, 'ms', 'at most', goalMs));
};

/** Of each text the longest piece, the least of five runs. */
const printLongestPiece = (figure: string, texts: readonly (readonly [string, Uint8Array])[], goalMs: number): void => {
  const longestPiece = (text: Uint8Array): number => {
    const pieces = strictJsonInPieces(text, BODY_PROFILE);
    let longestMs = 0;
    for (let isOver = false; !isOver;) {
      longestMs = Math.max(
        longestMs,
        processorMs(() => (isOver = pieces.next().done === true)),
      );
    }
    return longestMs;
  };
  const longestMs = texts.map(([, text]) => Math.min(...Array.from({ length: RUNS }, () => longestPiece(text))));
  print(absolute(figure, Math.max(...longestMs), 'ms', 'at most', goalMs));
};

/** The two steps of recording an answer that nothing interrupts. */
const recording = (name: string, text: Uint8Array): readonly Hold[] => {
  const value = parseStrictJson(text, BODY_PROFILE);
  const redactor = new Redactor(['sk_live_0123456789abcdef'], []);
  return [
    [`${name}, redacted`, () => redactor.json(value)],
    [`${name}, written`, () => canonicalize(value)],
  ];
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
