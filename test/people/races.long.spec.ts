import { CreateAdminKey, RevokeAdminKey } from '#libs/domain/agents/handlers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DomainError, streamRef, type UserId } from '#libs/domain/kernel';
import {
  ACTIVE_KEYS_MAX,
  CODE_ATTEMPTS_MAX,
  type LivingOrganization,
  personDecider,
  requireMailAddress,
} from '#libs/domain/people';
import { ChangeMember, InviteMember, RemoveMember } from '#libs/domain/people/handlers';
import { PeopleInstances } from '../support/people-instances.js';

const ROUNDS = Number(process.env['PEOPLE_RACES'] ?? 40);

let people: PeopleInstances;
beforeAll(async () => {
  people = await PeopleInstances.start();
});
afterAll(() => people?.close());

const rounds = async (race: (round: number) => Promise<void>): Promise<void> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await people.forgetInvitations();
    await race(round);
  }
};

/** `done`, or the code of the refusal; anything else that went wrong fails the test. */
const endings = (settled: readonly PromiseSettledResult<unknown>[]): readonly string[] =>
  settled.map((each) => {
    if (each.status === 'fulfilled') return 'done';
    if (each.reason instanceof DomainError) return each.reason.code;
    throw each.reason;
  });

const count = async (table: string): Promise<number> => {
  const { rows } = await people.first.database.durable.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]?.n ?? 0;
};

const ownersOf = ({ members }: LivingOrganization) =>
  [...members.values()].filter(({ role, status }) => role === 'owner' && status === 'active');

describe(`${ROUNDS} races of two processes`, () => {
  it('a link that both use signs in once (rule PEOPLE-4)', async () => {
    const { owner, org } = people;
    await rounds(async (round) => {
      const before = await count('people.sessions');
      const token = await people.first.persons().issueLink(org, owner, people.asOperator());
      const settled = await people.atOnce(round, (deployment) =>
        deployment.signIn().byToken(token, people.signingIn()),
      );
      expect([...endings(settled)].sort()).toEqual(['done', 'login_link_invalid']);
      expect(await count('people.sessions')).toBe(before + 1);
    });
  });

  it('an invitation that both use makes one member and signs in once', async () => {
    const { org } = await people.newOrg();
    await rounds(async (round) => {
      const { token, member } = await people.invited(org, `both-${round}@example.com`, 'viewer');
      const settled = await people.atOnce(round, (deployment) =>
        deployment.signIn().byToken(token, people.signingIn()),
      );
      expect([...endings(settled)].sort()).toEqual(['done', 'login_link_invalid']);
      const { members } = await people.organization(org);
      expect(members.get(member.membership)).toMatchObject({ status: 'active', role: 'viewer' });
      // The list of members is bounded.
      await people.first.commands.execute(new RemoveMember(org, member.membership, people.asOperator(org)));
    });
  });

  it('a code that both use signs in once, and beside four wrong ones at most once (rule PEOPLE-4)', async () => {
    const { owner, org } = people;
    await rounds(async (round) => {
      const address = requireMailAddress(`code-${round}@example.com`);
      await people.first.persons().setAddress(org, owner, address, people.asOperator());
      const by = { requestId: `code-${round}`, network: '192.0.2.1', browser: null };
      const browser = await people.first.signIn().request(address, null, by);
      const { code } = await people.mailTo(address.spelling);
      const before = await count('people.sessions');
      const wrong = code === '000000' ? '000001' : '000000';
      const codes = [code, wrong, wrong, wrong, wrong, wrong, code] as string[];
      const settled = await people.atOnce(round, async (deployment) =>
        Promise.allSettled(
          codes.map((each) => deployment.signIn().byCode(address.spelling, each, browser, people.signingIn())),
        ),
      );
      const ends = settled.flatMap((each) => endings(each.status === 'fulfilled' ? each.value : [each]));
      const done = ends.filter((end) => end === 'done').length;
      expect(ends.filter((end) => end !== 'done' && end !== 'login_code_invalid')).toEqual([]);
      expect(done).toBeLessThanOrEqual(1);
      expect(await count('people.sessions')).toBe(before + done);
      const { rows } = await people.first.database.durable.query(
        `select attempts, used_ms is not null as used from people.tokens where code_hash is not null order by requested_ms desc limit 1`,
      );
      expect(rows[0]).toMatchObject({ used: done === 1 });
      expect((rows[0] as { attempts: number }).attempts).toBeLessThanOrEqual(CODE_ATTEMPTS_MAX);
      // So many wrong codes would have the deployment accept none for a while.
      await people.first.database.durable.query('delete from people.code_misses');
    });
  });

  it('two owners who demote each other: one is told last_owner, and an owner is left (rule PEOPLE-3)', async () => {
    await rounds(async (round) => {
      const { org, owner, ownerMembership } = await people.newOrg();
      const other = await people.joined(org, `owner-${round}@example.com`, 'owner');
      const settled = await people.atOnce(round, (deployment, index) => {
        const [actor, target] = index === 0 ? [owner, other.membership] : [other.user, ownerMembership.membership];
        return deployment.commands.execute(new ChangeMember(org, target, { role: 'admin' }, people.as(actor, org)));
      });
      expect([...endings(settled)].sort()).toEqual(['done', 'last_owner']);
      expect(ownersOf(await people.organization(org))).toHaveLength(1);
    });
  });

  it('two owners who leave: one stays', async () => {
    await rounds(async (round) => {
      const { org, owner, ownerMembership } = await people.newOrg();
      const other = await people.joined(org, `leaver-${round}@example.com`, 'owner');
      const settled = await people.atOnce(round, (deployment, index) => {
        const [actor, own] = index === 0 ? [owner, ownerMembership.membership] : [other.user, other.membership];
        return deployment.commands.execute(new RemoveMember(org, own, people.as(actor, org)));
      });
      expect([...endings(settled)].sort()).toEqual(['done', 'last_owner']);
      expect(ownersOf(await people.organization(org))).toHaveLength(1);
    });
  });

  it('an invitation taken up while it is removed opens nothing that lasts', async () => {
    const { org } = await people.newOrg();
    await rounds(async (round) => {
      const { token, member } = await people.invited(org, `gone-${round}@example.com`, 'viewer');
      const [join, removal] = await people.atOnce<unknown>(round, (deployment, index) =>
        index === 0
          ? deployment.signIn().byToken(token, people.signingIn())
          : deployment.commands.execute(new RemoveMember(org, member.membership, people.asOperator(org))),
      );
      expect(endings([removal as PromiseSettledResult<unknown>])).toEqual(['done']);
      const { members } = await people.organization(org);
      expect(members.get(member.membership)).toMatchObject({ status: 'removed' });
      if (join?.status === 'rejected') return expect(endings([join])).toEqual(['login_link_invalid']);
      const { opened } = join?.value as { opened: { token: string } };
      const judged = await Promise.allSettled(
        people.both.map((each) => each.personSessions().judge(opened.token, true)),
      );
      expect(endings(judged)).toEqual(['session_expired', 'session_expired']);
    });
  });

  it('a role changed while its member is removed: the removal holds', async () => {
    const { org } = await people.newOrg();
    await rounds(async (round) => {
      const member = await people.joined(org, `role-${round}@example.com`, 'viewer');
      const [change, removal] = await people.atOnce<unknown>(round, (deployment, index) =>
        index === 0
          ? deployment.commands.execute(
              new ChangeMember(org, member.membership, { role: 'admin' }, people.asOperator(org)),
            )
          : deployment.commands.execute(new RemoveMember(org, member.membership, people.asOperator(org))),
      );
      expect(endings([removal as PromiseSettledResult<unknown>])).toEqual(['done']);
      expect(['done', 'conflict']).toContain(endings([change as PromiseSettledResult<unknown>])[0]);
      const { members } = await people.organization(org);
      expect(members.get(member.membership)).toMatchObject({ status: 'removed' });
    });
  });

  it('of two keys after the ninth one is the tenth, and none the eleventh', async () => {
    const { org } = await people.newOrg();
    const { adminKeys } = await people.organization(org);
    for (let made = adminKeys.size; made < ACTIVE_KEYS_MAX - 1; made += 1) {
      await people.first.commands.execute(new CreateAdminKey(org, true, people.asOperator(org)));
    }
    await rounds(async (round) => {
      const settled = await people.atOnce(round, (deployment) =>
        deployment.commands.execute(new CreateAdminKey(org, true, people.asOperator(org))),
      );
      expect([...endings(settled)].sort()).toEqual(['conflict', 'done']);
      const keys = [...(await people.organization(org)).adminKeys.values()];
      const active = keys.filter(({ revokedAt }) => revokedAt === null);
      expect(active).toHaveLength(ACTIVE_KEYS_MAX);
      const newest = active.at(-1);
      if (newest) await people.first.commands.execute(new RevokeAdminKey(org, newest.key, people.asOperator(org)));
    });
  });

  it('two invitations of one address, of one organization or of two, are one person', async () => {
    const [one, other] = [await people.newOrg(), await people.newOrg()];
    await rounds(async (round) => {
      const orgs = round % 3 === 0 ? [one.org, one.org] : [one.org, other.org];
      const address = requireMailAddress(`twin-${round}@example.com`);
      const settled = await people.atOnce(round, (deployment, index) => {
        const org = orgs[index] as typeof one.org;
        return deployment.commands.execute(new InviteMember(org, { address, role: 'viewer' }, people.asOperator(org)));
      });
      expect(endings(settled)).toEqual(['done', 'done']);
      const made = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.member] : []));
      const users = new Set<UserId>(made.map(({ user }) => user));
      expect(users.size).toBe(1);
      const { state } = await people.first.streams.load(streamRef(personDecider, [...users][0] as UserId));
      expect(state.status).not.toBe('none');
      for (const [index, { membership }] of made.entries()) {
        const org = orgs[index] as typeof one.org;
        await people.first.commands.execute(new RemoveMember(org, membership, people.asOperator(org)));
      }
      if (orgs[0] === orgs[1]) expect(new Set(made.map(({ membership }) => membership)).size).toBe(1);
    });
  });
});
