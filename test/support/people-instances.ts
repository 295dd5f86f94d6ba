import { CreateOrganization } from '#libs/domain/agents/handlers';
import { operatorMetadata, type Logger, type OrgId, type RequestId, type UserId } from '#libs/domain/kernel';
import {
  type LivingOrganization,
  MailClerk,
  type MailOutcome,
  MailSender,
  type Membership,
  type OutgoingMail,
  requireMailAddress,
  type Role,
  type SignInRequest,
} from '#libs/domain/people';
import { InviteMember } from '#libs/domain/people/handlers';
import { parseConfig } from '#libs/infra/config';
import { Deployment, prepareDeployment } from '#libs/infra/deployment';
import { createWholeDatabase, type TestDatabase } from './database.js';
import { removeStateDir, temporaryStateDir } from './service.js';
import { silentLogger } from './silent-logger.js';

export interface SentMail extends OutgoingMail {
  readonly token: string;
  readonly code: string | null;
}

class CollectingSender extends MailSender {
  readonly sent: SentMail[] = [];

  override send(_id: string, mail: OutgoingMail): Promise<MailOutcome> {
    const token = /#token=([A-Za-z0-9_-]{43})/.exec(mail.text)?.[1] ?? '';
    this.sent.push({ ...mail, token, code: /^(\d{6})$/m.exec(mail.text)?.[1] ?? null });
    return Promise.resolve('sent');
  }
}

/**
 * The people of a deployment as two processes have them: each with connections and memory of its own, on one PostgreSQL.
 * Nothing works in the background; mails are written when a test says so.
 */
export class PeopleInstances {
  private readonly sender = new CollectingSender();
  private readonly clerk: MailClerk;

  private constructor(
    readonly both: readonly [Deployment, Deployment],
    readonly org: OrgId,
    readonly owner: UserId,
    private readonly parts: { readonly database: TestDatabase; readonly stateDir: string },
  ) {
    const [{ streams, people, clock, randomness, ...first }] = both;
    const { directory, desk, hasher } = people;
    const sessions = both[0].personSessions();
    const isStillOwed = (): Promise<boolean> => Promise.resolve(true);
    const pageOf = (page: string): string => `${first.baseUrl}/${page}`;
    const clerkParts = { people: directory, desk, hasher, sessions, sender: this.sender, pageOf, isStillOwed };
    this.clerk = new MailClerk(
      streams,
      clerkParts,
      { clock, randomness },
      (token) => `${first.baseUrl}#token=${token}`,
    );
  }

  static async start(logger: Logger = silentLogger): Promise<PeopleInstances> {
    const [database, stateDir] = await Promise.all([createWholeDatabase(), temporaryStateDir()]);
    const config = parseConfig({
      SERVICE_STATE_DIR: stateDir,
      SERVICE_ENV: 'production',
      SERVICE_BASE_URL: 'https://ags.example.com',
      DATABASE_URL: database.connectionString,
    });
    const { deployment, prepared } = await prepareDeployment(config, 'instance 1', logger, () => undefined);
    const second = await Deployment.open(config, 'instance 2', logger);
    return new PeopleInstances([deployment, second], prepared.org, prepared.owner, { database, stateDir });
  }

  get first(): Deployment {
    return this.both[0];
  }

  get connectionString(): string {
    return this.parts.database.connectionString;
  }

  /** Both do it at once, the one or the other a little earlier. */
  async atOnce<Result>(
    round: number,
    task: (deployment: Deployment, index: number) => Promise<Result>,
  ): Promise<PromiseSettledResult<Result>[]> {
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    const settled = await Promise.allSettled(order.map((index) => task(this.both[index] as Deployment, index)));
    return order.map((_, index) => settled[order.indexOf(index)] as PromiseSettledResult<Result>);
  }

  /** What an operator does, each time another command. */
  asOperator(org: OrgId = this.org) {
    return operatorMetadata(this.first, org);
  }

  /** What a person does. */
  as(user: UserId, org: OrgId = this.org) {
    return { ...this.asOperator(org), actor: { type: 'user' as const, id: user } };
  }

  signingIn(requestId = `req_${'0'.repeat(26)}` as RequestId): SignInRequest {
    return { place: { network: '192.0.2.1', userAgent: null }, requestId };
  }

  /** Writes and sends what was ordered. @returns the newest mail to an address */
  async mailTo(address: string): Promise<SentMail> {
    await this.clerk.write();
    await this.clerk.send();
    const found = this.sender.sent.findLast(({ to }) => to === address);
    if (!found) throw new Error(`no mail to ${address}`);
    return found;
  }

  async newOrg(): Promise<{ readonly org: OrgId; readonly owner: UserId; readonly ownerMembership: Membership }> {
    const { organization } = await this.first.commands.execute(
      new CreateOrganization('Races', operatorMetadata(this.first, null)),
    );
    const { org, owner, members } = organization;
    return { org, owner, ownerMembership: [...members.values()][0] as Membership };
  }

  async invited(
    org: OrgId,
    email: string,
    role: Role,
  ): Promise<{ readonly member: Membership; readonly token: string }> {
    const address = requireMailAddress(email);
    const { member } = await this.first.commands.execute(
      new InviteMember(org, { address, role }, this.asOperator(org)),
    );
    return { member, token: (await this.mailTo(email)).token };
  }

  /** Many rounds are more than an hour's invitations: those so far are counted no more. */
  async forgetInvitations(): Promise<void> {
    const { durable } = this.first.database;
    await durable.query(`delete from people.mail_orders where kind = 'invitation'`);
    await durable.query(`update people.tokens set requested_ms = 0 where purpose = 'invite'`);
  }

  async joined(org: OrgId, email: string, role: Role): Promise<Membership> {
    const { token, member } = await this.invited(org, email, role);
    await this.first.signIn().byToken(token, this.signingIn());
    return member;
  }

  async organization(org: OrgId): Promise<LivingOrganization> {
    return this.first.members().organization(org);
  }

  async close(): Promise<void> {
    for (const deployment of this.both) await deployment.close();
    await removeStateDir(this.parts.stateDir);
    await this.parts.database.drop();
  }
}
