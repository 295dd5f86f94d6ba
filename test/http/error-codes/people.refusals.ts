import { expect } from 'vitest';
import { longAfterSignIn } from '../../support/long-after-sign-in.js';
import type { RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';
import { headersOf, type Session } from './sent.js';

const invalid = (param: string): Verdict => [400, 'invalid_request_error', 'validation_failed', param];
const conflict = (param: string | null): Verdict => [409, 'invalid_request_error', 'conflict', param];
const noRole = (param: string | null): Verdict => [403, 'permission_error', 'insufficient_role', param];
const NOT_FOUND: Verdict = [404, 'invalid_request_error', 'not_found', null];
const NO_LINK: Verdict = [400, 'invalid_request_error', 'login_link_invalid', null];
const NO_CODE: Verdict = [400, 'invalid_request_error', 'login_code_invalid', null];
const LAST_OWNER: Verdict = [409, 'invalid_request_error', 'last_owner', null];
const ENDED = {
  verdict: [401, 'authentication_error', 'session_expired', null] as Verdict,
  headers: { 'www-authenticate': 'Bearer realm="service"' },
};
const BY_PEOPLE = {
  verdict: [403, 'permission_error', 'insufficient_scope', null] as Verdict,
  headers: { 'www-authenticate': expect.stringContaining('error="insufficient_scope"') as string },
};
/** The window is an hour and began in this run. */
const LIMITED = {
  verdict: [429, 'rate_limit_error', 'rate_limited', null] as Verdict,
  headers: { 'retry-after': expect.stringMatching(/^3[0-6]\d\d$/) as string },
};

/** Of these tests, made once: an admin who is signed in, and two who were invited. */
const made: { admin: Session | null; adminMembership: string; invited: string } = {
  admin: null,
  adminMembership: '',
  invited: '',
};

const enter = async ({ people }: Stage): Promise<void> => {
  const { session, membership } = await people.member('admin@example.com', 'admin');
  Object.assign(made, { admin: session, adminMembership: membership });
  made.invited = await people.invite('invited@example.com', 'viewer');
};

const admin = (): Session => {
  if (made.admin === null) throw new Error('nobody has signed in');
  return made.admin;
};

const callback = (stage: Stage, json: object) => stage.send('POST', '/v1/auth/callback', { json });

const SIGN_IN: RefusalGroup = {
  title: 'signing in',
  enter,
  refusals: [
    {
      rule: 'what is no address',
      verdict: invalid('email'),
      provoke: ({ send }) => send('POST', '/v1/auth/login', { json: { email: 'a@x.com, b@x.com' } }),
    },
    {
      rule: 'a link that nobody was sent, when it is looked at',
      verdict: NO_LINK,
      provoke: ({ send }) => send('POST', '/v1/auth/preview', { json: { token: 'k'.repeat(43) } }),
    },
    {
      rule: 'a link that was used',
      verdict: NO_LINK,
      provoke: async (stage) => callback(stage, { token: await stage.people.token('admin@example.com') }),
    },
    {
      rule: 'a link that a newer invitation replaced',
      verdict: NO_LINK,
      provoke: async (stage) => {
        const token = await stage.people.token('invited@example.com');
        await stage.people.invite('invited@example.com', 'viewer');
        return callback(stage, { token });
      },
    },
    {
      rule: 'a code that nobody was sent',
      verdict: NO_CODE,
      provoke: (stage) => callback(stage, { email: 'admin@example.com', code: '000000' }),
    },
    {
      rule: 'a link and a code at once',
      verdict: invalid('token'),
      provoke: (stage) => callback(stage, { token: 'x', email: 'a@example.com', code: '1' }),
    },
    {
      rule: 'a page of another site',
      verdict: [403, 'permission_error', 'csrf_failed', null],
      provoke: ({ send }) =>
        send('POST', '/v1/auth/callback', { json: { token: 'x' }, headers: { 'Sec-Fetch-Site': 'cross-site' } }),
    },
  ],
};

const SESSIONS: RefusalGroup = {
  title: 'a session',
  refusals: [
    {
      rule: 'one that was signed out',
      ...ENDED,
      provoke: async ({ people, send }) => {
        const { session } = await people.member('leaver@example.com', 'viewer');
        expect(await send('POST', '/v1/auth/logout', { as: session })).toMatchObject({ status: 204 });
        return send('GET', '/v1/me', { as: session });
      },
    },
    {
      rule: 'one whose member was removed',
      ...ENDED,
      provoke: async ({ people, owner, send }) => {
        const { session, membership } = await people.member('removed@example.com', 'viewer');
        expect(await owner('DELETE', `/v1/org/members/${membership}`)).toMatchObject({ status: 200 });
        return send('GET', '/v1/org', { as: session });
      },
    },
    {
      rule: 'a change with the token of another session',
      verdict: [403, 'permission_error', 'csrf_failed', 'Service-CSRF'],
      provoke: ({ people, send }) =>
        send('POST', '/v1/org/stop', { headers: { ...headersOf('POST', people.owner), 'Service-CSRF': admin().csrf } }),
    },
    {
      rule: 'a window of another organization',
      verdict: conflict('Service-Org'),
      provoke: ({ owner }) => owner('GET', '/v1/org', { headers: { 'Service-Org': `org_${'0'.repeat(26)}` } }),
    },
    {
      rule: 'two windows at once',
      verdict: invalid('Service-Org'),
      provoke: ({ people, raw, service }) => {
        const line = `Service-Org: ${service.org}\r\n`;
        return raw(`GET /v1/org HTTP/1.1\r\nHost: localhost\r\nCookie: ${people.owner.cookie}\r\n${line}${line}\r\n`);
      },
    },
    {
      rule: 'to switch to an organization where the person is nobody',
      verdict: [404, 'invalid_request_error', 'not_found', 'org'],
      provoke: ({ owner }) => owner('POST', '/v1/auth/switch-org', { json: { org: `org_${'0'.repeat(26)}` } }),
    },
    {
      rule: 'to end a session of somebody else',
      verdict: NOT_FOUND,
      provoke: async ({ owner, send }) => {
        const { json } = await owner('GET', '/v1/me');
        const { id } = json['session'] as { id: string };
        return send('DELETE', `/v1/sessions/${id}`, { as: admin() });
      },
    },
  ],
};

const INVITATIONS_AN_ADDRESS = 5;

const update = ({ owner }: Stage, json: object) => owner('PATCH', '/v1/org', { json });

const ORGANIZATION: RefusalGroup = {
  title: 'the organization',
  refusals: [
    { rule: 'a name of two lines', verdict: invalid('name'), provoke: (stage) => update(stage, { name: 'a\nb' }) },
    {
      rule: 'a time zone that there is not',
      verdict: invalid('timezone'),
      provoke: (stage) => update(stage, { timezone: 'Mars/Base' }),
    },
    {
      rule: 'a version that is not served',
      verdict: invalid('pinned_version'),
      provoke: (stage) => update(stage, { pinned_version: '1999-01-01' }),
    },
    {
      rule: 'a setting that is an owner’s',
      verdict: noRole('retention_days'),
      provoke: ({ send }) => send('PATCH', '/v1/org', { json: { retention_days: 30 }, as: admin() }),
    },
    {
      rule: 'that no approval needs a passkey any more, by an owner who signed in long ago',
      verdict: [403, 'permission_error', 'recent_sign_in_required', null],
      provoke: async (stage) => {
        await update(stage, { approvals: { signed: true } });
        try {
          return await longAfterSignIn(stage.database, () => update(stage, { approvals: { signed: false } }));
        } finally {
          await update(stage, { approvals: { signed: false } });
        }
      },
    },
    {
      rule: 'to start what an admin key may only stop',
      verdict: noRole(null),
      provoke: ({ admin: byKey }) => byKey('POST', '/v1/org/start', { json: {} }),
    },
  ],
};

const MEMBERS: RefusalGroup = {
  title: 'the members',
  refusals: [
    {
      rule: 'a role that there is not',
      verdict: invalid('role'),
      provoke: ({ owner }) => owner('POST', '/v1/org/members', { json: { email: 'a@example.com', role: 'god' } }),
    },
    {
      rule: 'to invite who is a member',
      verdict: conflict('email'),
      provoke: ({ owner }) =>
        owner('POST', '/v1/org/members', { json: { email: 'ADMIN@example.com', role: 'viewer' } }),
    },
    {
      rule: 'an owner whom an admin invites',
      verdict: noRole('role'),
      provoke: ({ send }) =>
        send('POST', '/v1/org/members', { json: { email: 'new@example.com', role: 'owner' }, as: admin() }),
    },
    {
      rule: 'a sixth invitation to one address',
      ...LIMITED,
      provoke: async ({ owner }) => {
        const again = () => owner('POST', '/v1/org/members', { json: { email: 'often@example.com', role: 'viewer' } });
        for (let invited = 0; invited < INVITATIONS_AN_ADDRESS; invited += 1)
          expect((await again()).status).toBeLessThan(300);
        return again();
      },
    },
    {
      rule: 'a change of who has not joined',
      verdict: conflict(null),
      provoke: ({ owner }) => owner('PATCH', `/v1/org/members/${made.invited}`, { json: { role: 'admin' } }),
    },
    {
      rule: 'a reference that means somebody else',
      verdict: conflict('references'),
      provoke: async ({ owner }) => {
        const path = `/v1/org/members/${made.adminMembership}`;
        expect(await owner('PATCH', path, { json: { references: ['u-1'] } })).toMatchObject({ status: 200 });
        return owner('PATCH', `/v1/org/members/${made.invited}`, { json: { references: ['u-1'] } });
      },
    },
    {
      rule: 'an organization without an owner, by another role',
      verdict: LAST_OWNER,
      provoke: async ({ owner }) => owner('PATCH', await ownPath(owner), { json: { role: 'admin' } }),
    },
    {
      rule: 'an organization without an owner, by leaving',
      verdict: LAST_OWNER,
      provoke: async ({ owner }) => owner('DELETE', await ownPath(owner)),
    },
    {
      rule: 'an owner whom an admin removes',
      verdict: noRole('role'),
      provoke: async ({ owner, send }) => send('DELETE', await ownPath(owner), { as: admin() }),
    },
    {
      rule: 'a membership that there is not',
      verdict: NOT_FOUND,
      provoke: ({ owner }) => owner('DELETE', `/v1/org/members/mem_${'0'.repeat(26)}`),
    },
  ],
};

const ownPath = async (owner: Stage['owner']): Promise<string> => {
  const { json } = await owner('GET', '/v1/me');
  return `/v1/org/members/${(json['membership'] as { id: string }).id}`;
};

const ACTIVE_KEYS_MAX = 10;

const ADMIN_KEYS: RefusalGroup = {
  title: 'the admin keys',
  refusals: [
    {
      rule: 'one that a key makes',
      ...BY_PEOPLE,
      provoke: ({ admin: byKey }) => byKey('POST', '/v1/org/keys', { json: {} }),
    },
    {
      rule: 'one that a key rolls',
      ...BY_PEOPLE,
      provoke: async ({ owner, admin: byKey }) => {
        const { json } = await owner('GET', '/v1/org/keys');
        const [key] = json['data'] as { id: string }[];
        return byKey('POST', `/v1/org/keys/${key?.id ?? ''}/roll`, { json: {} });
      },
    },
    {
      rule: 'one that was revoked, to be rolled',
      verdict: conflict(null),
      provoke: async ({ owner }) => {
        const { id } = (await owner('POST', '/v1/org/keys', { json: {} })).json;
        await owner('DELETE', `/v1/org/keys/${String(id)}`);
        return owner('POST', `/v1/org/keys/${String(id)}/roll`, { json: {} });
      },
    },
    {
      rule: 'an eleventh',
      verdict: conflict(null),
      provoke: async ({ owner }) => {
        const ids: string[] = [];
        for (let tries = 0; ; tries += 1) {
          const answer = await owner('POST', '/v1/org/keys', { json: {} });
          if (answer.status === 201) ids.push(String(answer.json['id']));
          if (answer.status === 201 && tries < ACTIVE_KEYS_MAX) continue;
          for (const id of ids) await owner('DELETE', `/v1/org/keys/${id}`);
          return answer;
        }
      },
    },
    {
      rule: 'one that there is not',
      verdict: NOT_FOUND,
      provoke: ({ owner }) => owner('DELETE', `/v1/org/keys/key_${'0'.repeat(26)}`),
    },
  ],
};

const REQUESTS_A_MAILBOX = 5;
const FAILURES_AN_ADDRESS = 30;

/** Of signing in (rule PEOPLE-6). Last of these, because the address keeps its count for an hour. */
const LIMITS: RefusalGroup = {
  title: 'after too much of it, signing in',
  refusals: [
    {
      rule: 'a sixth mail to one mailbox',
      ...LIMITED,
      provoke: async ({ send }) => {
        const ask = () => send('POST', '/v1/auth/login', { json: { email: 'nobody@example.com' } });
        for (let asked = 0; asked < REQUESTS_A_MAILBOX; asked += 1) expect((await ask()).status).toBe(202);
        return ask();
      },
    },
    {
      rule: 'a link, whichever, after thirty wrong ones',
      ...LIMITED,
      provoke: async ({ send }) => {
        const look = () => send('POST', '/v1/auth/preview', { json: { token: 'wrong' } });
        for (let looked = 0; looked < FAILURES_AN_ADDRESS; looked += 1) {
          const answer = await look();
          if (answer.status === 429) return answer;
        }
        return look();
      },
    },
    {
      rule: 'a code as well',
      ...LIMITED,
      provoke: (stage) => callback(stage, { email: 'admin@example.com', code: '000000' }),
    },
  ],
};

export const PEOPLE: readonly RefusalGroup[] = [SIGN_IN, SESSIONS, ORGANIZATION, MEMBERS, ADMIN_KEYS, LIMITS];
