import type { EgressPolicy } from '../connectors/index.js';
import {
  type CommandMetadata,
  type CommandRunner,
  DESTINATION_NEXT,
  DomainError,
  type FoldedStreams,
  type OrgId,
  streamRef,
} from '../kernel/index.js';
import { checkedWitnessPolicy, type WantedWitnessPolicy } from './witness-policy.js';
import { type ReplacingTerms, type WitnessPolicy, witnessPolicyDecider } from './witness-policy.decider.js';

/** What a change of the policy is judged by. */
export interface WitnessDestinations {
  readonly egress: Pick<EgressPolicy, 'check'>;
  /** Production takes https alone. */
  readonly isProduction: boolean;
}

/** Who cosigns the checkpoints of organizations: what their owners said. */
export class WitnessPolicies {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly destinations: WitnessDestinations,
  ) {}

  async of(org: OrgId): Promise<WitnessPolicy> {
    return (await this.streams.load(streamRef(witnessPolicyDecider, org))).state;
  }

  /**
   * Replaces it as a whole. Each difference is sealed.
   * @param terms those of an operator unless given
   * @throws {DomainError} validation_failed naming the field; destination_blocked, param the URL; recent_sign_in_required;
   * conflict, param `expected_updated_at`
   */
  async replace(
    org: OrgId,
    wanted: WantedWitnessPolicy,
    metadata: CommandMetadata,
    terms: ReplacingTerms = { canWeaken: true },
  ): Promise<WitnessPolicy> {
    const { isProduction } = this.destinations;
    const checked = checkedWitnessPolicy(wanted, isProduction);
    for (const [index, { url }] of checked.witnesses.entries()) await this.requireAllowed(url, index);
    const command = { type: 'ReplaceWitnessPolicy', data: { org, ...checked, ...terms }, metadata } as const;
    const { folded } = await this.runner.run(witnessPolicyDecider, org, command, metadata);
    return folded.state;
  }

  private async requireAllowed(url: string, index: number): Promise<void> {
    try {
      await this.destinations.egress.check(url);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'destination_blocked') throw error;
      const param = `witnesses[${index}].url`;
      const message = `The address of ${param} is not open to the service. ${DESTINATION_NEXT}`;
      throw new DomainError('destination_blocked', { param, message, cause: error });
    }
  }
}
