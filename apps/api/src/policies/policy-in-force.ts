import { Injectable } from '@nestjs/common';
import { FoldedStreams, type OrgId } from '#libs/domain/kernel';
import type { ActivePolicy } from '#libs/domain/people';
import {
  CompiledPolicies,
  evaluatePolicy,
  type PolicyDecision,
  type PolicyInput,
  policyUnavailable,
} from '#libs/domain/policies';
import { PolicyReader } from './policy-reader.js';

/** The version that decides calls now, and what it says of an input. */
export interface EnforcedJudge {
  readonly slot: ActivePolicy;
  readonly judge: (input: PolicyInput) => PolicyDecision;
}

/** What is enforced in an organization, to ask it about calls of the past. Deciding calls is for the gate. */
@Injectable()
export class PolicyInForce {
  private readonly compiled: CompiledPolicies;

  constructor(
    private readonly policies: PolicyReader,
    streams: FoldedStreams,
  ) {
    this.compiled = new CompiledPolicies(streams);
  }

  /** Null where no version is enforced. One that this build does not compile denies every call, as it does at the gate. */
  async of(org: OrgId): Promise<EnforcedJudge | null> {
    const { enforced } = await this.policies.slotsOf(org);
    if (enforced === null) return null;
    const loaded = await this.compiled.load(enforced.policy, enforced.versionId);
    return {
      slot: enforced,
      judge: (input) => (loaded.isUsable ? evaluatePolicy(loaded.policy, input) : policyUnavailable(loaded.reason)),
    };
  }
}
