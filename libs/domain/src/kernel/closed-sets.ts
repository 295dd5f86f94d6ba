/**
 * Closed sets of words that several contexts use. Each is spelled here and nowhere else: code imports it, and the tests
 * hold the OpenAPI document against it (docs/adr/0027-one-owner-for-each-fact.md). A set that one context uses stands in
 * that context.
 */

/** Who runs the tool: the service, or the agent itself (rule GATE-17). */
export const CALL_MODES = ['gateway', 'proxy'] as const;
export type CallMode = (typeof CALL_MODES)[number];

/** What a tool does to the system behind it. */
export const SIDE_EFFECTS = ['read', 'write', 'destructive', 'unknown'] as const;
export type SideEffect = (typeof SIDE_EFFECTS)[number];

/** What the gate, or a rule of a policy, says about a call. */
export const DECISION_OUTCOMES = ['allow', 'deny', 'require_approval'] as const;
export type DecisionOutcome = (typeof DECISION_OUTCOMES)[number];

/** `failed`: certainly not applied. `unknown`: it may have been applied. */
export const EXECUTION_STATUSES = ['succeeded', 'failed', 'unknown'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** L0: the tool's own word. L1: a read-back. L2: the system of record. */
export const WITNESS_LEVELS = ['L0', 'L1', 'L2'] as const;
export type WitnessLevel = (typeof WITNESS_LEVELS)[number];

/** What the evidence says about an outcome. */
export const VERDICTS = ['VERIFIED', 'MISMATCH', 'UNVERIFIABLE'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Of the people of an organization. Each may do all that the ones before it may (rule PEOPLE-1). */
export const ROLES = ['viewer', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** The slots of an organization's policies: the version in one decides, the version in the other is compared. */
export const POLICY_MODES = ['enforce', 'shadow'] as const;
export type PolicyMode = (typeof POLICY_MODES)[number];
