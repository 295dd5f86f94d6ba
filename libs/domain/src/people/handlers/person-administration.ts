import { sha256 } from '#libs/crypto';
import {
  DomainError,
  epochMsOf,
  type CommandMetadata,
  type CommandRunner,
  type OrgId,
  type Randomness,
  type UserId,
} from '../../kernel/index.js';
import type { MailAddress } from '../mail-address.js';
import type { Membership } from '../membership.js';
import { organizationDecider } from '../organization.decider.js';
import type { LoginTokens, PeopleDirectory, SignInHasher } from '../people.ports.js';
import { SECRET_BYTES, secretHash, secretText } from '../secrets.js';
import { SIGN_IN_MS } from '../session-limits.js';
import type { PersonSessions } from './person-sessions.js';

export interface PersonParts {
  readonly people: PeopleDirectory;
  readonly tokens: LoginTokens;
  readonly hasher: SignInHasher;
  readonly sessions: PersonSessions;
}

/** What whoever holds the machine may do for a person: a link to sign in with, another address, erasure. */
export class PersonAdministration {
  constructor(
    private readonly runner: CommandRunner,
    private readonly parts: PersonParts,
    private readonly randomness: Randomness,
  ) {}

  /**
   * A link that signs the person in, once, within 15 minutes. Sealed before it can be used.
   * @returns the token: what follows `#token=`
   * @throws {DomainError} not_found: no active member of this organization
   */
  async issueLink(org: OrgId, user: UserId, metadata: CommandMetadata): Promise<string> {
    const command = { type: 'IssueLoginLink' as const, data: { user }, metadata };
    await this.runner.run(organizationDecider, org, command, metadata);
    await this.parts.people.noteOrg(user, org);
    const token = secretText(this.randomness.bytes(SECRET_BYTES));
    const issuedAtMs = epochMsOf(metadata.now);
    await this.parts.tokens.issue({
      tokenHash: secretHash(token) as Uint8Array,
      user,
      addressHash: await this.addressHashOf(user),
      issuedAtMs,
      expiresAtMs: issuedAtMs + SIGN_IN_MS,
    });
    return token;
  }

  /**
   * The person reads mail elsewhere from now on. Every session ends and every link that was mailed is void, also of an
   * invitation: whoever reads the old mailbox may hold them. Cut off anywhere and done again it goes on where it was: each
   * organization records one change.
   * @throws {DomainError} not_found, conflict: another person has the address
   */
  async setAddress(org: OrgId, user: UserId, address: MailAddress, metadata: CommandMetadata): Promise<Membership> {
    await this.parts.people.noteOrg(user, org);
    const belongings = await this.parts.sessions.belongings(user);
    const here = belongings.find(({ organization }) => organization.org === org);
    if (here === undefined) throw new DomainError('not_found');
    const change = await this.parts.people.beginAddressChange(user, address, metadata.commandId);
    if (change === null) {
      throw new DomainError('conflict', {
        param: 'email',
        message: 'Another person has this address. Invite that person instead, or choose another address.',
      });
    }
    for (const { organization, member } of belongings) {
      const of = { ...metadata, org: organization.org, commandId: change };
      const command = { type: 'SetMemberAddress' as const, data: { membership: member.membership }, metadata: of };
      await this.runner.run(organizationDecider, organization.org, command, of);
    }
    await this.parts.tokens.voidAll(user, epochMsOf(metadata.now));
    await this.parts.sessions.endAll(user, 'address_set', metadata.actor, null);
    await this.parts.people.endAddressChange(user, change);
    return here.member;
  }

  /**
   * Removes what is known of the person but ids: address, sessions, mails. Deeds name ids alone, so they stay as they are.
   * @throws {DomainError} conflict: still a member somewhere
   */
  async erase(user: UserId, metadata: CommandMetadata): Promise<void> {
    const [first] = await this.parts.sessions.belongings(user);
    if (first !== undefined) {
      throw new DomainError('conflict', {
        message: `This person is still a member of ${first.organization.org}. Remove the membership first, with \`npm run ags -- people remove\`.`,
      });
    }
    await this.parts.sessions.endAll(user, 'everywhere', metadata.actor, null);
    await this.parts.people.erase(user);
  }

  /** Who has no address yet has tokens all the same, which no address finds. */
  private async addressHashOf(user: UserId): Promise<Uint8Array> {
    const address = (await this.parts.people.addressesOf([user])).get(user);
    if (address === undefined) return sha256(`service/no-address/v1\n${user}`);
    return this.parts.hasher.addressHash({ normal: address.toLowerCase(), spelling: address });
  }
}
