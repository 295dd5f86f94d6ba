import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { PeopleDirectory, PersonSessions, type SessionRow } from '#libs/domain/people';
import { DomainError } from '#libs/domain/kernel';
import { membershipView, sessionView } from './member.view.js';

/** What GET /v1/me answers: who is signed in, where, and where else that person belongs. */
@Injectable()
export class MeAnswers {
  constructor(
    private readonly sessions: PersonSessions,
    private readonly people: PeopleDirectory,
  ) {}

  /** @param csrfToken what scripts may send; null where the browser's cookie is not the session's */
  async me(row: SessionRow, csrfToken: string | null): Promise<JsonObject> {
    const [belongings, addresses] = await Promise.all([
      this.sessions.belongings(row.user),
      this.people.addressesOf([row.user]),
    ]);
    const here = belongings.find(({ organization }) => organization.org === row.org);
    if (here === undefined) throw new DomainError('session_expired');
    const { organization, member } = here;
    const email = addresses.get(row.user) ?? null;
    return {
      object: 'me',
      user: { object: 'user', id: row.user, email },
      session: sessionView(row, row.session),
      org: {
        id: organization.org,
        name: organization.name,
        status: organization.status === 'stopped' ? 'stopped' : 'active',
      },
      membership: membershipView(organization, member, email),
      organizations: belongings.map((each) => ({
        id: each.organization.org,
        name: each.organization.name,
        role: each.member.role,
      })),
      csrf_token: csrfToken,
    };
  }
}
