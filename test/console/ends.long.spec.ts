/** Changes while the Console is open: a new version, a role taken away, a restart of the service. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { freePort } from '../support/free-port.js';
import { OWNER, VIEWER } from './console-scene.js';
import { describeConsole, scene } from './describe-console.js';

const DEADLINE_MS = 120_000;
const TWO_HOURS_MS = 7_200_000;

const dot = (page: Page) => page.locator('header [data-status]').getAttribute('data-status');
const rows = (page: Page) => page.locator('tbody tr').count();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const rail = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Screens', exact: true }).getByRole('link', { name });

describeConsole({ title: 'the Console while something ends', port: freePort }, () => {
  beforeAll(async () => {
    await scene.act('crm.get_customer', { id: '1' });
    await scene.joinedViewer();
  }, DEADLINE_MS);

  it('counts the time left by the service’s clock, with the machine’s two hours off', async () => {
    const approval = await scene.ask('crm.add_note', { id: '4', note: 'x' });
    for (const offMs of [TWO_HOURS_MS, -TWO_HOURS_MS]) {
      const { context, page, complaints } = await scene.window(OWNER);
      await page.clock.install({ time: Date.now() + offMs });
      await page.goto(scene.url(`/app/approvals/${approval}`));
      await eventually(() =>
        page
          .getByText(/ left$/)
          .first()
          .innerText(),
      ).toMatch(/^(?:24 h|23 h 5\d min) left$/);
      await context.close();
      expect(complaints).toEqual([]);
    }
  });

  it('says that there is a new version if its own files are gone, and can still stop agents', async () => {
    const { context, page } = await scene.window(OWNER);
    await page.goto(scene.url('/app'));
    await page.locator('h1').waitFor();
    await page.route('**/app/assets/deed*', (route) => route.abort());
    await rail(page, 'Deeds').click();
    await page.getByText('A new version of the Console is available.').waitFor();
    await button(page, 'Stop').click();
    await page.getByRole('button', { name: /^Stop all / }).waitFor();
    await context.close();
  });

  /** Sets the viewer's role, as the owner in another window. */
  const giveViewer = async (role: string): Promise<void> => {
    const { context, page } = await scene.window(OWNER);
    await page.goto(scene.url('/login'));
    const { csrf_token: csrf } = (await (await page.request.get(scene.url('/v1/me'))).json()) as {
      csrf_token: string;
    };
    const answer = await page.request.patch(scene.url(`/v1/org/members/${await viewer()}`), {
      headers: { 'Service-CSRF': csrf, Origin: scene.service.baseUrl },
      data: { role },
    });
    expect(answer.status()).toBe(200);
    await context.close();
  };
  const viewer = async (): Promise<string> => {
    const { data } = await scene.make('GET', '/v1/org/members');
    return (data as { id: string; email: string }[]).find(({ email }) => email === VIEWER)?.id ?? '';
  };

  it('shows what the new role may do, once the old one was taken away', async () => {
    await giveViewer('admin');
    const { context, page, complaints } = await scene.window(VIEWER);
    await page.goto(scene.url('/app/agents'));
    await page.locator('tbody tr a').first().click();
    const reason = button(page, 'Stop agent');
    await reason.waitFor();
    await giveViewer('viewer');
    await reason.click();
    // Without the right to use it, Stop is disabled but still visible.
    await eventually(() => reason.isDisabled()).toBe(true);
    await button(page, 'Suspend').waitFor({ state: 'detached' });
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('shows nothing more to a person who was removed', async () => {
    const { context, page } = await scene.window(VIEWER);
    await page.goto(scene.url('/app/actions'));
    await page.locator('tbody tr').first().waitFor();
    await scene.make('DELETE', `/v1/org/members/${await viewer()}`);
    await page.waitForURL(/\/login\?next=/, { timeout: DEADLINE_MS });
    await context.close();
  });

  it(
    'reconnects by itself after a restart of the service, and says that events may have been missed',
    async () => {
      const { context, page } = await scene.window(OWNER);
      await page.goto(scene.url('/app/actions'));
      await eventually(() => dot(page)).toBe('live');
      await page.locator('tbody tr').first().waitFor();
      const before = await rows(page);
      await scene.startAgain();
      await scene.act('crm.get_customer', { id: '9' });
      await eventually(() => dot(page)).toBe('live');
      await page.getByText('Some changes may not be shown.').waitFor();
      expect(await rows(page)).toBe(before);
      await button(page, 'Reload').click();
      await eventually(() => rows(page)).toBe(before + 1);
      await context.close();
    },
    DEADLINE_MS,
  );
});
