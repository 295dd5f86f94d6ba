import { Injectable } from '@nestjs/common';
import type { Decision } from '#libs/domain/gate';
import { FoldedStreams, RecentlyUsed, streamRef, type PolicyId, type PolicyVersionId } from '#libs/domain/kernel';
import { outlineRulesInTurns, policyDecider } from '#libs/domain/policies';

type DecidingRule = Pick<Decision, 'rule_id' | 'policy' | 'policy_version'>;
type Descriptions = ReadonlyMap<string, string | null>;

/** Limits of the cache, a few MB: a version has up to 500 rules, each with a description of up to 500 characters. */
const KEPT = { entries: 200, weight: 20_000 };

/**
 * The descriptions that authors of policies give their rules. A policy version never changes, so its descriptions are
 * cached.
 */
@Injectable()
export class RuleDescriptions {
  private readonly known = new RecentlyUsed<Descriptions>(KEPT);

  constructor(private readonly streams: FoldedStreams) {}

  /**
   * The description of the rule that decided, in the policy version that decided; null if no rule decided.
   * `description` is null if the author wrote none, or the version can no longer be parsed.
   * @throws {StoreUnavailable}
   */
  async ofDecision(decision: DecidingRule | null): Promise<{ readonly description: string | null } | null> {
    if (!decision?.rule_id || !decision.policy || !decision.policy_version) return null;
    const descriptions = await this.ofVersion(decision.policy, decision.policy_version);
    return { description: descriptions.get(decision.rule_id) ?? null };
  }

  private async ofVersion(policy: PolicyId, id: PolicyVersionId): Promise<Descriptions> {
    const known = this.known.get(id);
    if (known !== undefined) return known;
    const { state } = await this.streams.load(streamRef(policyDecider, policy));
    const version = state.status === 'none' ? undefined : state.versions.find((each) => each.id === id);
    const rules = version && (await outlineRulesInTurns(version.source));
    const descriptions = new Map((rules ?? []).map((rule) => [rule.id, rule.description]));
    this.known.set(id, descriptions, descriptions.size + 1);
    return descriptions;
  }
}
