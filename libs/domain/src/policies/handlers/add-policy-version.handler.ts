import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';

import {
  type CommandMetadata,
  CommandRunner,
  type OrgId,
  type PolicyId,
  type PolicyVersionId,
} from '../../kernel/index.js';
import { policyDecider } from '../policy.decider.js';
import type { PolicyVersionOrigin } from '../policy.events.js';
import { type ExistingPolicy, findVersionBySource, type PolicyVersion } from '../policy.state.js';
import { checkVersion, existing } from './checked-version.js';

export interface AddedVersion {
  readonly policy: ExistingPolicy;
  readonly version: PolicyVersion;
  /** False when a version with this content was already there (rule POLICY-3): 200 instead of 201. */
  readonly isNew: boolean;
}

export class AddPolicyVersion extends Command<AddedVersion> {
  constructor(
    readonly data: {
      readonly org: OrgId;
      readonly policy: PolicyId;
      readonly source: string;
      readonly notes: string | null;
      readonly origin: PolicyVersionOrigin;
      readonly expectedLatest?: PolicyVersionId;
    },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

@CommandHandler(AddPolicyVersion)
export class AddPolicyVersionHandler implements ICommandHandler<AddPolicyVersion> {
  constructor(private readonly runner: CommandRunner) {}

  /**
   * @throws {DomainError} `not_found`; `policy_invalid` with diagnostics; `validation_failed` for notes; `conflict` where
   * another version is the latest than the one expected
   */
  async execute({ data, metadata }: AddPolicyVersion): Promise<AddedVersion> {
    const checked = await checkVersion(data, metadata);
    const { org, expectedLatest } = data;
    const expected = expectedLatest === undefined ? {} : { expectedLatest };
    const command = { type: 'AddPolicyVersion', data: { ...checked, org, ...expected }, metadata } as const;
    const { folded, events, isReplay } = await this.runner.run(policyDecider, data.policy, command, metadata);
    const policy = existing(folded.state);
    const version = findVersionBySource(policy, checked.sourceHash);
    if (version === null) throw new Error(`the version just added to ${data.policy} is not there`);
    return { policy, version, isNew: events.length > 0 || isReplay };
  }
}
