import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeEvent, START } from '#libs/domain/kernel';
import { CODE_ATTEMPTS_MAX, type SignInFailureEvent } from '#libs/domain/people';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

const OWNER = 'owner@example.com';

let bench: PeopleBench;
let owner: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, OWNER);
  owner = await bench.ownerBrowser();
});
afterAll(() => bench?.close());

const recorded = async () =>
  (await bench.deployment.database.store.readAll(START, 1_000))
    .filter(({ stream }) => stream.startsWith('sign_in-'))
    .map((event) => decodeEvent<SignInFailureEvent>(event));
/** Once the worker has looked at every miss. */
const settled = () =>
  vi.waitFor(async () => expect(await bench.deployment.people.missedCodes.unrecorded(1)).toEqual([]), {
    timeout: 20_000,
    interval: 20,
  });
const miss = async (browser: Browser, email: string) => {
  const { status, json, error } = await browser.post('/v1/auth/callback', { email, code: 'wrong' });
  expect([status, error['code']]).toEqual([400, 'login_code_invalid']);
  return { ...json, error: { ...error, request_id: null } };
};

describe('a sign-in that failed', () => {
  it('is told at the first wrong code of a person and when the code is used up, and no more', async () => {
    const browser = bench.browser('198.51.100.20');
    await browser.post('/v1/auth/login', { email: OWNER });
    await bench.mail(OWNER);
    await miss(browser, OWNER);
    await settled();
    const list = async () =>
      (await owner.get('/v1/security-events?type=user.sign_in_failed')).json['data'] as Record<string, unknown>[];
    const told = { object: 'security_event', user: bench.owner, by: { type: 'system', id: null }, session: null };
    expect(await list()).toMatchObject([{ ...told, why: 'wrong_code' }]);
    for (let count = 1; count < 2 * CODE_ATTEMPTS_MAX; count += 1) await miss(browser, OWNER);
    await settled();
    expect(await list()).toMatchObject([
      { ...told, why: 'code_used_up' },
      { ...told, why: 'wrong_code' },
    ]);
    const said = JSON.stringify((await recorded()).map(({ event, metadata }) => ({ event, metadata })));
    for (const secret of [OWNER, '198.51.100']) expect(said).not.toContain(secret);
  });

  it('is recorded of nobody for an address that nobody has, and is answered in the same way', async () => {
    const before = (await recorded()).length;
    const answers = [];
    for (const [email, address] of [
      [OWNER, '198.51.100.21'],
      ['stranger@example.com', '198.51.100.22'],
    ] as const) {
      const browser = bench.browser(address);
      await browser.post('/v1/auth/login', { email });
      await vi.waitFor(async () => expect((await bench.deployment.people.desk.orders(1, null)).orders).toEqual([]), {
        timeout: 20_000,
        interval: 20,
      });
      answers.push(await miss(browser, email));
    }
    expect(answers[0]).toEqual(answers[1]);
    await settled();
    expect((await recorded()).slice(before)).toMatchObject([{ event: { data: { user: bench.owner } } }]);
  });
});
