import {
  type CallMode,
  type DecisionOutcome,
  type PeriodKind,
  type SideEffect,
  WITNESS_LEVELS,
  type WitnessLevel,
} from '../kernel/index.js';
import type { Entry } from './yaml-nodes.js';

/** The policy language's limits (docs/policy-language.md). Lengths in characters. */
export const POLICY_LIMITS = {
  rules: 500,
  globsPerList: 64,
  globCharacters: 256,
  labelsPerMatch: 16,
  labelKeyCharacters: 64,
  ruleIdCharacters: 64,
  descriptionCharacters: 500,
  messageCharacters: 500,
  approversPerRule: 16,
  requiredApprovals: 10,
  approvalExpiresInMinS: 60,
  approvalExpiresInMaxS: 30 * 24 * 60 * 60,
  budgets: 100,
} as const;

/** Ids of rules and of budgets. */
export const RULE_ID_PATTERN = /^[a-z][a-z0-9_-]{0,63}$/;

/** The levels of witness that a rule can ask for. */
export const OFFERED_LEVELS = WITNESS_LEVELS;
export type OfferedLevel = WitnessLevel;

/** Whom a call waits for: so many different people of these, by then. */
export interface RequiredApproval {
  /** `role:<role>`, which takes everybody of at least that role, or the id of a person. Sorted and without repetition. */
  readonly approvers: readonly string[];
  readonly required: number;
  /** Null where the rule leaves it to the organization. */
  readonly expiresInS: number | null;
  /** Whether each who approves signs with a passkey. Absent where the rule leaves it to the organization. */
  readonly signed?: true;
}

/** Where a rule says nothing of its own, and of a policy whose default asks for an approval. */
export const DEFAULT_APPROVAL: RequiredApproval = { approvers: ['role:admin'], required: 1, expiresInS: null };

/** Null where the rule does not say: then everything matches. Lists are sorted and without repetition. */
export interface RuleMatch {
  readonly tools: readonly string[] | null;
  readonly agents: readonly string[] | null;
  /** Label key to a glob over its value: the agent must have each of these labels. */
  readonly labels: Readonly<Record<string, string>> | null;
  readonly mode: readonly CallMode[] | null;
  readonly sideEffect: readonly SideEffect[] | null;
}

/** A rule as it was read: its shape is right, its condition not yet compiled. */
export interface SourceRule {
  readonly id: string;
  readonly idEntry: Entry;
  readonly description: string | null;
  readonly match: RuleMatch;
  readonly when: { readonly text: string; readonly entry: Entry } | null;
  readonly decision: DecisionOutcome;
  readonly message: string | null;
  /** The least level of witness; null as L0. */
  readonly verify: OfferedLevel | null;
  /** Set exactly where the decision is to ask for an approval. */
  readonly approval: RequiredApproval | null;
}

/** What all calls that match may use up together in a period of the organization's time zone. At least one bound is set. */
export interface PolicyBudget {
  readonly id: string;
  readonly match: RuleMatch;
  readonly period: PeriodKind;
  readonly maxCalls: number | null;
  /** In the smallest unit of the currency. */
  readonly maxSpend: { readonly amount: number; readonly currency: string } | null;
}

/** A budget, and where it stands. */
export interface SourceBudget {
  readonly budget: PolicyBudget;
  readonly idEntry: Entry;
  readonly spendEntry: Entry | null;
}

export interface SourcePolicy {
  readonly defaultOutcome: DecisionOutcome;
  readonly rules: readonly SourceRule[];
  readonly budgets: readonly SourceBudget[];
}
