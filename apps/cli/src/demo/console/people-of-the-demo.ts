import { setTimeout as sleep } from 'node:timers/promises';
import type { ApprovalDecision } from '#libs/domain/gate';
import { Person } from '../person.js';
import { linkMailedTo, tokenOf } from '../printed-mails.js';
import { member, type Answer, type ScratchService } from '../scratch-service.js';
import { must } from './furniture.js';

export const OWNER = 'ada@nordlicht.example';
export const APPROVER = 'jonas@nordlicht.example';
const MAIL_DEADLINE_MS = 20_000;
const LOOK_AGAIN_MS = 20;

/** Those who decide in the story. Their mail is read from what the service prints as long as it has no mail server. */
export class PeopleOfTheDemo {
  private readonly signedIn = new Map<string, Person>();

  constructor(private readonly service: ScratchService) {}

  /** By the link that the first start keeps; invites the others, who join by their mail. */
  async begin(): Promise<void> {
    const first = new Person(this.service);
    must(await first.signIn(tokenOf(await this.service.firstSecrets())));
    for (const [email, role] of [
      [OWNER, 'owner'],
      [APPROVER, 'admin'],
      ['mira@nordlicht.example', 'viewer'],
    ] as const) {
      const seen = this.service.printed.length;
      must(await first.send('POST', '/v1/org/members', { email, role }));
      await this.enter(email, seen);
    }
  }

  /** A new session: none lasts longer than a week. */
  async signIn(email: string): Promise<void> {
    const seen = this.service.printed.length;
    await this.requestLink(email);
    await this.enter(email, seen);
  }

  /** The link of the mail that a sign-in request sends. */
  async link(email: string): Promise<string> {
    const seen = this.service.printed.length;
    await this.requestLink(email);
    return this.mailed(email, seen);
  }

  person(email: string): Person {
    const person = this.signedIn.get(email);
    if (person === undefined) throw new Error(`${email} is not signed in`);
    return person;
  }

  /** A session that nobody uses ends. The viewer looks in once and not again. */
  async stayIn(): Promise<void> {
    for (const email of [OWNER, APPROVER]) must(await this.person(email).send('GET', '/v1/me'));
  }

  async decide(email: string, approval: string, decision: ApprovalDecision, reason?: string): Promise<void> {
    const person = this.person(email);
    const path = `/v1/approvals/${approval}`;
    const shown = must(await person.send('GET', path));
    const body = decision === 'approve' ? { context_digest: shown['context_digest'] } : {};
    must(await person.send('POST', `${path}/${decision}`, { ...body, ...(reason === undefined ? {} : { reason }) }));
  }

  private async requestLink(email: string): Promise<void> {
    const answer: Answer = await this.service.request('POST', '/v1/auth/login', {}, { email });
    if (answer.status !== 202) throw new Error(String(member(answer.json, 'error', 'message')));
  }

  private async enter(email: string, seen: number): Promise<void> {
    const person = new Person(this.service);
    must(await person.signIn(tokenOf(await this.mailed(email, seen))));
    this.signedIn.set(email, person);
  }

  /** @param seen what was printed before is of other mails */
  private async mailed(email: string, seen: number): Promise<string> {
    for (const deadline = performance.now() + MAIL_DEADLINE_MS; performance.now() < deadline;) {
      const link = linkMailedTo(email, this.service.printed.slice(seen));
      if (link !== undefined) return link;
      await sleep(LOOK_AGAIN_MS);
    }
    throw new Error(`${email} was not mailed in time`);
  }
}
