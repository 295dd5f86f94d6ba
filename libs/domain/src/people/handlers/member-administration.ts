import { encodeBase64url, sha256 } from '#libs/crypto';
import {
  derivedId,
  DomainError,
  epochMsOf,
  MAIL_CHANNEL,
  orgChannel,
  streamRef,
  timestampOf,
  type Bus,
  type CommandMetadata,
  type CommandRunner,
  type FoldedStreams,
  type KeyId,
  type MembershipId,
  type OrgId,
  type UserId,
} from '../../kernel/index.js';
import type { MailAddress } from '../mail-address.js';
import type { Membership } from '../membership.js';
import type { OrganizationChanges, OrganizationCommand } from '../organization.commands.js';
import { organizationDecider } from '../organization.decider.js';
import type { LivingOrganization } from '../organization.state.js';
import type { MailOrders, PeopleDirectory, SignInHasher } from '../people.ports.js';
import { personDecider } from '../person.decider.js';
import type { Role } from '../role.js';
import { INVITATION_MS, INVITATIONS_PER_ADDRESS, INVITATIONS_PER_ORG } from '../session-limits.js';

export interface MemberChange {
  readonly organization: LivingOrganization;
  readonly member: Membership;
}

export interface MemberChanges {
  readonly role?: Role;
  /** With a role below admin: which admin keys of the person are not revoked. */
  readonly keepKeys?: readonly KeyId[];
  readonly references?: readonly string[];
  readonly chatAccounts?: readonly string[];
}

/** Where the rows of people are written, and who is told. */
export interface MemberParts {
  readonly people: PeopleDirectory;
  readonly orders: MailOrders;
  readonly hasher: SignInHasher;
  readonly bus: Bus;
}

type Invite = Extract<OrganizationCommand, { type: 'InviteMember' }>;

/** What may be done to the people and the settings of an organization. */
export class MemberAdministration {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly parts: MemberParts,
    private readonly signUp: 'invite' | 'closed',
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

  /**
   * Invites a person, or again with a fresh link. What is refused leaves no row. Else rows first, then the event that makes them
   * mean something, then the mail: it is written only once the stream says that this invitation is open.
   * @throws {DomainError} conflict (a member already; 500 members; sign-up closed), insufficient_role, rate_limited
   */
  async invite(
    org: OrgId,
    { address, role }: { address: MailAddress; role: Role },
    metadata: CommandMetadata,
  ): Promise<MemberChange & { readonly isNew: boolean }> {
    if (this.signUp === 'closed') {
      throw new DomainError('conflict', {
        message: 'Sign-up is closed in this deployment. An operator opens it with SERVICE_SIGN_UP=invite.',
      });
    }
    const { people, hasher, bus } = this.parts;
    const membership: MembershipId = derivedId('mem', metadata.commandId);
    const invitation = invitationOf(metadata.commandId);
    const expiresAt = timestampOf(epochMsOf(metadata.now) + INVITATION_MS);
    const commandFor = (user: UserId) => ({
      type: 'InviteMember' as const,
      data: { membership, user, role, invitation, expiresAt },
      metadata,
    });
    const known = (await people.find(hasher.addressHash(address))) ?? derivedId('usr', metadata.commandId);
    await this.requireAllowed(org, commandFor(known));
    await this.order(org, address, commandFor(known));
    const user = await this.person(address, metadata);
    await people.noteInvitation(user, org, address);
    const organization = await this.run(org, commandFor(user));
    bus.publish(MAIL_CHANNEL, '');
    const member = [...organization.members.values()].find(
      (candidate) => candidate.invitation === invitation || candidate.membership === membership,
    );
    if (!member) throw new DomainError('conflict');
    return { organization, member, isNew: member.membership === membership };
  }

  /** Both at once are two events and two deeds. @throws {DomainError} not_found, insufficient_role, last_owner, conflict */
  async change(
    org: OrgId,
    membership: MembershipId,
    { role, keepKeys = [], references, chatAccounts }: MemberChanges,
    metadata: CommandMetadata,
  ): Promise<MemberChange> {
    if (role !== undefined) {
      await this.run(org, { type: 'ChangeMemberRole', data: { membership, role, keepKeys }, metadata });
      this.parts.bus.publish(orgChannel(org), 'members');
    }
    if (references !== undefined || chatAccounts !== undefined) {
      const data = {
        membership,
        ...(references === undefined ? {} : { references }),
        ...(chatAccounts === undefined ? {} : { chatAccounts }),
      };
      await this.run(org, { type: 'ChangeMemberReferences', data, metadata: referencesCommand(metadata) });
    }
    return withMember(await this.organization(org), membership);
  }

  /**
   * The sessions of the person in this organization are over with the answer, and the admin keys, but for those to be kept.
   * @throws {DomainError} not_found, insufficient_role, last_owner; validation_failed: one to be kept is not the person's
   */
  async remove(
    org: OrgId,
    membership: MembershipId,
    metadata: CommandMetadata,
    keepKeys: readonly KeyId[] = [],
  ): Promise<MemberChange> {
    const organization = await this.run(org, { type: 'RemoveMember', data: { membership, keepKeys }, metadata });
    this.parts.bus.publish(orgChannel(org), 'members');
    return withMember(organization, membership);
  }

  /** @throws {DomainError} insufficient_role */
  async update(org: OrgId, changes: OrganizationChanges, metadata: CommandMetadata): Promise<LivingOrganization> {
    return this.run(org, { type: 'UpdateOrganization', data: changes, metadata });
  }

  /** Judges a command without recording it. One that was recorded already is not judged again. */
  private async requireAllowed(org: OrgId, command: OrganizationCommand): Promise<void> {
    const { state, causations } = await this.streams.load(streamRef(organizationDecider, org));
    if (!causations.has(command.metadata.commandId)) organizationDecider.decide(command, state);
  }

  /** @throws {DomainError} rate_limited */
  private async order(org: OrgId, address: MailAddress, { data, metadata }: Invite): Promise<void> {
    const { membership, user, invitation, expiresAt } = data;
    const freeAtMs = await this.parts.orders.orderInvitation({
      id: invitation,
      address,
      user,
      org,
      // The one that the person has already, if any, is found by the invitation.
      membership,
      invitation,
      requestedAtMs: epochMsOf(metadata.now),
      expiresAtMs: epochMsOf(expiresAt),
    });
    if (freeAtMs === null) return;
    throw new DomainError('rate_limited', {
      message:
        `At most ${INVITATIONS_PER_ADDRESS} invitations an hour are mailed to one address, and at most ` +
        `${INVITATIONS_PER_ORG} by one organization. Wait as long as Retry-After says.`,
      retryAfterSeconds: Math.max(1, Math.ceil((freeAtMs - epochMsOf(metadata.now)) / 1000)),
    });
  }

  /** The person of an address, made where nobody has it yet: the row first, then the event. */
  private async person(address: MailAddress, metadata: CommandMetadata): Promise<UserId> {
    const user = await this.parts.people.claim(address, derivedId('usr', metadata.commandId));
    const { state } = await this.streams.load(streamRef(personDecider, user));
    if (state.status === 'none') {
      const command = { type: 'CreatePerson' as const, data: { user }, metadata: { ...metadata, org: null } };
      await this.runner.run(personDecider, user, command, command.metadata).catch((error: unknown) => {
        // Two invitations of one address at once: the other one has made the same person.
        if (!(error instanceof DomainError && error.code === 'conflict')) throw error;
      });
    }
    return user;
  }

  private async run(org: OrgId, command: OrganizationCommand): Promise<LivingOrganization> {
    const { folded } = await this.runner.run(organizationDecider, org, command, command.metadata);
    return folded.state as LivingOrganization;
  }
}

/** A step of its own: the command id of the first would say that it was done. */
export const referencesCommand = (metadata: CommandMetadata): CommandMetadata => ({
  ...metadata,
  commandId: `${metadata.commandId}:references`,
});

/** Of every try of one command the same: a retried request does not void the link that its first try mailed. */
const invitationOf = (commandId: string): string =>
  encodeBase64url(sha256(`service/invitation/v1\n${commandId}`)).slice(0, 22);

const withMember = (organization: LivingOrganization, membership: MembershipId): MemberChange => {
  const member = organization.members.get(membership);
  if (!member) throw new DomainError('not_found');
  return { organization, member };
};
