import type { Digest, JsonObject } from '#libs/crypto';

import type { DecisionOutcome } from '../kernel/index.js';
import type { CompiledExpression } from './cel/compile-expression.js';
import type { PolicyDiagnostic } from './diagnostics.js';
import type { OfferedLevel, PolicyBudget, RequiredApproval, RuleMatch } from './policy-source.js';

export interface CompiledRule {
  readonly id: string;
  readonly match: RuleMatch;
  /** Null when the match alone decides. */
  readonly when: CompiledExpression | null;
  readonly decision: DecisionOutcome;
  /** What the agent reads when this rule denies; null for the service's own sentence. */
  readonly message: string | null;
  readonly verify: OfferedLevel | null;
  /** Set exactly where the decision is to ask for an approval. */
  readonly approval: RequiredApproval | null;
}

/** A version ready to decide. Made by `compilePolicy` alone; keep it as long as the version is in use. */
export interface CompiledPolicy {
  readonly defaultOutcome: DecisionOutcome;
  /** In order: the first that applies decides. */
  readonly rules: readonly CompiledRule[];
  /** In the order of the text. A call that runs is charged to each whose match takes it. */
  readonly budgets: readonly PolicyBudget[];
  /** Steps of one decision at most, as estimated: every match and every condition, those of budgets included, for a call of ordinary size. */
  readonly cost: number;
  /** What the source means, in one form for every layout: `versionHash` is its digest. */
  readonly normalised: JsonObject;
  readonly versionHash: Digest;
  readonly sourceHash: Digest;
}

export type CompileResult =
  | { readonly ok: true; readonly policy: CompiledPolicy; readonly warnings: readonly PolicyDiagnostic[] }
  /** Errors and warnings in the order of the text; at least one error. */
  | { readonly ok: false; readonly diagnostics: readonly PolicyDiagnostic[] };
