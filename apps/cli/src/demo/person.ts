import { member, type Answer, type ScratchService } from './scratch-service.js';

/** A person’s browser: the cookies it was given, and the token that its own pages send with a change. */
export class Person {
  private cookies = '';
  private csrf = '';

  constructor(private readonly service: ScratchService) {}

  /** By the token of a link: what a press on the button of /auth/confirm does. */
  async signIn(token: string): Promise<Answer> {
    const answer = await this.send('POST', '/v1/auth/callback', { token });
    this.cookies = answer.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ');
    this.csrf = String(member(answer.json, 'csrf_token'));
    return answer;
  }

  send(method: string, path: string, body?: object): Promise<Answer> {
    const headers = { ...(this.cookies === '' ? {} : { cookie: this.cookies }), 'service-csrf': this.csrf };
    return this.service.request(method, path, headers, body);
  }

  /** What a page of another site can make the browser send: the cookies, and nothing that it cannot read. */
  sendFromElsewhere(method: string, path: string, body: object): Promise<Answer> {
    return this.service.request(method, path, { cookie: this.cookies, origin: 'https://elsewhere.example' }, body);
  }
}
