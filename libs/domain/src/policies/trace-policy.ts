import { type Bindings, bindingsOf } from './cel/values.js';
import type { CompiledPolicy, CompiledRule } from './compiled-policy.js';
import { coversAgent, coversTool, POLICY_EVALUATION_LIMIT_MS, withoutStackTraces } from './evaluate-policy.js';
import type { PolicyInput } from './policy-input.js';
import { runWithin } from './time-limit.js';

/** Why a rule was passed over. `fact_missing`: it allows by a fact of the request that the call does not have. */
export type PassedOver = 'tools' | 'agents' | 'labels' | 'mode' | 'side_effect' | 'when_false' | 'fact_missing';

/** One rule that was looked at, in order. `applies` and `no_answer` end the look. */
export interface TracedRule {
  readonly ruleId: string;
  readonly why: PassedOver | 'applies' | 'no_answer';
}

/**
 * The rules that a decision looked at and why each was passed over, up to the one that decided; all of them where the
 * default did. As far as its time of an evaluation comes.
 */
export const tracePolicy = (
  policy: CompiledPolicy,
  input: PolicyInput,
  limitMs = POLICY_EVALUATION_LIMIT_MS,
): readonly TracedRule[] => {
  let traced: TracedRule[] = [];
  withoutStackTraces(() =>
    runWithin(limitMs, () => {
      // A run that was kept waiting is made again, from the beginning.
      traced = [];
      look(policy, input, traced);
    }),
  );
  return traced;
};

const look = ({ rules }: CompiledPolicy, input: PolicyInput, traced: TracedRule[]): void => {
  const bindings = bindingsOf(input);
  for (const rule of rules) {
    const why = mismatchOf(rule, input) ?? answerOf(rule, bindings);
    traced.push({ ruleId: rule.id, why });
    if (why === 'applies' || why === 'no_answer') return;
  }
};

const mismatchOf = ({ match }: CompiledRule, { tool, agent, mode, side_effect }: PolicyInput): PassedOver | null => {
  if (!coversTool(match, tool)) return 'tools';
  if (!coversAgent({ ...match, labels: null }, agent)) return 'agents';
  if (!coversAgent({ ...match, agents: null }, agent)) return 'labels';
  if (match.mode !== null && !match.mode.includes(mode)) return 'mode';
  return match.sideEffect !== null && !match.sideEffect.includes(side_effect) ? 'side_effect' : null;
};

const answerOf = ({ when, decision }: CompiledRule, bindings: Bindings): TracedRule['why'] => {
  const answer = when === null ? true : when.evaluate(bindings);
  if (answer === true) return 'applies';
  if (answer === false) return 'when_false';
  return 'missingFact' in answer && decision === 'allow' ? 'fact_missing' : 'no_answer';
};
