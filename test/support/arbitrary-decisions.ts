import type { Decision, ShadowDecision } from '#libs/domain/gate';
import { DECISION_OUTCOMES, ERROR_CATALOGUE, type ErrorCode } from '#libs/domain/kernel';
import fc from 'fast-check';
import { testId } from './given-log.js';

const orNull = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value);
const errorCode = fc.constantFrom(...(Object.keys(ERROR_CATALOGUE) as ErrorCode[]));
const policyId = fc.integer({ min: 1, max: 5 }).map((number) => testId('pol', number));
const versionId = fc.integer({ min: 1, max: 5 }).map((number) => testId('pv', number));

/** What the enforced policy said, with any text in it. */
export const decisions = (text: fc.Arbitrary<string>): fc.Arbitrary<Decision> =>
  fc.record({
    outcome: fc.constantFrom(...DECISION_OUTCOMES),
    code: orNull(errorCode),
    source: fc.constantFrom('rule', 'default', 'budget', 'stop', 'builtin'),
    rule_id: orNull(text),
    reason: orNull(text),
    message: orNull(text),
    policy: orNull(policyId),
    policy_version: orNull(versionId),
  });

/** What the version in shadow said, with any text in it. */
export const shadows = (text: fc.Arbitrary<string>): fc.Arbitrary<ShadowDecision> =>
  fc.record({
    outcome: orNull(fc.constantFrom(...DECISION_OUTCOMES)),
    code: orNull(errorCode),
    rule_id: orNull(text),
    reason: text,
    policy: policyId,
    policy_version: versionId,
    differs: fc.boolean(),
  });
