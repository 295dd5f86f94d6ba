import type { ActivePolicy } from '../people/index.js';
import {
  evaluatePolicy,
  policyUnavailable,
  type LoadedPolicy,
  type PolicyDecision,
  type PolicyInput,
} from '../policies/index.js';
import type { Decision, ShadowDecision } from './action.events.js';

/** What a version in shadow may take of a call's time. What takes longer is not known, and nobody waits for it. */
export const SHADOW_LIMIT_MS = 5;
/** The same at its first call in a process, which is slower than every later one: as long as an enforced version may take. */
export const FIRST_SHADOW_LIMIT_MS = 50;

/** Why nothing is known of what a version would have said. */
export type ShadowSilence = 'loading' | 'time limit' | 'fault';

/**
 * A version that cannot be used would deny every call once it was enforced, and so it is told. One that runs out of the
 * shorter time of a shadow might still answer within the time of an enforced one: that is silence.
 *
 * @param limitMs other than at a first call, for tests alone
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

/** Compared is what the two policies say: neither what a budget nor what a lack of approvers made of it. */
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
