import {
  deedOf,
  DomainError,
  idOf,
  orgChannel,
  type Bus,
  type CommandMetadata,
  type CommandRunner,
  type DeedId,
  type KeyId,
  type OrgId,
  type Randomness,
  type UserId,
} from '../../kernel/index.js';
import {
  organizationDecider,
  personDecider,
  type LivingOrganization,
  type OrganizationCommand,
} from '../../people/index.js';
import type { IssueKeys } from '../issue-keys.js';
import { checkedReason, overlapEnd, OVERLAP_DEFAULT_SECONDS, type NewKey } from './agent-administration.js';

const NAME_PATTERN = /^[^\p{C}]{1,120}$/u;

export interface OrganizationChange {
  readonly organization: LivingOrganization;
  /** Null when the organization already was as asked. */
  readonly deed: DeedId | null;
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
    if (!NAME_PATTERN.test(name)) {
      throw new DomainError('validation_failed', {
        param: 'name',
        message: 'A name has 1 to 120 characters on one line.',
      });
    }
    const { org, owner } = ids;
    const person = { type: 'CreatePerson' as const, data: { user: owner }, metadata: { ...metadata, org: null } };
    await this.runner.run(personDecider, owner, person, person.metadata);
    const membership = idOf('mem', this.randomness.bytes(16));
    const data = { org, name, timezone: 'UTC', owner, membership };
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

  /** @throws {DomainError} not_found, conflict (10 active keys) */
  async createAdminKey(org: OrgId, livemode: boolean, metadata: CommandMetadata): Promise<NewKey> {
    const { record, secret } = await this.keys.mint({ kind: 'org', org }, livemode);
    const { deed } = await this.run(org, { type: 'CreateAdminKey', data: { record }, metadata });
    return { key: record.key, secret, deed };
  }

  async rollAdminKey(
    org: OrgId,
    roll: { key: KeyId; livemode: boolean; overlapSeconds?: number },
    metadata: CommandMetadata,
  ): Promise<NewKey> {
    const expiresAt = overlapEnd(metadata.now, roll.overlapSeconds ?? OVERLAP_DEFAULT_SECONDS);
    const { record, secret } = await this.keys.mint({ kind: 'org', org }, roll.livemode);
    const data = { key: roll.key, successor: record, expiresAt };
    const { deed } = await this.announced(org, this.run(org, { type: 'RollAdminKey', data, metadata }));
    return { key: record.key, secret, deed };
  }

  async revokeAdminKey(org: OrgId, key: KeyId, metadata: CommandMetadata): Promise<OrganizationChange> {
    return this.announced(org, this.run(org, { type: 'RevokeAdminKey', data: { key }, metadata }));
  }

  private async announced(org: OrgId, change: Promise<OrganizationChange>): Promise<OrganizationChange> {
    const done = await change;
    this.bus.publish(orgChannel(org), 'organization');
    return done;
  }

  private async run(org: OrgId, command: OrganizationCommand): Promise<OrganizationChange> {
    const { folded, events } = await this.runner.run(organizationDecider, org, command, command.metadata);
    const [first] = events;
    return { organization: folded.state as LivingOrganization, deed: first ? deedOf(first) : null };
  }
}
