import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { deferred } from '../support/deferred.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { OWNER, VIEWER } from './console-scene.js';
import { describeConsole, scene } from './describe-console.js';

/** More than the connections that HTTP/1.1 gives one origin for all of its tabs. */
const TABS = 9;

const dot = (page: Page) => page.locator('header [data-status]').getAttribute('data-status');
const rows = (page: Page) => page.locator('tbody tr').count();

describeConsole('the Console and the event stream', () => {
  beforeAll(async () => {
    await scene.act('crm.get_customer', { id: '1' });
  });

  it('offers what is new, and puts no row where another stood', async () => {
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

  it('changes a row where it stands', async () => {
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
    // The filter would not find it any more: it stays until the list is read again.
    await page.locator('tbody tr').getByText('Denied').waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });

  it(`is one for ${TABS} tabs, and goes on in another where the tab that has it is closed`, async () => {
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

  it('misses nothing while another tab takes it', async () => {
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

  it('still offers what is new where other filters were looked at meanwhile', async () => {
    const { context, page, complaints } = await scene.window(OWNER);
    const news = page.getByRole('button', { name: '1 new' });
    await page.goto(scene.url('/app/actions'));
    await eventually(() => dot(page)).toBe('live');
    await page.locator('tbody tr').first().waitFor();
    const shown = await rows(page);
    await scene.act('crm.get_customer', { id: '7' });
    await news.waitFor();
    // By the links of the page itself: the list stays in memory.
    await page.evaluate("history.pushState(null, '', '/app/actions?verdict=mismatch')");
    await page.locator('tbody tr').first().waitFor({ state: 'detached' });
    await page.evaluate("history.pushState(null, '', '/app/actions')");
    await eventually(() => rows(page)).toBe(shown);
    await news.click();
    await eventually(() => rows(page)).toBe(shown + 1);
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('is opened anew where its connection died without a word', async () => {
    const proxy = await startTcpProxy(scene.service.baseUrl);
    const { context, page } = await scene.window(OWNER);
    await page.clock.install();
    await page.goto(proxy.through(scene.url('/app/actions')));
    await eventually(() => dot(page)).toBe('live');
    proxy.swallowAnswers();
    await scene.act('crm.get_customer', { id: '9' });
    await page.clock.fastForward(50_000);
    await eventually(async () => {
      // Connections that are kept for later are dead, too: one attempt is given up for each.
      await page.clock.fastForward(11_000);
      return page.getByRole('button', { name: '1 new' }).count();
    }).toBe(1);
    await eventually(() => dot(page)).toBe('live');
    await context.close();
    await proxy.close();
  });

  it('leaves nothing of one person to another who signs in in another tab', async () => {
    await scene.joinedViewer();
    const { context, page } = await scene.window(OWNER);
    await page.goto(scene.url('/app/settings/admin-keys'));
    await eventually(() => dot(page)).toBe('live');
    const viewer = await scene.window(VIEWER);
    await context.addCookies(await viewer.context.cookies());
    await viewer.context.close();
    // Somebody comes back to the tab.
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
    await page.getByText(VIEWER).first().waitFor({ state: 'attached' });
    // Whom the viewer may ask is told; nothing else on the screen is the owner's.
    await page.getByText(`${OWNER} can change your role`).waitFor();
    expect(await page.getByText(OWNER).count()).toBe(1);
    expect(await page.getByRole('table').count()).toBe(0);
    await context.close();
  });

  it('goes by the new token where the same person signed in again in another tab', async () => {
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
