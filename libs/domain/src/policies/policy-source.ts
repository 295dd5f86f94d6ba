import type { CallMode, CallSideEffect } from './policy-input.js';
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
} as const;

export type PolicyOutcome = 'allow' | 'deny';

/** Null where the rule does not say: then everything matches. Lists are sorted and without repetition. */
export interface RuleMatch {
  readonly tools: readonly string[] | null;
  readonly agents: readonly string[] | null;
  /** Label key to a glob over its value: the agent must have each of these labels. */
  readonly labels: Readonly<Record<string, string>> | null;
  readonly mode: readonly CallMode[] | null;
  readonly sideEffect: readonly CallSideEffect[] | null;
}

/** A rule as it was read: its shape is right, its condition not yet compiled. */
export interface SourceRule {
  readonly id: string;
  readonly idEntry: Entry;
  readonly description: string | null;
  readonly match: RuleMatch;
  readonly when: { readonly text: string; readonly entry: Entry } | null;
  readonly decision: PolicyOutcome;
  readonly message: string | null;
  readonly verify: 'L0' | null;
}

export interface SourcePolicy {
  readonly defaultOutcome: PolicyOutcome;
  readonly rules: readonly SourceRule[];
}
