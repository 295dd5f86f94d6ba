import { type DecisionOutcome, ERROR_CATALOGUE } from '../kernel/index.js';
import type { JsonValue } from '#libs/crypto';
import type { Answer } from './cel/answers.js';
import { type Bindings, bindingsOf } from './cel/values.js';
import type { CompiledPolicy, CompiledRule } from './compiled-policy.js';
import { matchesGlob } from './glob.js';
import type { PolicyInput } from './policy-input.js';
import { DEFAULT_APPROVAL, type PolicyBudget, type RequiredApproval, type RuleMatch } from './policy-source.js';
import { runWithin } from './time-limit.js';

/** For the evaluation of one call (rule POLICY-1). */
export const POLICY_EVALUATION_LIMIT_MS = 50;

/** The policy's part of an action's `decision`. */
export interface PolicyDecision {
  readonly outcome: DecisionOutcome;
  /** Null unless denied. */
  readonly code: 'policy_denied' | 'policy_unavailable' | null;
  /** `builtin`: the service itself refused, because the policy could not be evaluated. */
  readonly source: 'rule' | 'default' | 'builtin';
  /** The rule that decided, or whose condition had no answer. */
  readonly ruleId: string | null;
  /** Short and stable, for people and programs; holds nothing of the call. */
  readonly reason: string;
  /** The sentence the agent sees; null unless denied. */
  readonly message: string | null;
  /** Whom the call waits for: set exactly where the outcome is to ask for an approval. */
  readonly approval: RequiredApproval | null;
  /** The least level of witness that the rule asks for; absent where the tool's own word is enough. */
  readonly verify?: 'L1' | 'L2';
  /** Of the policy: what the call is charged to. Absent where it is refused, or no budget takes it. */
  readonly budgets?: readonly PolicyBudget[];
  /** For the log and `service_policy_eval_time_limit_total` (docs/metrics.md). */
  readonly timeLimitTripped: boolean;
}

/**
 * The first rule that applies decides, else the default. What cannot be judged is refused, never passed over: a condition
 * without an answer, an evaluation that takes longer than its limit. Never throws for an input of the declared shape.
 */
export const evaluatePolicy = (
  policy: CompiledPolicy,
  input: PolicyInput,
  { limitMs = POLICY_EVALUATION_LIMIT_MS }: { readonly limitMs?: number } = {},
): PolicyDecision => {
  if (isSurelyShort(policy, input)) return withoutStackTraces(() => decideWithBudgets(policy, input));
  const result = withoutStackTraces(() => runWithin(limitMs, () => decideWithBudgets(policy, input)));
  return result.hasEnded ? result.value : { ...unavailable('time limit'), timeLimitTripped: true };
};

/**
 * A condition on every item can fail on every item, and the evaluator makes an error for each failure. Nobody will ever
 * print these errors. Taking down their stacks would cost twenty times the step itself, and no estimate of the steps
 * could be honest.
 */
export const withoutStackTraces = <Value>(work: () => Value): Value => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

/**
 * About 5 ms by the estimate of a step (cel/cost.ts), a tenth of the limit; steps that fail take up to three times
 * that. Watching the clock costs as much as an ordinary evaluation, so only evaluations that could come near the limit
 * are watched.
 */
export const UNWATCHED_STEPS_MAX = 25_000;
export const UNWATCHED_VALUES_MAX = 1_000;

/** Whether the bound that was worked out before any call ends it, so that the clock need not. */
const isSurelyShort = (policy: CompiledPolicy, { args }: PolicyInput): boolean =>
  policy.cost <= UNWATCHED_STEPS_MAX && countValues(args, UNWATCHED_VALUES_MAX) < UNWATCHED_VALUES_MAX;

/** Values in a tree, counted up to a limit. */
const countValues = (value: JsonValue, limit: number): number => {
  let count = 1;
  if (value === null || typeof value !== 'object') return count;
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    count += countValues(child, limit - count);
    if (count >= limit) break;
  }
  return count;
};

/** The refusal where no compiled policy is at hand: its source no longer compiles, or none is enforced. */
export const policyUnavailable = (reason: string): PolicyDecision => unavailable(reason);

/** In the time of the decision: a budget's match is compared like a rule's. */
const decideWithBudgets = (policy: CompiledPolicy, input: PolicyInput): PolicyDecision => {
  const decided = decide(policy, input);
  if (decided.outcome === 'deny' || policy.budgets.length === 0) return decided;
  const budgets = policy.budgets.filter(({ match }) => matchesRule(match, input));
  return budgets.length === 0 ? decided : { budgets, ...decided };
};

const decide = (policy: CompiledPolicy, input: PolicyInput): PolicyDecision => {
  let bindings: Bindings | null = null;
  for (const rule of policy.rules) {
    if (!matchesRule(rule.match, input)) continue;
    if (rule.when === null) return decidedBy(rule);
    bindings ??= bindingsOf(input);
    const answer = rule.when.evaluate(bindings);
    if (answer === true) return decidedBy(rule);
    if (answer === false) continue;
    // Arguments that build no request are denied under a default deny, so what depends on the request cannot allow them
    // (rule POLICY-5). A rule that denies or asks a person must not be passed over for the same lack.
    if ('missingFact' in answer && rule.decision === 'allow') continue;
    return unanswered(rule.id, answer);
  }
  return byDefault(policy.defaultOutcome);
};

/** Whether a rule is about the call; its condition is another question. */
const matchesRule = (match: RuleMatch, { tool, agent, mode, side_effect: sideEffect }: PolicyInput): boolean =>
  (match.mode === null || match.mode.includes(mode)) &&
  (match.sideEffect === null || match.sideEffect.includes(sideEffect)) &&
  coversTool(match, tool) &&
  coversAgent(match, agent);

export const coversTool = ({ tools }: RuleMatch, tool: string): boolean =>
  tools === null || tools.some((glob) => matchesGlob(glob, tool));

export const coversAgent = ({ agents, labels }: RuleMatch, agent: PolicyInput['agent']): boolean =>
  (agents === null || agents.some((glob) => matchesGlob(glob, agent.name))) &&
  (labels === null || hasLabels(labels, agent.labels));

const hasLabels = (globs: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(globs).every(([key, glob]) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value !== undefined && matchesGlob(glob, value);
  });

const decidedBy = ({ id, decision, message, approval, verify }: CompiledRule): PolicyDecision => {
  const by = { source: 'rule', ruleId: id, reason: `rule ${id}`, approval, timeLimitTripped: false } as const;
  if (decision !== 'deny') {
    return {
      outcome: decision,
      code: null,
      message: null,
      ...by,
      ...(verify === null || verify === 'L0' ? {} : { verify }),
    };
  }
  const sentence = message ?? `The rule ${id} of the policy does not allow this call. Ask an admin if it should.`;
  return { outcome: 'deny', code: 'policy_denied', message: sentence, ...by };
};

const byDefault = (outcome: DecisionOutcome): PolicyDecision => {
  const approval = outcome === 'require_approval' ? DEFAULT_APPROVAL : null;
  const reason = `default ${outcome}`;
  const by = { source: 'default', ruleId: null, reason, approval, timeLimitTripped: false } as const;
  if (outcome !== 'deny') return { outcome, code: null, message: null, ...by };
  const message = 'No rule of the policy allows this call. Ask an admin if one should.';
  return { outcome, code: 'policy_denied', message, ...by };
};

/** The sentence names what the condition says, never what the call holds. */
const unanswered = (ruleId: string, answer: Exclude<Answer, boolean>): PolicyDecision => {
  const { fault, path } = 'fault' in answer ? answer : { fault: `no ${answer.missingFact}`, path: answer.missingFact };
  const refused = unavailable(`evaluation error in rule ${ruleId}: ${fault}`, ruleId);
  const message = `The rule ${ruleId} of the policy ${whyUnanswered(fault, path)}, so nothing was run. Check the arguments, or ask an admin to check the rule.`;
  return { ...refused, message };
};

const READ_MAX_CHARACTERS = 120;

const whyUnanswered = (fault: string, path: string | null): string => {
  if (path === null) return `has no answer for this call (${fault})`;
  const read = path.length <= READ_MAX_CHARACTERS ? path : `${path.slice(0, READ_MAX_CHARACTERS)}…`;
  if (fault === 'type mismatch') return `looks into ${read}, which is no list and no object in this call`;
  return `reads ${read}, which this call does not have`;
};

const unavailable = (reason: string, ruleId: string | null = null): PolicyDecision => ({
  outcome: 'deny',
  code: 'policy_unavailable',
  source: 'builtin',
  ruleId,
  reason,
  message: ERROR_CATALOGUE.policy_unavailable.message,
  approval: null,
  timeLimitTripped: false,
});
