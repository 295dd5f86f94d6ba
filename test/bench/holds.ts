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
import { canonicalRequest } from '../../libs/domain/src/gate/judgement/call-request.js';
import { MANY_VALUES, policyOf, UNWATCHED_POLICIES } from '../../libs/domain/src/policies/testing/dear-conditions.js';
import { Redactor } from '../../libs/infra/src/connectors/redactor.js';
import { REDACTION_BOMBS } from '../../libs/infra/src/connectors/testing/redaction-bombs.js';
import { redactText } from '../../libs/infra/src/logging/redaction.js';
import { HOSTILE_SOURCES, LARGE_POLICIES } from '../policies/policy-bombs.js';
import { hundredRules, ordinaryCall } from '../policies/hundred-rules.js';
import { policyInput } from '../support/given-policy-input.js';
import { against, print, say } from './figure.js';
import { quantile } from './pace.js';

const RUNS = 5;
const UNIT_RUNS = 3;

/** The most of a request body with arguments, and of an answer that is kept as JSON. */
const BODY_BYTES = 1_048_576;
const ARGUMENTS_BYTES = ARGS_PROFILE.maxBytes;
const BODY_PROFILE = bodyProfile({ maxBytes: BODY_BYTES, maxDepth: 64 });

/** What somebody hostile may send, and the one piece of work that it makes without a turn for anybody else. */
type Hold = readonly [name: string, work: () => unknown];

/**
 * What a hold is measured in: `JSON.parse` of small objects, of 256 KiB where arguments or a policy are judged, and of 1 MiB
 * otherwise. Small objects cost what such works cost, memory and looking at every byte; one long text of the same size would
 * only be copied, and say how quick the memory of a machine is instead of its processor.
 */
class ParsedJson {
  private readonly text: string;
  private readonly tookMs: number[] = [];

  constructor(bytes: number) {
    this.text = String(new Map(dearObjects(bytes)).get('objects'));
  }

  /** Beside each work, so that the unit is of the moments in which the works were timed. */
  measure(): void {
    for (let run = 1; run <= UNIT_RUNS; run += 1) this.tookMs.push(processorMs(() => JSON.parse(this.text) as unknown));
  }

  get medianMs(): number {
    return quantile(this.tookMs, 0.5);
  }
}

/**
 * The longest that hostile input holds the event loop, in processor time and in units of {@link ParsedJson}: of each work the
 * least of five runs, because the first are cold and a machine may be busy, and of all works the longest.
 */
export const holds = (): void => {
  say('reading, judging and redacting what hostile callers and upstreams may send ...');
  printLongest(
    'hold_arguments',
    dearObjects(ARGUMENTS_BYTES).map(([name, text]) => [name, canonicalising(text)]),
    ARGUMENTS_BYTES,
  );
  printLongestPiece('hold_body', dearObjects(BODY_BYTES), BODY_BYTES);
  printLongest(
    'hold_result',
    dearObjects(BODY_BYTES).flatMap(([name, text]) => recording(name, text)),
    BODY_BYTES,
  );
  printLongest(
    'hold_redaction',
    REDACTION_BOMBS.map(({ name, sensitive, answer }) => [name, () => new Redactor([], sensitive).json(answer)]),
    BODY_BYTES,
  );
  printLongest(
    'hold_log_line',
    ['a', 'x://', 'svc_live_'].map((piece) => [piece, () => redactText(piece.repeat(1_000_000))]),
    BODY_BYTES,
  );
  printLongest(
    'hold_policy_check',
    [...HOSTILE_SOURCES, ...LARGE_POLICIES].map(([name, source]) => [name, () => compilePolicy(source)]),
    ARGUMENTS_BYTES,
  );
  printLongest('hold_evaluation_unwatched', unwatched(), ARGUMENTS_BYTES);
  printLongest('hold_evaluation_watched', watched(), ARGUMENTS_BYTES);
  printOrdinaryEvaluation();
};

type Timed = readonly [name: string, ms: number];

const printLongest = (figure: string, works: readonly Hold[], unitBytes: number): void =>
  printTimed(
    figure,
    works.map(([name, work]) => [name, () => processorMs(work)]),
    unitBytes,
  );

/** Of each text the longest piece. */
const printLongestPiece = (
  figure: string,
  texts: readonly (readonly [string, Uint8Array])[],
  unitBytes: number,
): void => {
  const longestPieceMs = (text: Uint8Array): number => {
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
  printTimed(
    figure,
    texts.map(([name, text]) => [name, () => longestPieceMs(text)]),
    unitBytes,
  );
};

const printTimed = (
  figure: string,
  works: readonly (readonly [name: string, run: () => number])[],
  unitBytes: number,
): void => {
  const unit = new ParsedJson(unitBytes);
  const timed = works.map(([name, run]): Timed => {
    const leastMs = Math.min(...Array.from({ length: RUNS }, run));
    unit.measure();
    return [name, leastMs];
  });
  timed.sort(([, one], [, other]) => other - one);
  for (const [name, ms] of timed.slice(0, 3)) say(`  ${figure}: ${name}: ${ms.toFixed(1)} ms`);
  print(against(figure, [timed[0]?.[1] ?? 0, unit.medianMs], 'ms'));
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
      connectorType: null,
      key: 'key_00000000000000000000000001' as never,
      livemode: true,
      idempotencyKey: null,
      onBehalfOf: null,
      session: null,
      intent: [],
      trace: null,
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
const printOrdinaryEvaluation = (): void => {
  const policy = hundredRules();
  const unit = new ParsedJson(ARGUMENTS_BYTES);
  // Before and after, and not between: what a parse leaves behind would be collected within an evaluation.
  unit.measure();
  const timesMs = Array.from({ length: 2_000 }, () => processorMs(() => evaluatePolicy(policy, ordinaryCall)));
  unit.measure();
  const p99Ms = quantile(timesMs.slice(500), 0.99);
  print(against('evaluation_p99', [p99Ms, unit.medianMs], 'ms'));
};
