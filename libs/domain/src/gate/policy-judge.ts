import {
  type Bus,
  NO_METER,
  type Logger,
  type Meter,
  type OrgId,
  type PolicyId,
  type PolicyVersionId,
  SHADOW_CHANNEL,
} from '../kernel/index.js';
import type { ActivePolicy } from '../people/index.js';
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
} from '../policies/index.js';
import type { Decision, ShadowDecision } from './action.events.js';
import { askShadow, FIRST_SHADOW_LIMIT_MS, SHADOW_LIMIT_MS, shadowDecision } from './shadow-decision.js';

/** What the policy says of a call. */
export interface Judgement {
  readonly decision: Decision;
  /** Whom to ask; set exactly where the decision is to ask people. */
  readonly approval: RequiredApproval | null;
  /** What of the policy the call is charged to; empty where it is refused. */
  readonly budgets: readonly PolicyBudget[];
}

/** Asks the enforced policy. Every failure of its own is a refusal with `policy_unavailable` (rule POLICY-2). */
export class PolicyJudge {
  /** Loaded for the shadow slot and never asked: the machine has yet to compile what evaluates them. */
  private readonly unasked = new Set<PolicyVersionId>();

  constructor(
    private readonly policies: CompiledPolicies,
    private readonly logger: Logger,
    private readonly meter: Meter = NO_METER,
  ) {}

  /** @throws {StoreUnavailable} the policy could not be read: nothing is decided, and nothing recorded */
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
   * What the version in shadow would say of an input, beside what the enforced one has said. It changes no answer: a version
   * that is not loaded yet is loaded in the background, and whatever goes wrong with it is what it said.
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
   * Makes a version that was put into the shadow slot ready, here and, as far as their processes can be reached, everywhere:
   * the first call after the answer is put to it. Resolves also where it could not be loaded, which the log tells.
   */
  async announceShadow(org: OrgId, shadow: Pick<ActivePolicy, 'policy' | 'versionId'>, bus: Bus): Promise<void> {
    bus.publish(SHADOW_CHANNEL, [org, shadow.policy, shadow.versionId].join(' '));
    await this.prepareShadow(org, shadow);
  }

  /** Makes ready what other processes announce. */
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
      // The next call asks again.
      this.logger.warn('the policy in shadow could not be loaded', { ...about, error });
    }
  }

  /**
   * Which tools the enforced policy denies to an agent whatever is asked of them. Nothing is judged, and nothing recorded.
   * @throws {StoreUnavailable} the policy could not be read
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

/** A new organization starts with a default deny; one whose slot was emptied is back there. */
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
