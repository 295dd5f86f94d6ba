import { expect, vi } from 'vitest';
import type { Answer } from '../../support/service.js';
import { headersOf, type Sent, type Session } from './sent.js';

interface Place {
  readonly send: (method: string, path: string, sent?: Sent) => Promise<Answer>;
  /** Where mails are printed as long as there is no mail server. */
  readonly printed: () => string;
  /** What the first start gave the first owner to sign in with. */
  readonly ownerToken: () => string;
}

const PATIENCE = { timeout: 20_000, interval: 20 };

/** The people of a stage: they sign in with what the program prints. */
export class StagePeople {
  private owners: Session | null = null;

  constructor(private readonly place: Place) {}

  /** The first owner, in a session that no test ends. */
  get owner(): Session {
    if (this.owners === null) throw new Error('nobody has signed in');
    return this.owners;
  }

  /** By the link of the first start. */
  async signOwnerIn(): Promise<void> {
    this.owners = await this.signIn(this.place.ownerToken());
  }

  async signIn(token: string): Promise<Session> {
    const answer = await this.place.send('POST', '/v1/auth/callback', { json: { token } });
    expect(answer.status).toBe(200);
    const pairs = answer.headers
      .getSetCookie()
      .map((line) => (line.split(';', 1)[0] as string).split('=') as [string, string]);
    const cookies = new Map(pairs);
    const [session, csrf] = [cookies.get('service_session') ?? '', cookies.get('service_csrf') ?? ''];
    return { cookie: `service_session=${session}; service_csrf=${csrf}`, csrf };
  }

  /** The id of the membership. */
  async invite(email: string, role: string): Promise<string> {
    const headers = headersOf('POST', this.owner);
    const { json } = await this.place.send('POST', '/v1/org/members', { json: { email, role }, headers });
    expect(json).toMatchObject({ status: 'invited' });
    return String(json['id']);
  }

  /** The token of the newest mail to somebody who was just sent one. */
  async token(email: string): Promise<string> {
    return vi.waitFor(() => {
      const token = this.tokens(email, 'confirm').at(-1);
      if (token === undefined) throw new Error(`no mail to ${email}`);
      return token;
    }, PATIENCE);
  }

  /** Of all mails to somebody whose links lead to this page, oldest first. */
  tokens(email: string, page: 'confirm' | 'approve'): readonly string[] {
    const link = new RegExp(`/auth/${page}#token=([A-Za-z0-9_-]{43})`);
    const mails = this.place.printed().split(/^ {2}Mail to /m);
    return mails
      .slice(1)
      .filter((mail) => mail.startsWith(`${email}:`))
      .flatMap((mail) => link.exec(mail)?.[1] ?? []);
  }

  async member(email: string, role: string): Promise<{ readonly session: Session; readonly membership: string }> {
    const membership = await this.invite(email, role);
    return { session: await this.signIn(await this.token(email)), membership };
  }
}
