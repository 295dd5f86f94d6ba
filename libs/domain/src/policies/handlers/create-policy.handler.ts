import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';

import { type CommandMetadata, CommandRunner, derivedId, type OrgId } from '../../kernel/index.js';
import { policyDecider } from '../policy.decider.js';
import type { PolicyVersionOrigin } from '../policy.events.js';
import { type ExistingPolicy } from '../policy.state.js';
import { checkVersion, existing } from './checked-version.js';

/** Makes a policy with its first version. It decides nothing until the version is activated. */
export class CreatePolicy extends Command<ExistingPolicy> {
  constructor(
    readonly data: {
      readonly org: OrgId;
      readonly name: string;
      readonly source: string;
      readonly notes: string | null;
      readonly origin: PolicyVersionOrigin;
    },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

@CommandHandler(CreatePolicy)
export class CreatePolicyHandler implements ICommandHandler<CreatePolicy> {
  constructor(private readonly runner: CommandRunner) {}

  /**
   * A retry of the same command answers with the policy the first try made.
   * @throws {DomainError} `policy_invalid` with diagnostics; `validation_failed` for name and notes
   */
  async execute({ data, metadata }: CreatePolicy): Promise<ExistingPolicy> {
    const { org, name } = data;
    const policy = derivedId('pol', metadata.commandId);
    const version = await checkVersion(data, metadata);
    const command = { type: 'CreatePolicy', data: { ...version, org, policy, name }, metadata } as const;
    const { folded } = await this.runner.run(policyDecider, policy, command, metadata);
    return existing(folded.state);
  }
}
