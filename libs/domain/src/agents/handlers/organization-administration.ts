import {
  checkedName,
  checkedReason,
  deedOf,
  idOf,
  LATEST_API_VERSION,
  type Bus,
  type CommandMetadata,
  type CommandRunner,
  type DeedId,
  type KeyId,
  type OrgId,
  type Randomness,
  type Timestamp,
  type UserId,
} from '../../kernel/index.js';
import {
  organizationDecider,
  personDecider,
  type LivingOrganization,
  type OrganizationCommand,
} from '../../people/index.js';
import type { IssueKeys } from '../issue-keys.js';
import { newKeyOf, type NewKey } from './agent-administration.js';
import { announced } from './announced.js';
import { overlapEnd } from './checked-input.js';

export interface OrganizationChange {
  readonly organization: LivingOrganization;
  /** Null when the organization already was as asked. */
  readonly deed: DeedId | null;
  /** An earlier try of the same command had succeeded; nothing changed now. */
  readonly isReplay: boolean;
}

/** What an operator or an admin may do to an organization and its admin keys. */
export class OrganizationAdministration {
  constructor(
    private readonly runner: CommandRunner,
    private readonly keys: IssueKeys,
    private readonly randomness: Randomness,
    private readonly bus: Bus,
  ) {}

  /**
   * A new organization and the person who owns it. With the ids of an earlier try it goes on where that one ended.
   * @throws {DomainError} validation_failed
   */
  async create(
    name: string,
    metadata: CommandMetadata,
    ids: { org: OrgId; owner: UserId } = {
      org: idOf('org', this.randomness.bytes(16)),
      owner: idOf('usr', this.randomness.bytes(16)),
    },
  ): Promise<OrganizationChange> {
    const { org, owner } = ids;
    const described = { org, name: checkedName(name), timezone: 'UTC', owner };
    const person = { type: 'CreatePerson' as const, data: { user: owner }, metadata: { ...metadata, org: null } };
    await this.runner.run(personDecider, owner, person, person.metadata);
    const membership = idOf('mem', this.randomness.bytes(16));
    const data = { ...described, membership, pinned_version: LATEST_API_VERSION };
    return this.run(org, { type: 'CreateOrganization', data, metadata: { ...metadata, org } });
  }

  /** Stops every agent of the organization. */
  async stop(org: OrgId, reason: string | null, metadata: CommandMetadata): Promise<OrganizationChange> {
    return this.announced(
      org,
      this.run(org, { type: 'StopOrganization', data: { reason: checkedReason(reason) }, metadata }),
    );
  }

  async start(org: OrgId, reason: string | null, metadata: CommandMetadata): Promise<OrganizationChange> {
    return this.announced(
      org,
      this.run(org, { type: 'StartOrganization', data: { reason: checkedReason(reason) }, metadata }),
    );
  }

  /** @throws {DomainError} not_found, conflict (10 active keys), validation_failed (an end that is over) */
  async createAdminKey(
    org: OrgId,
    livemode: boolean,
    metadata: CommandMetadata,
    expiresAt: Timestamp | null = null,
  ): Promise<NewKey> {
    const { record, secret } = await this.keys.mint({ kind: 'org', org }, livemode, metadata.commandId);
    const change = await this.run(org, { type: 'CreateAdminKey', data: { record, expiresAt }, metadata });
    return newKeyOf(record.key, secret, change);
  }

  async rollAdminKey(
    org: OrgId,
    roll: { key: KeyId; livemode: boolean; overlapSeconds?: number },
    metadata: CommandMetadata,
  ): Promise<NewKey> {
    const expiresAt = overlapEnd(metadata.now, roll.overlapSeconds);
    const { record, secret } = await this.keys.mint({ kind: 'org', org }, roll.livemode, metadata.commandId);
    const data = { key: roll.key, successor: record, expiresAt };
    const change = await this.announced(org, this.run(org, { type: 'RollAdminKey', data, metadata }));
    return newKeyOf(record.key, secret, change);
  }

  async revokeAdminKey(org: OrgId, key: KeyId, metadata: CommandMetadata): Promise<OrganizationChange> {
    return this.announced(org, this.run(org, { type: 'RevokeAdminKey', data: { key }, metadata }));
  }

  private announced(org: OrgId, change: Promise<OrganizationChange>): Promise<OrganizationChange> {
    return announced(change, this.bus, org, 'organization');
  }

  private async run(org: OrgId, command: OrganizationCommand): Promise<OrganizationChange> {
    const { folded, events, isReplay } = await this.runner.run(organizationDecider, org, command, command.metadata);
    const [first] = events;
    return { organization: folded.state as LivingOrganization, deed: first ? deedOf(first) : null, isReplay };
  }
}
