import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandMetadata, OrgId } from '../../kernel/index.js';
import { WitnessPolicies } from '../witness-policies.js';
import type { WantedWitnessPolicy } from '../witness-policy.js';
import type { ReplacingTerms, WitnessPolicy } from '../witness-policy.decider.js';

/** Says anew who cosigns the organization's checkpoints, and how many are enough. */
export class ReplaceWitnessPolicyOf extends Command<WitnessPolicy> {
  constructor(
    readonly org: OrgId,
    readonly wanted: WantedWitnessPolicy,
    readonly metadata: CommandMetadata,
    readonly terms: ReplacingTerms,
  ) {
    super();
  }
}

@CommandHandler(ReplaceWitnessPolicyOf)
export class ReplaceWitnessPolicyHandler implements ICommandHandler<ReplaceWitnessPolicyOf> {
  constructor(private readonly policies: WitnessPolicies) {}

  /** @throws {DomainError} validation_failed naming the field; destination_blocked; recent_sign_in_required; conflict */
  execute({ org, wanted, metadata, terms }: ReplaceWitnessPolicyOf): Promise<WitnessPolicy> {
    return this.policies.replace(org, wanted, metadata, terms);
  }
}
