import { CreateOrganization } from '#libs/domain/agents/handlers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorMetadata, type MembershipId, type OrgId, type UserId } from '#libs/domain/kernel';
import type { Role } from '#libs/domain/people';
import { parseConfig } from '#libs/infra/config';
import { Deployment } from '#libs/infra/deployment';
import { Fleet } from '../support/fleet.js';
import { joinedMember } from '../support/joined-member.js';
import { type Answer, callAt } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { STANDS, type Stores } from '../support/stores-of-a-fleet.js';

/** Both places take turns, so each case is tried from both. TWO_APIS=20 tries more often. */
const ROUNDS = Number(process.env['TWO_APIS'] ?? 2);
const DEADLINE_MS = 180_000;

let fleet: Fleet;
/** What an operator has beside the processes. */
let operator: Deployment;
let owner: Person;

/** Where an answer came from, and where the next call goes at once. They take turns. */
type Place = 'here' | 'there';
let round = 0;
const urlOf = (place: Place): string => {
  const [a, b] = fleet.running('api').map(({ baseUrl }) => baseUrl) as [string, string];
  return (place === 'here') === (round % 2 === 0) ? a : b;
};

const rounds = async (run: () => Promise<void>): Promise<void> => {
  for (round = 0; round < ROUNDS; round += 1) await run();
};

const withKey = (place: Place, key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  callAt(urlOf(place), method, path, { key, ...(body === undefined ? {} : { body }) });

/** Somebody with the cookies of one session, in whichever process. */
class Person {
  private cookies = new Map<string, string>();

  constructor(readonly user: UserId) {}

  async signIn(place: Place, org: string): Promise<void> {
    const metadata = operatorMetadata(operator, org);
    const token = await operator.persons().issueLink(org as OrgId, this.user, metadata);
    expect((await this.send(place, 'POST', '/v1/auth/callback', { token })).status).toBe(200);
  }

  /** Another browser window with the cookies as they are now. */
  asNow(): Person {
    const same = new Person(this.user);
    same.cookies = new Map(this.cookies);
    return same;
  }

  async send(place: Place, method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = {
      Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'Service-CSRF': this.cookies.get('service_csrf') ?? '',
    };
    const answer = await callAt(urlOf(place), method, path, { headers, ...(body === undefined ? {} : { body }) });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.cookies.set(name, value);
    }
    return answer;
  }

  get(place: Place, path = '/v1/me'): Promise<Answer> {
    return this.send(place, 'GET', path);
  }
}

interface Member {
  readonly membership: MembershipId;
  readonly person: Person;
}

const joined = async (org: string, role: Role, known?: UserId): Promise<Member> => {
  const { user, membership } = await joinedMember(operator, org as OrgId, role, known);
  return { membership, person: new Person(user) };
};

/** What shuts an agent out at once: for reading, and for a call, into which a process may let by what it remembers. */
const shutOut = async (place: Place, key: string): Promise<unknown> => {
  const answers = await Promise.all([
    withKey(place, key, 'GET', '/v1/actions'),
    withKey(place, key, 'POST', '/v1/actions', { tool: 'crm.absent', args: {} }),
  ]);
  const [code, ...others] = new Set(codesOf(answers));
  expect(others).toEqual([]);
  return code;
};
const codesOf = (answers: readonly Answer[]): readonly unknown[] => answers.map(({ error }) => error['code'] ?? 'none');
/** Which it remembers from then on. */
const expectLetIn = async (place: Place, key: string): Promise<void> =>
  expect((await withKey(place, key, 'GET', '/v1/actions')).status).toBe(200);

for (const { stand, isThere, open } of STANDS) {
  const title = `on ${stand}: what one api has answered holds at the other for the next call, ${ROUNDS} times`;
  describe.skipIf(!isThere)(title, { timeout: DEADLINE_MS }, () => {
    let stores: Stores;

    beforeAll(async () => {
      stores = await open();
      fleet = await Fleet.prepare(stores.env);
      for (const program of ['projector', 'worker'] as const) await fleet.start(program, 1);
      await fleet.start('api', 2);
      operator = await Deployment.open(parseConfig(fleet.environment), 'two apis test', silentLogger);
      owner = new Person((await operator.members().organization(fleet.org as OrgId)).owner);
      await owner.signIn('here', fleet.org);
    }, DEADLINE_MS);
    afterAll(async () => {
      await operator?.close();
      await fleet?.stop();
      await stores?.close();
    }, DEADLINE_MS);

    it('an agent’s key that was revoked', () =>
      rounds(async () => {
        const keys = `/v1/agents/${fleet.agent}/keys`;
        const { json } = await withKey('here', fleet.adminKey, 'POST', keys, {});
        const [id, secret] = [String(json['id']), String(json['secret'])];
        await expectLetIn('there', secret);
        expect((await withKey('here', fleet.adminKey, 'DELETE', `${keys}/${id}`)).status).toBe(200);
        expect(await shutOut('there', secret)).toBe('api_key_revoked');
      }));

    it('an admin key that was revoked', () =>
      rounds(async () => {
        const { json } = await owner.send('here', 'POST', '/v1/org/keys', {});
        const [id, secret] = [String(json['id']), String(json['secret'])];
        expect((await withKey('there', secret, 'GET', '/v1/org')).status).toBe(200);
        expect((await owner.send('here', 'DELETE', `/v1/org/keys/${id}`)).status).toBe(200);
        expect(codesOf([await withKey('there', secret, 'GET', '/v1/org')])).toEqual(['api_key_revoked']);
      }));

    it('an agent that was stopped, and resumed', () =>
      rounds(async () => {
        const change = async (verb: string): Promise<void> => {
          const answer = await withKey('here', fleet.adminKey, 'POST', `/v1/agents/${fleet.agent}/${verb}`, {});
          expect(answer.status).toBe(200);
        };
        await change('stop');
        expect(await shutOut('there', fleet.agentKey)).toBe('agent_stopped');
        await change('resume');
        await expectLetIn('there', fleet.agentKey);
      }));

    it('all agents that were stopped, and started', () =>
      rounds(async () => {
        expect((await withKey('here', fleet.adminKey, 'POST', '/v1/org/stop', {})).status).toBe(200);
        expect(await shutOut('there', fleet.agentKey)).toBe('org_stopped');
        expect((await owner.send('here', 'POST', '/v1/org/start', {})).status).toBe(200);
        await expectLetIn('there', fleet.agentKey);
      }));

    it('a member who was removed', () =>
      rounds(async () => {
        const { membership, person } = await joined(fleet.org, 'viewer');
        await person.signIn('here', fleet.org);
        expect((await person.get('there')).status).toBe(200);
        expect((await owner.send('here', 'DELETE', `/v1/org/members/${membership}`)).status).toBe(200);
        expect(codesOf(await Promise.all([person.get('there'), person.get('there', '/v1/org')]))).toEqual([
          'session_expired',
          'session_expired',
        ]);
      }));

    it('a role that was lowered, and raised', async () => {
      const { membership, person } = await joined(fleet.org, 'admin');
      await person.signIn('here', fleet.org);
      const rename = async (): Promise<readonly unknown[]> =>
        codesOf([await person.send('there', 'PATCH', '/v1/org', { name: `Round ${round}` })]);
      const become = async (role: Role): Promise<void> => {
        const answer = await owner.send('here', 'PATCH', `/v1/org/members/${membership}`, { role });
        expect(answer.status).toBe(200);
      };
      await rounds(async () => {
        expect(await rename()).toEqual(['none']);
        await become('viewer');
        expect(await rename()).toEqual(['insufficient_role']);
        await become('admin');
      });
    });

    it('a session that was ended: by itself, by another of the person, or with all of them', async () => {
      const { person: other } = await joined(fleet.org, 'viewer');
      await rounds(async () => {
        const person = new Person(other.user);
        await person.signIn('here', fleet.org);
        await other.signIn('here', fleet.org);
        const [kept, me] = [person.asNow(), await person.get('there')];
        expect(me.status).toBe(200);
        const { id } = me.json['session'] as { readonly id: string };
        const ends = [
          () => person.send('here', 'POST', '/v1/auth/logout', {}),
          () => other.send('here', 'DELETE', `/v1/sessions/${id}`),
          () => other.send('here', 'POST', '/v1/auth/logout', { everywhere: true }),
        ];
        expect((await (ends[round % ends.length] as () => Promise<Answer>)()).status).toBeLessThan(300);
        expect(codesOf([await kept.get('there')])).toEqual(['session_expired']);
      });
    });

    it('an organization that was switched to: the session before is over, the new one is there', async () => {
      const { organization } = await operator.commands.execute(
        new CreateOrganization('Second', operatorMetadata(operator, null)),
      );
      const { person } = await joined(fleet.org, 'viewer');
      await joined(organization.org, 'viewer', person.user);
      await person.signIn('here', fleet.org);
      await rounds(async () => {
        const { json } = await person.get('there');
        const here = (json['org'] as { readonly id: string }).id;
        const org = here === fleet.org ? organization.org : fleet.org;
        const kept = person.asNow();
        expect((await person.send('here', 'POST', '/v1/auth/switch-org', { org })).status).toBe(200);
        const [before, after] = await Promise.all([kept.get('there'), person.get('there')]);
        expect(codesOf([before])).toEqual(['session_expired']);
        expect(after).toMatchObject({ status: 200, json: { org: { id: org } } });
      });
    });
  });
}
