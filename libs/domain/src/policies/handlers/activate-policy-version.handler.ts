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
import { organizationDecider, type LivingOrganization, type PolicyMode } from '../../people/index.js';
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

/** A version, and the slot that it is to be put into. */
interface VersionForSlot {
  readonly policy: PolicyId;
  /** A number, or a `pv_` id. */
  readonly version: string;
  readonly mode: PolicyMode;
}

/** Puts a version into one of the organization's slots: it decides, or is only asked what it would decide. */
export class ActivatePolicyVersion extends Command<ActivatedVersion> {
  constructor(
    readonly org: OrgId,
    readonly named: VersionForSlot,
    readonly reason: string | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** Empties a slot. Where nothing is enforced, nothing is allowed. */
export class DeactivatePolicy extends Command<SlotChange> {
  constructor(
    readonly org: OrgId,
    readonly policy: PolicyId,
    readonly mode: PolicyMode,
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

  /** @throws {DomainError} not_found; shadow_slot_taken: another version runs in shadow */
  async execute({ org, named, reason, metadata }: ActivatePolicyVersion): Promise<ActivatedVersion> {
    const policy = await loadPolicy(this.streams, org, named.policy);
    const version = versionNamed(policy, named.version);
    const slot = { mode: named.mode, policy: named.policy, versionId: version.id, version: version.version };
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

  /** @throws {DomainError} not_found; conflict when no version of it is in the slot */
  async execute({ org, policy, mode, reason, metadata }: DeactivatePolicy): Promise<SlotChange> {
    await loadPolicy(this.streams, org, policy);
    const data = { mode, policy, reason: checkedReason(reason) };
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
