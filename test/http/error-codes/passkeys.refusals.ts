import { request } from 'node:http';
import { expect } from 'vitest';
import { SoftAuthenticator } from '../../support/soft-authenticator.js';
import type { Answer } from '../../support/service.js';
import type { RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';
import { plainAnswer } from './stage.js';
import type { Session } from './sent.js';

const MISS: Verdict = [400, 'invalid_request_error', 'passkey_invalid', null];
const conflict = (param: string | null): Verdict => [409, 'invalid_request_error', 'conflict', param];
const TOO_OLD: Verdict = [403, 'permission_error', 'recent_sign_in_required', null];
const LIMITED = {
  verdict: [429, 'rate_limit_error', 'rate_limited', null] as Verdict,
  headers: { 'retry-after': /^3[0-6]\d\d$/ },
};

/** Of these tests, made once: who has passkeys, who signed in long ago, and who asks for too many. */
const made: Record<'keen' | 'late' | 'eager', Session | null> = { keen: null, late: null, eager: null };

const of = (name: keyof typeof made): Session => {
  const session = made[name];
  if (session === null) throw new Error(`${name} has not signed in`);
  return session;
};

const enter = async ({ people, database }: Stage): Promise<void> => {
  for (const name of ['keen', 'late', 'eager'] as const) {
    made[name] = (await people.member(`${name}@example.com`, 'viewer')).session;
  }
  // The absolute end tells when the person signed in.
  const older = `update people.sessions set expires_ms = expires_ms - 600000
    where user_id = (select user_id from people.sessions order by created_ms desc offset 1 limit 1)`;
  expect(await database.query(older)).toMatchObject({ rowCount: 1 });
};

/** At the name that the service has beside its address. */
const deviceAt = ({ port }: Stage): SoftAuthenticator =>
  new SoftAuthenticator({ rpId: 'localhost', origin: `http://localhost:${port}` });

const challengeOf = ({ json }: Answer): string => (json['public_key'] as { readonly challenge: string }).challenge;

const register = async (stage: Stage, device: SoftAuthenticator, as: Session): Promise<Answer> => {
  const asked = await stage.send('POST', '/v1/passkeys/options', { as });
  if (asked.status !== 200) return asked;
  const credential = device.register(challengeOf(asked));
  return stage.send('POST', '/v1/passkeys', { as, json: { name: 'Key', credential } });
};

/** From another address of this machine, so that nobody else waits along. */
const sendFrom = (localAddress: string, { port }: Stage, path: string, json: object = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' };
    const options = { host: '127.0.0.1', port, localAddress, method: 'POST', path, headers };
    const sent = request(options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const headers = new Map(
          Object.entries(response.headers).map(([name, value]) => [name, [value ?? ''].flat()] as const),
        );
        const body = Buffer.concat(parts).toString();
        resolve(plainAnswer({ status: response.statusCode ?? 0, headers, body }));
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(json));
  });

const CHALLENGES_AN_ADDRESS = 60;
const FAILURES_AN_ADDRESS = 30;
const REGISTRATIONS_PER_HOUR = 20;

export const PASSKEYS: RefusalGroup = {
  title: 'passkeys',
  enter,
  refusals: [
    {
      rule: 'a registration without a challenge of this session',
      verdict: MISS,
      provoke: (stage) =>
        stage.send('POST', '/v1/passkeys', {
          as: of('keen'),
          json: { name: 'Key', credential: deviceAt(stage).register('c'.repeat(43)) },
        }),
    },
    {
      rule: 'a sign-in by a passkey that nobody registered',
      verdict: MISS,
      provoke: async (stage) => {
        const asked = await stage.send('POST', '/v1/auth/passkey/options');
        const [cookie = ''] = asked.headers.getSetCookie();
        const credential = deviceAt(stage).sign(challengeOf(asked));
        const headers = { Cookie: cookie.split(';', 1)[0] as string };
        return stage.send('POST', '/v1/auth/passkey/verify', { json: { credential }, headers });
      },
    },
    {
      rule: 'a passkey that is registered already',
      verdict: conflict('credential'),
      provoke: async (stage) => {
        const device = deviceAt(stage);
        expect(await register(stage, device, of('keen'))).toMatchObject({ status: 201 });
        return register(stage, device, of('keen'));
      },
    },
    {
      rule: 'an eleventh',
      verdict: conflict(null),
      provoke: async (stage) => {
        for (;;) {
          const answer = await register(stage, deviceAt(stage), of('keen'));
          if (answer.status !== 201) return answer;
        }
      },
    },
    {
      rule: 'to begin a registration ten minutes after signing in',
      verdict: TOO_OLD,
      provoke: ({ send }) => send('POST', '/v1/passkeys/options', { as: of('late') }),
    },
    {
      rule: 'to end one then',
      verdict: TOO_OLD,
      provoke: (stage) =>
        stage.send('POST', '/v1/passkeys', {
          as: of('late'),
          json: { name: 'Key', credential: deviceAt(stage).register('c'.repeat(43)) },
        }),
    },
    {
      rule: 'to remove one that there is not',
      verdict: [404, 'invalid_request_error', 'not_found', null],
      provoke: ({ send }) => send('DELETE', `/v1/passkeys/pky_${'0'.repeat(26)}`, { as: of('keen') }),
    },
    {
      rule: 'to begin a twenty-first registration in an hour',
      ...LIMITED,
      provoke: async ({ send }) => {
        for (let begun = 0; begun < REGISTRATIONS_PER_HOUR; begun += 1) {
          expect((await send('POST', '/v1/passkeys/options', { as: of('eager') })).status).toBe(200);
        }
        return send('POST', '/v1/passkeys/options', { as: of('eager') });
      },
    },
    {
      rule: 'a sixty-first challenge to one address',
      ...LIMITED,
      provoke: async (stage) => {
        const path = '/v1/auth/passkey/options';
        for (let asked = 0; asked < CHALLENGES_AN_ADDRESS; asked += 1) {
          expect((await sendFrom('127.0.0.2', stage, path)).status).toBe(200);
        }
        return stage.received('POST', path, await sendFrom('127.0.0.2', stage, path));
      },
    },
    {
      rule: 'a passkey, whichever, after thirty that were none',
      ...LIMITED,
      provoke: async (stage) => {
        const path = '/v1/auth/passkey/verify';
        const json = { credential: deviceAt(stage).sign('c'.repeat(43)) };
        for (let tried = 0; tried < FAILURES_AN_ADDRESS; tried += 1) {
          expect((await sendFrom('127.0.0.3', stage, path, json)).status).toBe(400);
        }
        return stage.received('POST', path, await sendFrom('127.0.0.3', stage, path, json));
      },
    },
  ],
};
