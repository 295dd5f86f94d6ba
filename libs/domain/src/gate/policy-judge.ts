import { NO_METER, type Logger, type Meter, type OrgId } from '../kernel/index.js';
import type { ActivePolicy } from '../people/index.js';
import {
  evaluatePolicy,
  policyUnavailable,
  type CompiledPolicies,
  type PolicyDecision,
  type PolicyInput,
} from '../policies/index.js';
import type { Decision } from './action.events.js';

/** Asks the enforced policy. Every failure of its own is a refusal with `policy_unavailable` (document 1, Limits). */
export class PolicyJudge {
  constructor(
    private readonly policies: CompiledPolicies,
    private readonly logger: Logger,
    private readonly meter: Meter = NO_METER,
  ) {}

  /** @throws {StoreUnavailable} the policy could not be read: nothing is decided, and nothing recorded */
  async judge(org: OrgId, enforced: ActivePolicy | null, input: PolicyInput): Promise<Decision> {
    this.meter.organizationJudged(org, enforced !== null);
    if (!enforced) return decision(NONE_ENFORCED, null);
    const loaded = await this.policies.load(enforced.policy, enforced.versionId);
    if (!loaded.isUsable) {
      this.logger.error('the enforced policy cannot be used', {
        org_id: org,
        policy_version: enforced.versionId,
        reason: loaded.reason,
      });
      return decision(policyUnavailable(loaded.reason), enforced);
    }
    const judged = evaluatePolicy(loaded.policy, input);
    if (judged.timeLimitTripped) {
      this.meter.policyTimeLimitTripped('enforce');
      this.logger.warn('a policy evaluation took too long', { org_id: org, policy_version: enforced.versionId });
    }
    return decision(judged, enforced);
  }
}

/** A new organization starts with a default deny; one whose slot was emptied is back there. */
const NONE_ENFORCED: PolicyDecision = {
  outcome: 'deny',
  code: 'policy_denied',
  source: 'default',
  ruleId: null,
  reason: 'no policy enforced',
  message:
    'No policy is enforced, so nothing is allowed. Ask an admin to activate a version: POST /v1/policies/{id}/versions/{v}/activate.',
  timeLimitTripped: false,
};

const decision = (judged: PolicyDecision, enforced: ActivePolicy | null): Decision => ({
  outcome: judged.outcome,
  code: judged.code,
  source: judged.source,
  rule_id: judged.ruleId,
  reason: judged.reason,
  message: judged.message,
  policy: enforced?.policy ?? null,
  policy_version: enforced?.versionId ?? null,
});
