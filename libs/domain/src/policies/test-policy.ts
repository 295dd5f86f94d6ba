import { Turns } from '../kernel/index.js';
import type { CompiledPolicy } from './compiled-policy.js';
import { evaluatePolicy, type PolicyDecision } from './evaluate-policy.js';
import type { PolicyInput } from './policy-input.js';
import type { PolicyCase } from './policy-cases.js';

/** What a policy said of a case. */
export interface CaseResult {
  readonly case: PolicyCase;
  /** Whether that is what the case expects. */
  readonly isOk: boolean;
  readonly decision: PolicyDecision;
}

const turns = new Turns();

/**
 * Judges the cases in order, one in a round of the event loop. Ends before the next one where `mayGoOn` says so: what it
 * gives then is shorter than the cases.
 *
 * @param inputOf the whole input of a case
 */
export const testPolicyInTurns = async (
  policy: CompiledPolicy,
  cases: readonly PolicyCase[],
  inputOf: (of: PolicyCase) => PolicyInput,
  mayGoOn: () => boolean,
): Promise<readonly CaseResult[]> => {
  const results: CaseResult[] = [];
  for (const each of cases) {
    await turns.next();
    if (!mayGoOn()) break;
    const decision = evaluatePolicy(policy, inputOf(each));
    results.push({ case: each, isOk: isExpected(each, decision), decision });
  }
  return results;
};

const isExpected = ({ expect: { decision, rule } }: PolicyCase, { outcome, ruleId }: PolicyDecision): boolean =>
  outcome === decision && (rule === null || rule === ruleId);
