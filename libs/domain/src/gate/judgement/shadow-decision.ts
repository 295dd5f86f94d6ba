import type { ActivePolicy } from '../../people/index.js';
import {
  evaluatePolicy,
  policyUnavailable,
  type LoadedPolicy,
  type PolicyDecision,
  type PolicyInput,
} from '../../policies/index.js';
import type { Decision, ShadowDecision } from '../action/index.js';

/**
 * How long the evaluation of a version in shadow may delay a call. An evaluation that takes longer is stopped, without
 * an outcome.
 */
export const SHADOW_LIMIT_MS = 5;
/**
 * The same limit for the first evaluation in a process, which is slower than later ones. As long as an enforced version
 * may take.
 */
export const FIRST_SHADOW_LIMIT_MS = 50;

/** Why there is no outcome of a version in shadow. */
export type ShadowSilence = 'loading' | 'time limit' | 'fault';

/**
 * Evaluates a version in shadow. A version that cannot be used is answered with its denial, because it would deny every
 * call if it were enforced. A version that exceeds the limit is answered with `time limit`, because it might still
 * answer within the longer limit of an enforced one.
 *
 * @param limitMs other values than at a first call are for tests only
 */
export const askShadow = (
  loaded: LoadedPolicy,
  input: PolicyInput,
  limitMs = SHADOW_LIMIT_MS,
): PolicyDecision | ShadowSilence => {
  if (!loaded.isUsable) return policyUnavailable(loaded.reason);
  const judged = evaluatePolicy(loaded.policy, input, { limitMs });
  return judged.timeLimitTripped ? 'time limit' : judged;
};

/**
 * Compares the outcomes of the two policies. `enforced` is the enforced policy's own decision, before a budget or a
 * lack of approvers turns it into a refusal.
 */
export const shadowDecision = (
  { policy, versionId }: ActivePolicy,
  answer: PolicyDecision | ShadowSilence,
  enforced: Pick<Decision, 'outcome'>,
): ShadowDecision => {
  const asked = { policy, policy_version: versionId };
  if (typeof answer === 'string') {
    return { outcome: null, code: null, rule_id: null, reason: answer, ...asked, differs: false };
  }
  const { outcome, code, ruleId, reason } = answer;
  return { outcome, code, rule_id: ruleId, reason, ...asked, differs: outcome !== enforced.outcome };
};
