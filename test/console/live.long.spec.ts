import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { deferred } from '../support/deferred.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { OWNER, VIEWER } from './console-scene.js';
import { describeConsole, scene } from './describe-console.js';

/** More tabs than the connections that HTTP/1.1 allows to one origin. */
const TABS = 9;

const dot = (page: Page) => page.locator('header [data-status]').getAttribute('data-status');
const rows = (page: Page) => page.locator('tbody tr').count();

describeConsole('the Console and the event stream', () => {
  beforeAll(async () => {
    await scene.act('crm.get_customer', { id: '1' });
  });

  it('offers new rows, and moves none of the shown ones', async () => {
    const { context, page, complaints } = await scene.window(OWNER);
    await page.goto(scene.url('/app/actions'));
    await eventually(() => dot(page)).toBe('live');
    await eventually(() => rows(page)).toBe(1);
    await scene.act('crm.get_customer', { id: '2' });
    await scene.act('crm.get_customer', { id: '3' });
    await page.getByRole('button', { name: '2 new' }).waitFor();
    expect(await rows(page)).toBe(1);
    await page.getByRole('button', { name: '2 new' }).click();
    await eventually(() => rows(page)).toBe(3);
    expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0);
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('changes a row in place', async () => {
    const approval = await scene.ask('crm.add_note', { id: '4', note: 'x' });
    const { context, page, complaints } = await scene.window(OWNER);
    await page.goto(scene.url('/app/actions?state=pending_approval'));
    await page.locator('tbody').getByText('Waiting for approval').waitFor();
    await eventually(() => dot(page)).toBe('live');
    const other = await context.newPage();
    await other.goto(scene.url(`/app/approvals/${approval}`));
    await other.getByRole('button', { name: 'Deny' }).waitFor();
    await eventually(() => dot(other)).toBe('live');
    await other.getByRole('button', { name: 'Deny' }).click();
    // The row no longer matches the filter, but stays until the list is read again.
    await page.locator('tbody tr').getByText('Denied').waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });

  it(`is one for ${TABS} tabs, and goes on in another if the tab that holds it is closed`, async () => {
    const { context, page, complaints } = await scene.window(OWNER);
    const pages = [page];
    for (let tab = 1; tab < TABS; tab += 1) pages.push(await context.newPage());
    for (const each of pages) await each.goto(scene.url('/app/actions'));
    for (const each of pages) await eventually(() => dot(each)).toBe('live');
    await scene.act('crm.get_customer', { id: '5' });
    for (const each of pages) await each.getByRole('button', { name: '1 new' }).waitFor();
    await pages.pop()?.close();
    await eventually(() => dot(page)).toBe('live');
    await scene.act('crm.get_customer', { id: '6' });
    await page.getByRole('button', { name: '2 new' }).waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('misses no event while another tab takes it over', async () => {
    const { context, page, complaints } = await scene.window(OWNER);
    await page.goto(scene.url('/app/actions'));
    await eventually(() => dot(page)).toBe('live');
    const elsewhere = await scene.window(OWNER);
    await elsewhere.page.goto(scene.url('/app/actions'));
    await eventually(() => dot(elsewhere.page)).toBe('live');
    const other = await context.newPage();
    const [isTaken, hasHappened] = [deferred(), deferred()];
    await other.route('**/v1/events*', async (route) => {
      isTaken.resolve();
      await hasHappened.promise;
      await route.continue();
    });
    await other.goto(scene.url('/app/agents'));
    await isTaken.promise;
    await scene.act('crm.get_customer', { id: '7' });
    await elsewhere.page.getByRole('button', { name: '1 new' }).waitFor();
    hasHappened.resolve();
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await elsewhere.context.close();
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('still offers new rows after other filters were used meanwhile', async () => {
    const { context, page, complaints } = await scene.window(OWNER);
    const news = page.getByRole('button', { name: '1 new' });
    await page.goto(scene.url('/app/actions'));
    await eventually(() => dot(page)).toBe('live');
    await page.locator('tbody tr').first().waitFor();
    const shown = await rows(page);
    await scene.act('crm.get_customer', { id: '7' });
    await news.waitFor();
    // Navigates within the page, so that the list stays in memory.
    await page.evaluate("history.pushState(null, '', '/app/actions?verdict=mismatch')");
    await page.locator('tbody tr').first().waitFor({ state: 'detached' });
    await page.evaluate("history.pushState(null, '', '/app/actions')");
    await eventually(() => rows(page)).toBe(shown);
    await news.click();
    await eventually(() => rows(page)).toBe(shown + 1);
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('is opened again if its connection broke without notice', async () => {
    const proxy = await startTcpProxy(scene.service.baseUrl);
    const { context, page } = await scene.window(OWNER);
    await page.clock.install();
    await page.goto(proxy.through(scene.url('/app/actions')));
    await eventually(() => dot(page)).toBe('live');
    proxy.swallowAnswers();
    await scene.act('crm.get_customer', { id: '9' });
    await page.clock.fastForward(50_000);
    await eventually(async () => {
      // The browser's kept-alive connections are dead, too: for each of them one attempt fails.
      await page.clock.fastForward(11_000);
      return page.getByRole('button', { name: '1 new' }).count();
    }).toBe(1);
    await eventually(() => dot(page)).toBe('live');
    await context.close();
    await proxy.close();
  });

  it('shows nothing of one person after another has signed in in another tab', async () => {
    await scene.joinedViewer();
    const { context, page } = await scene.window(OWNER);
    await page.goto(scene.url('/app/settings/admin-keys'));
    await eventually(() => dot(page)).toBe('live');
    const viewer = await scene.window(VIEWER);
    await context.addCookies(await viewer.context.cookies());
    await viewer.context.close();
    // As if the person came back to the tab.
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
    await page.getByText(VIEWER).first().waitFor({ state: 'attached' });
    // The viewer is told whom to ask; nothing else of the owner is on the screen.
    await page.getByText(`${OWNER} can change your role`).waitFor();
    expect(await page.getByText(OWNER).count()).toBe(1);
    expect(await page.getByRole('table').count()).toBe(0);
    await context.close();
  });

  it('uses the new CSRF token after the same person signed in again in another tab', async () => {
    const { context, page } = await scene.window(OWNER);
    await page.goto(scene.url('/app/actions'));
    await eventually(() => dot(page)).toBe('live');
    const again = await scene.signedInAnew(OWNER);
    await context.addCookies(again.cookies);
    const stopAll = page.getByRole('dialog').getByRole('button', { name: /^Stop all/ });
    await page.getByRole('button', { name: 'Stop', exact: true }).first().click();
    const read = page.waitForResponse((response) => response.url().endsWith('/v1/me'));
    await stopAll.click();
    await page.getByRole('dialog').getByText('csrf_failed').waitFor();
    await (await read).finished();
    await stopAll.click();
    await eventually(async () => (await scene.make('GET', '/v1/org'))['status']).toBe('stopped');
    await context.close();
  });
});
