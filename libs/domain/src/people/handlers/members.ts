import {
  DomainError,
  orgChannel,
  streamRef,
  type Bus,
  type CommandRunner,
  type FoldedStreams,
  type MembershipId,
  type OrgId,
  type UserId,
} from '../../kernel/index.js';
import type { Membership } from '../membership.js';
import type { OrganizationCommand } from '../organization.commands.js';
import { organizationDecider } from '../organization.decider.js';
import type { LivingOrganization } from '../organization.state.js';
import type { MailOrders, PeopleDirectory, SignInHasher } from '../people.ports.js';

/** Where the rows of people are written, and who is told. */
export interface MemberParts {
  readonly people: PeopleDirectory;
  readonly orders: MailOrders;
  readonly hasher: SignInHasher;
  readonly bus: Bus;
}

/** The people and the settings of an organization, and what the handlers that change them share. */
export class Members {
  constructor(
    readonly runner: CommandRunner,
    readonly streams: FoldedStreams,
    readonly parts: MemberParts,
    readonly signUp: 'invite' | 'closed',
  ) {}

  /** @throws {DomainError} not_found */
  async organization(org: OrgId): Promise<LivingOrganization> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none') throw new DomainError('not_found');
    return state;
  }

  /**
   * The address that each membership is shown with: of a member the one that the person has now, of who is invited the one that
   * was invited here. Who was removed is none of the organization's business any more, and has none.
   */
  async addressesOf(
    { org }: LivingOrganization,
    members: readonly Membership[],
  ): Promise<ReadonlyMap<MembershipId, string>> {
    const usersIn = (status: Membership['status']) =>
      members.filter((member) => member.status === status).map(({ user }) => user);
    const [active, invited] = await Promise.all([
      this.parts.people.addressesOf(usersIn('active')),
      this.parts.people.invitedAs(org, usersIn('invited')),
    ]);
    const known = { active, invited, removed: new Map<UserId, string>() };
    return new Map(
      members.flatMap(({ membership, user, status }) => {
        const address = known[status].get(user);
        return address === undefined ? [] : [[membership, address]];
      }),
    );
  }

  /** @throws {DomainError} what `organizationDecider` refuses with */
  async run(org: OrgId, command: OrganizationCommand): Promise<LivingOrganization> {
    const { folded } = await this.runner.run(organizationDecider, org, command, command.metadata);
    return folded.state as LivingOrganization;
  }

  /** Ends the waits that end by a change of members. */
  announce(org: OrgId): void {
    this.parts.bus.publish(orgChannel(org), 'members');
  }
}
