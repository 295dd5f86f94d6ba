import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { OWNER } from './console-scene.js';
import { DESK, describeConsole, inWindow as inWindowOf, scene } from './describe-console.js';

/** The horizontal positions of these words on the page. */
const PLACES = `['\u05d0', '100', '200'].map((word) => {
  const value = [...document.querySelectorAll('dd')].find(({ textContent }) => textContent.includes('100 -> 200'));
  const walker = document.createTreeWalker(value, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const at = walker.currentNode.textContent.indexOf(word);
    if (at < 0) continue;
    range.setStart(walker.currentNode, at);
    range.setEnd(walker.currentNode, at + word.length);
    return range.getBoundingClientRect().left;
  }
})`;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

const statusOf = async (approval: string): Promise<unknown> =>
  (await scene.make('GET', `/v1/approvals/${approval}`))['status'];

const inWindow = (work: (page: Page) => Promise<void>): Promise<void> => inWindowOf(OWNER, DESK, work);

describeConsole('the Console under attack', () => {
  it.each([
    ['one invisible character', '\u007f'.repeat(80_000)],
    ['invisible characters between others', 'a\u007f'.repeat(50_000)],
    ['letters of two directions', 'a\u05d0'.repeat(40_000)],
  ])('an approver can answer a call whose note is full of %s', async (_title, note) => {
    const approval = await scene.ask('crm.add_note', { id: '1', note });
    await inWindow(async (page) => {
      await page.goto(scene.url(`/app/approvals/${approval}`));
      await button(page, /^Deny/).waitFor();
      expect(await page.locator('dd mark, dd bdi').count()).toBeLessThan(1_000);
      await button(page, /^Deny/).click();
      await eventually(() => statusOf(approval)).toBe('denied');
    });
  });

  it('numbers stay in their order beside letters that are read from right to left', async () => {
    const approval = await scene.ask('crm.add_note', { id: '1', note: '\u05d0\u05d1 100 -> 200' });
    await inWindow(async (page) => {
      await page.goto(scene.url(`/app/approvals/${approval}`));
      await page.getByText('100 -> 200').first().waitFor();
      const places = await page.evaluate<number[]>(PLACES);
      expect(places).toEqual(places.toSorted((left, right) => left - right));
    });
  });

  it('a key that is held down counts as one press, if two are asked for', async () => {
    const approval = await scene.ask('crm.close_account', { id: '2' });
    await inWindow(async (page) => {
      await page.goto(scene.url(`/app/approvals/${approval}`));
      await button(page, /^Approve/).focus();
      // Playwright sends a repeated key event for a key that is already down.
      for (let repeated = 0; repeated < 40; repeated += 1) {
        await page.keyboard.down('Enter');
        await page.waitForTimeout(33);
      }
      await page.keyboard.up('Enter');
      expect(await statusOf(approval)).toBe('pending');
      await button(page, /^Deny/).click();
      await eventually(() => statusOf(approval)).toBe('denied');
    });
  });

  it('a change whose answer a proxy lost is sent again under the same idempotency key', async () => {
    const before = ((await scene.make('GET', '/v1/org/keys'))['data'] as readonly unknown[]).length;
    await inWindow(async (page) => {
      const keys: (string | undefined)[] = [];
      let answered = 0;
      await page.route('**/v1/org/keys', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        keys.push(route.request().headers()['idempotency-key']);
        const answer = await route.fetch();
        await (keys.length === 1
          ? route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' })
          : route.fulfill({ response: answer }));
        answered += 1;
      });
      await page.goto(scene.url('/app/settings/admin-keys'));
      await button(page, /admin key/)
        .first()
        .click();
      const make = page.getByRole('dialog').getByRole('button', { name: /admin key/ });
      await make.click();
      await eventually(() => answered).toBe(1);
      await page
        .getByRole('dialog')
        .getByText(/502|not know/)
        .waitFor();
      await make.click();
      await eventually(() => answered).toBe(2);
      expect(new Set(keys).size).toBe(1);
      const { data } = await scene.make('GET', '/v1/org/keys');
      expect(data).toHaveLength(before + 1);
    });
  });
});
