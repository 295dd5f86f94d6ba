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

/** The answer to a dry run. `budgets` is empty: no policy that has any can be saved yet. */
export const dryRunView = ({ decision, recorded, trace, diagnostics, input }: DryRun): JsonObject => {
  const { outcome, code, source, ruleId, reason, message, approval } = decision;
  return {
    object: 'policy_dry_run',
    decision: { outcome, code, source, rule_id: ruleId, reason, message },
    recorded,
    trace: trace.map(({ ruleId: rule_id, why }) => ({ rule_id, why })),
    budgets: [],
    approval: approval && {
      approvers: [...approval.approvers],
      required: approval.required,
      expires_in_s: approval.expiresInS,
    },
    diagnostics: diagnosticsView(diagnostics),
    input,
  };
};
