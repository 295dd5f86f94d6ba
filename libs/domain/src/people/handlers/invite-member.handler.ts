import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { encodeBase64url, sha256 } from '#libs/crypto';
import {
  derivedId,
  DomainError,
  epochMsOf,
  MAIL_CHANNEL,
  streamRef,
  timestampOf,
  type CommandMetadata,
  type MembershipId,
  type OrgId,
  type UserId,
} from '../../kernel/index.js';
import type { MailAddress } from '../mail-address.js';
import type { OrganizationCommand } from '../organization.commands.js';
import { organizationDecider } from '../organization.decider.js';
import { personDecider } from '../person.decider.js';
import { INVITATION_MS, INVITATIONS_PER_ADDRESS, INVITATIONS_PER_ORG } from '../session-limits.js';
import { InviteMember, type InvitedMember } from './member.messages.js';
import { Members } from './members.js';

type Invite = Extract<OrganizationCommand, { type: 'InviteMember' }>;

@CommandHandler(InviteMember)
export class InviteMemberHandler implements ICommandHandler<InviteMember> {
  constructor(private readonly members: Members) {}

  /**
   * What is refused leaves no row. Else rows first, then the event that makes them mean something, then the mail: it is
   * written only once the stream says that this invitation is open.
   * @throws {DomainError} conflict (a member already; 500 members; sign-up closed), insufficient_role, rate_limited
   */
  async execute({ org, invited: { address, role }, metadata }: InviteMember): Promise<InvitedMember> {
    if (this.members.signUp === 'closed') {
      throw new DomainError('conflict', {
        message: 'Sign-up is closed in this deployment. An operator opens it with SERVICE_SIGN_UP=invite.',
      });
    }
    const { people, hasher, bus } = this.members.parts;
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
    const organization = await this.members.run(org, commandFor(user));
    bus.publish(MAIL_CHANNEL, '');
    const member = [...organization.members.values()].find(
      (candidate) => candidate.invitation === invitation || candidate.membership === membership,
    );
    if (!member) throw new DomainError('conflict');
    return { organization, member, isNew: member.membership === membership };
  }

  /** Judges a command without recording it. One that was recorded already is not judged again. */
  private async requireAllowed(org: OrgId, command: OrganizationCommand): Promise<void> {
    const { state, causations } = await this.members.streams.load(streamRef(organizationDecider, org));
    if (!causations.has(command.metadata.commandId)) organizationDecider.decide(command, state);
  }

  /** @throws {DomainError} rate_limited */
  private async order(org: OrgId, address: MailAddress, { data, metadata }: Invite): Promise<void> {
    const { membership, user, invitation, expiresAt } = data;
    const freeAtMs = await this.members.parts.orders.orderInvitation({
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
    const user = await this.members.parts.people.claim(address, derivedId('usr', metadata.commandId));
    const { state } = await this.members.streams.load(streamRef(personDecider, user));
    if (state.status === 'none') {
      const command = { type: 'CreatePerson' as const, data: { user }, metadata: { ...metadata, org: null } };
      await this.members.runner.run(personDecider, user, command, command.metadata).catch((error: unknown) => {
        // Two invitations of one address at once: the other one has made the same person.
        if (!(error instanceof DomainError && error.code === 'conflict')) throw error;
      });
    }
    return user;
  }
}

/** Of every try of one command the same: a retried request does not void the link that its first try mailed. */
const invitationOf = (commandId: string): string =>
  encodeBase64url(sha256(`service/invitation/v1\n${commandId}`)).slice(0, 22);
