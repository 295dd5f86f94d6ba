import {
  type Bus,
  NO_METER,
  type Logger,
  type Meter,
  type OrgId,
  type PolicyId,
  type PolicyVersionId,
  SHADOW_CHANNEL,
} from '../../kernel/index.js';
import type { ActivePolicy } from '../../people/index.js';
import {
  evaluatePolicy,
  hiddenSince,
  policyUnavailable,
  type CompiledPolicies,
  type PolicyBudget,
  type PolicyDecision,
  type PolicyInput,
  type RequiredApproval,
  type ToolVisibility,
  visibilityTo,
} from '../../policies/index.js';
import type { Decision, ShadowDecision } from '../action/index.js';
import { askShadow, FIRST_SHADOW_LIMIT_MS, SHADOW_LIMIT_MS, shadowDecision } from './shadow-decision.js';

/** The policy's judgement of a call. */
export interface Judgement {
  readonly decision: Decision;
  /** Whom to ask for approval; set if and only if the decision is `require_approval`. */
  readonly approval: RequiredApproval | null;
  /** The budgets of the policy that the call is charged to; empty if it is refused. */
  readonly budgets: readonly PolicyBudget[];
}

/**
 * Asks the enforced policy. If the policy itself fails, the call is refused with `policy_unavailable` (rule POLICY-2).
 */
export class PolicyJudge {
  /**
   * Versions that were loaded for the shadow slot and not asked yet. Their first evaluation is slower than the next ones.
   */
  private readonly unasked = new Set<PolicyVersionId>();

  constructor(
    private readonly policies: CompiledPolicies,
    private readonly logger: Logger,
    private readonly meter: Meter = NO_METER,
  ) {}

  /** @throws {StoreUnavailable} if the policy cannot be read; then nothing is decided or recorded */
  async judge(org: OrgId, enforced: ActivePolicy | null, input: PolicyInput): Promise<Judgement> {
    this.meter.organizationJudged(org, enforced !== null);
    if (!enforced) return judgement(NONE_ENFORCED, null);
    const loaded = await this.policies.load(enforced.policy, enforced.versionId);
    if (!loaded.isUsable) {
      this.logger.error('the enforced policy cannot be used', {
        org_id: org,
        policy_version: enforced.versionId,
        reason: loaded.reason,
      });
      return judgement(policyUnavailable(loaded.reason), enforced);
    }
    const judged = evaluatePolicy(loaded.policy, input);
    if (judged.timeLimitTripped) {
      this.meter.policyTimeLimitTripped('enforce');
      this.logger.warn('a policy evaluation took too long', { org_id: org, policy_version: enforced.versionId });
    }
    return judgement(judged, enforced);
  }

  /**
   * The decision of the version in shadow about an input, compared with the enforced decision. It never affects the
   * answer to the call. The outcome is null, with a reason, if the version is not loaded yet (it is then loaded in the
   * background), ran out of time, or failed.
   */
  shadowOf(org: OrgId, shadow: ActivePolicy, input: PolicyInput, enforced: Decision): ShadowDecision {
    const loaded = this.policies.known(shadow.versionId);
    if (loaded === null) {
      void this.prepareShadow(org, shadow);
      return shadowDecision(shadow, 'loading', enforced);
    }
    const about = { org_id: org, policy_version: shadow.versionId };
    try {
      const isFirst = this.unasked.delete(shadow.versionId);
      const answer = askShadow(loaded, input, isFirst ? FIRST_SHADOW_LIMIT_MS : SHADOW_LIMIT_MS);
      if (answer === 'time limit') {
        this.meter.policyTimeLimitTripped('shadow');
        this.logger.warn('an evaluation in shadow took too long', about);
      }
      return shadowDecision(shadow, answer, enforced);
    } catch (error) {
      this.logger.error('the policy in shadow could not be asked', { ...about, error });
      return shadowDecision(shadow, 'fault', enforced);
    }
  }

  /**
   * Loads a version that was just put into the shadow slot, in this process, and tells the other processes to load it
   * too, so that the next call can already be compared. A failure to load is logged and does not reject.
   */
  async announceShadow(org: OrgId, shadow: Pick<ActivePolicy, 'policy' | 'versionId'>, bus: Bus): Promise<void> {
    bus.publish(SHADOW_CHANNEL, [org, shadow.policy, shadow.versionId].join(' '));
    await this.prepareShadow(org, shadow);
  }

  /** Loads the versions that other processes announce. */
  followShadows(bus: Bus): void {
    bus.subscribe(SHADOW_CHANNEL, (message) => {
      const [org, policy, versionId] = message.split(' ') as [OrgId, PolicyId, PolicyVersionId];
      void this.prepareShadow(org, { policy, versionId });
    });
  }

  private async prepareShadow(
    org: OrgId,
    { policy, versionId }: Pick<ActivePolicy, 'policy' | 'versionId'>,
  ): Promise<void> {
    const about = { org_id: org, policy_version: versionId };
    try {
      const loaded = await this.policies.load(policy, versionId);
      this.unasked.add(versionId);
      if (!loaded.isUsable)
        this.logger.error('the policy in shadow cannot be used', { ...about, reason: loaded.reason });
    } catch (error) {
      // The next call tries to load it again.
      this.logger.warn('the policy in shadow could not be loaded', { ...about, error });
    }
  }

  /**
   * Tells for each tool whether the enforced policy denies an agent every call of it. No call is judged or recorded.
   * @throws {StoreUnavailable} if the policy cannot be read
   */
  async visibility(
    enforced: ActivePolicy | null,
    agent: PolicyInput['agent'],
  ): Promise<(tool: string) => ToolVisibility> {
    if (!enforced) return hiddenSince(NONE_ENFORCED.reason);
    const loaded = await this.policies.load(enforced.policy, enforced.versionId);
    return loaded.isUsable ? visibilityTo(loaded.policy, agent) : hiddenSince(loaded.reason);
  }
}

const NO_BUDGETS: readonly PolicyBudget[] = [];

/** The decision while the enforced slot is empty: in a new organization, or after it was emptied. */
const NONE_ENFORCED: PolicyDecision = {
  outcome: 'deny',
  code: 'policy_denied',
  source: 'default',
  ruleId: null,
  reason: 'no policy enforced',
  message:
    'No policy is enforced, so nothing is allowed. Ask an admin to activate a version: POST /v1/policies/{id}/versions/{v}/activate.',
  approval: null,
  timeLimitTripped: false,
};

const judgement = (judged: PolicyDecision, enforced: ActivePolicy | null): Judgement => ({
  decision: {
    outcome: judged.outcome,
    code: judged.code,
    source: judged.source,
    rule_id: judged.ruleId,
    reason: judged.reason,
    message: judged.message,
    policy: enforced?.policy ?? null,
    policy_version: enforced?.versionId ?? null,
    ...(judged.verify === undefined ? {} : { verify: judged.verify }),
  },
  approval: judged.approval,
  budgets: judged.budgets ?? NO_BUDGETS,
});
