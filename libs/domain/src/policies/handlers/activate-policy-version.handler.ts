import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  checkedReason,
  CommandRunner,
  deedOf,
  DomainError,
  FoldedStreams,
  streamRef,
  type CommandMetadata,
  type DeedId,
  type OrgId,
  type PolicyId,
} from '../../kernel/index.js';
import { organizationDecider, type LivingOrganization } from '../../people/index.js';
import { policyDecider } from '../policy.decider.js';
import { type ExistingPolicy, findVersion, type PolicyVersion } from '../policy.state.js';

export interface SlotChange {
  readonly organization: LivingOrganization;
  /** Null when the slot already held what was asked. */
  readonly deed: DeedId | null;
}

export interface ActivatedVersion extends SlotChange {
  readonly policy: ExistingPolicy;
  readonly version: PolicyVersion;
}

/** Puts a version into the organization's enforced slot. */
export class ActivatePolicyVersion extends Command<ActivatedVersion> {
  constructor(
    readonly org: OrgId,
    readonly policy: PolicyId,
    /** A number, or a `pv_` id. */
    readonly version: string,
    readonly reason: string | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** Empties the enforced slot: then nothing is allowed. */
export class DeactivatePolicy extends Command<SlotChange> {
  constructor(
    readonly org: OrgId,
    readonly policy: PolicyId,
    readonly reason: string | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** The version a path names. @throws {DomainError} not_found */
export const versionNamed = (policy: ExistingPolicy, name: string): PolicyVersion => {
  const found = findVersion(policy, /^[1-9]\d{0,8}$/.test(name) ? Number(name) : name);
  if (!found) throw new DomainError('not_found');
  return found;
};

/** The organization's own policy. @throws {DomainError} not_found */
export const loadPolicy = async (streams: FoldedStreams, org: OrgId, id: PolicyId): Promise<ExistingPolicy> => {
  const { state } = await streams.load(streamRef(policyDecider, id));
  if (state.status === 'none' || state.org !== org) throw new DomainError('not_found');
  return state;
};

@CommandHandler(ActivatePolicyVersion)
export class ActivatePolicyVersionHandler implements ICommandHandler<ActivatePolicyVersion> {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly runner: CommandRunner,
  ) {}

  /** @throws {DomainError} not_found */
  async execute({
    org,
    policy: id,
    version: name,
    reason,
    metadata,
  }: ActivatePolicyVersion): Promise<ActivatedVersion> {
    const policy = await loadPolicy(this.streams, org, id);
    const version = versionNamed(policy, name);
    const slot = { mode: 'enforce' as const, policy: id, versionId: version.id, version: version.version };
    const data = { ...slot, versionHash: version.versionHash, reason: checkedReason(reason) };
    const change = await changeSlot(this.runner, org, { type: 'ActivatePolicy', data, metadata });
    return { ...change, policy, version };
  }
}

@CommandHandler(DeactivatePolicy)
export class DeactivatePolicyHandler implements ICommandHandler<DeactivatePolicy> {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly runner: CommandRunner,
  ) {}

  /** @throws {DomainError} not_found; conflict when no version of it is enforced */
  async execute({ org, policy, reason, metadata }: DeactivatePolicy): Promise<SlotChange> {
    await loadPolicy(this.streams, org, policy);
    const data = { mode: 'enforce' as const, policy, reason: checkedReason(reason) };
    return changeSlot(this.runner, org, { type: 'DeactivatePolicy', data, metadata });
  }
}

type SlotCommand = Extract<
  Parameters<typeof organizationDecider.decide>[0],
  { type: 'ActivatePolicy' | 'DeactivatePolicy' }
>;

const changeSlot = async (runner: CommandRunner, org: OrgId, command: SlotCommand): Promise<SlotChange> => {
  const { folded, events } = await runner.run(organizationDecider, org, command, command.metadata);
  const last = events.at(-1);
  return { organization: folded.state as LivingOrganization, deed: last ? deedOf(last) : null };
};
