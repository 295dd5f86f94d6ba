import { Injectable } from '@nestjs/common';
import { PersonSessions } from '#libs/domain/people';
import { type PersonPrincipal, SessionAuthenticator } from '../http/authenticator.port.js';

/** The edge's port over the people context. */
@Injectable()
export class PeopleSessionAuthenticator extends SessionAuthenticator {
  constructor(private readonly sessions: PersonSessions) {
    super();
  }

  override async authenticate(token: string, isRequest: boolean): Promise<PersonPrincipal> {
    const session = await this.sessions.judge(token, isRequest);
    const { organization, member } = session;
    return {
      kind: 'person',
      org: organization.org,
      user: member.user,
      role: member.role,
      pinnedVersion: organization.pinnedVersion,
      session,
    };
  }
}
