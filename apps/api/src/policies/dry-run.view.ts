import type { JsonObject } from '#libs/crypto';
import type { PolicyDecision, PolicyDiagnostic, PolicyInput, TracedRule } from '#libs/domain/policies';
import { diagnosticsView } from './policy.view.js';

interface DryRun {
  readonly decision: PolicyDecision;
  /** What was decided of a recorded action. */
  readonly recorded: JsonObject | null;
  readonly trace: readonly TracedRule[];
  readonly diagnostics: readonly PolicyDiagnostic[];
  readonly input: PolicyInput;
}

/** The answer to a dry run. `budgets`: what the call would be charged to; a dry run uses up nothing, and asks for no room. */
export const dryRunView = ({ decision, recorded, trace, diagnostics, input }: DryRun): JsonObject => {
  const { outcome, code, source, ruleId, reason, message, approval } = decision;
  return {
    object: 'policy_dry_run',
    decision: { outcome, code, source, rule_id: ruleId, reason, message },
    recorded,
    trace: trace.map(({ ruleId: rule_id, why }) => ({ rule_id, why })),
    budgets: (decision.budgets ?? []).map(({ id, period, maxCalls, maxSpend }) => ({
      id,
      period,
      max_calls: maxCalls,
      max_spend: maxSpend && { ...maxSpend },
    })),
    approval: approval && {
      approvers: [...approval.approvers],
      required: approval.required,
      expires_in_s: approval.expiresInS,
      signed: approval.signed === true,
    },
    diagnostics: diagnosticsView(diagnostics),
    input,
  };
};
