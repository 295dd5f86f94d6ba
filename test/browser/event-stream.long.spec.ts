import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../support/free-port.js';
import { runAgsHere } from '../support/run-ags.js';
import { type RunningService, startService } from '../support/service.js';
import { CHROMIUM, launchChromium, NO_CHROMIUM } from './chromium.js';

interface Heard {
  readonly type: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let service: RunningService;
let browser: Browser;
let context: BrowserContext;
let page: Page;

/** A page's script: opens one event stream, with a listener for each type. */
const FOLLOW = `{
  window.heard = [];
  const source = new EventSource('/v1/events');
  for (const type of ['hello', 'resync', 'session_ended', 'action.created', 'action.decided', 'deed.sealed']) {
    source.addEventListener(type, ({ data, lastEventId }) =>
      window.heard.push({ type, id: lastEventId, data: JSON.parse(data) }));
  }
}`;

/** Gives the browser the cookies of a sign-in. The sign-in pages have tests of their own. */
const signIn = async (): Promise<void> => {
  const { object } = await runAgsHere(['people', 'login-link', '--json'], { env: service.environment });
  const token = /#token=(.+)$/.exec(String(object['link']))?.[1];
  const headers = { Origin: service.baseUrl, 'Sec-Fetch-Site': 'same-origin' };
  const answer = await service.call('POST', '/v1/auth/callback', { body: { token }, headers });
  expect(answer.status).toBe(200);
  await context.addCookies(
    answer.headers.getSetCookie().map((line) => {
      const [name = '', value = ''] = (line.split(';', 1)[0] as string).split('=');
      return { name, value, url: service.baseUrl };
    }),
  );
};

const heard = (): Promise<readonly Heard[]> => page.evaluate<readonly Heard[]>('window.heard');
const until = (fits: (all: readonly Heard[]) => boolean): Promise<readonly Heard[]> =>
  vi.waitFor(
    async () => {
      const all = await heard();
      if (!fits(all)) throw new Error(JSON.stringify(all.map(({ type }) => type)));
      return all;
    },
    { timeout: 60_000, interval: 50 },
  );
/** Submits a call that the policy denies: it is recorded and sealed before it is answered. */
const act = async (): Promise<string> => {
  const body = { tool: 'nobody.nothing', args: {} };
  const { error } = await service.call('POST', '/v1/actions', { key: service.agentKey, body });
  return (error['action'] as { id: string }).id;
};
const ofAction = (all: readonly Heard[], id: string): readonly Heard[] =>
  all.filter(({ data }) => data['object'] === 'event' && JSON.stringify(data).includes(id));
const isSealed = (id: string) => (all: readonly Heard[]) =>
  ofAction(all, id).some(({ type }) => type === 'deed.sealed');
const TOLD = ['action.created', 'action.decided', 'deed.sealed'];

describe.skipIf(CHROMIUM === null)(`the event stream in a browser (${CHROMIUM ?? NO_CHROMIUM})`, () => {
  beforeAll(async () => {
    service = await startService({ env: { LOG_LEVEL: 'error', SERVICE_PORT: String(await freePort()) } });
    browser = await launchChromium();
    context = await browser.newContext();
    page = await context.newPage();
    await signIn();
    // Any page of the service will do, because cookies and streams belong to the origin.
    await page.goto(`${service.baseUrl}/login`);
    await page.evaluate(FOLLOW);
    await until((all) => all.some(({ type }) => type === 'hello'));
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('tells a signed-in person what is recorded', async () => {
    const id = await act();
    expect(ofAction(await until(isSealed(id)), id).map(({ type }) => type)).toEqual(TOLD);
  });

  it('misses and repeats nothing after the browser was offline', async () => {
    const before = await heard();
    await context.setOffline(true);
    const missed = await act();
    await context.setOffline(false);
    const after = (await until(isSealed(missed))).slice(before.length);
    const hello = after.find(({ type }) => type === 'hello');
    if (hello) expect(hello.data).toMatchObject({ resumed: true });
    expect(after.filter(({ type }) => type === 'resync')).toEqual([]);
    expect(ofAction(after, missed).map(({ type }) => type)).toEqual(TOLD);
  });

  it('reconnects after a restart of the service, which tells that earlier events may be missing', async () => {
    const before = await heard();
    await service.kill('SIGKILL');
    await service.start();
    await until((all) => all.length > before.length && all.at(-1)?.type === 'resync');
    const [hello, resync] = (await heard()).slice(before.length);
    expect([hello, resync]).toMatchObject([
      { type: 'hello', data: { resumed: false } },
      { type: 'resync', data: { reason: 'other_instance' } },
    ]);
    expect(hello?.data['instance']).not.toBe(before[0]?.data['instance']);
    const id = await act();
    expect(ofAction(await until(isSealed(id)), id).map(({ type }) => type)).toEqual(TOLD);
  });
});
