import { describe, expect, it } from 'vitest';

import { LARGE_POLICIES } from '../../../../test/policies/policy-bombs.js';
import { checkSource } from './check-source.js';
import { Report } from './diagnostics.js';
import { POLICY_LIMITS } from './policy-source.js';
import { checkReachable, REACHABILITY_STEPS_MAX } from './reachability.js';
import { readPolicy } from './read-policy.js';
import { parseYaml } from './yaml-nodes.js';

/** Two of the longest globs against each other: begun within the budget, ended beyond it. */
const COMPARISON_STEPS_MAX = POLICY_LIMITS.globCharacters ** 2;

const ended = <Value>(pieces: Generator<void, Value>): Value => {
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
  }
};

describe('comparing rules: ended by its steps and not by a clock', () => {
  it.each(LARGE_POLICIES)('%s', (_, text) => {
    const { source, diagnostics } = checkSource(text);
    const root = ended(parseYaml(source, diagnostics));
    const report = new Report(diagnostics);
    const policy = root === undefined ? null : readPolicy(report, root);
    const budget = { left: REACHABILITY_STEPS_MAX };
    checkReachable(report, policy?.rules ?? [], budget);
    expect(budget.left).toBeGreaterThan(-COMPARISON_STEPS_MAX);
  });
});
