import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { startUpstream, type Upstream } from '../support/upstream.js';
import { OWNER } from './console-scene.js';
import { DESK, PHONE, describeConsole, inWindow, scene } from './describe-console.js';

let receiver: Upstream;
/** The status that the receiver of webhooks answers with. */
let answer = 204;

const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');
const panel = (page: Page, name: string) => page.getByRole('region', { name });
const row = (page: Page, text: string) => page.locator('tbody tr').filter({ hasText: text });

const open = (page: Page, section: string) => page.goto(scene.url(`/app/settings/${section}`));

describeConsole('webhooks in the Console', () => {
  beforeAll(async () => {
    receiver = await startUpstream((_seen, response) => response.writeHead(answer).end());
  });
  afterAll(async () => {
    await receiver?.close();
  });

  it('are made for chosen types, tested, paused, rolled and deleted', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await open(page, 'webhooks');
      await page.getByText('No webhooks yet').waitFor();
      await button(page, 'New webhook').click();
      await page.getByLabel('Address').fill('not an address');
      await button(page, /^Create webhook$/).click();
      await dialog(page).getByRole('alert').getByText(/url/).waitFor();
      await page.getByLabel('Address').fill(`${receiver.baseUrl}/hooks`);
      await page.getByLabel('Description').fill('The pager');
      await dialog(page).getByText('Agents', { exact: true }).click();
      await dialog(page).getByLabel('agent.stopped').check();
      await button(page, /^Create webhook$/).click();
      expect(await dialog(page).getByLabel('Secret').innerText()).toMatch(/^whsec_/);
      await button(dialog(page), 'I have stored it').click();

      await page.getByRole('link', { name: `${receiver.baseUrl}/hooks` }).click();
      await page.getByText('approval.*, deed.sealed, agent.stopped').waitFor();
      await button(page, 'Send test').click();
      await page.getByText('The receiver accepted the test with 204.').waitFor();
      expect(receiver.seen.map(({ headers }) => headers['service-event-type'])).toContain('webhook.test');

      await button(page, 'Pause').click();
      await page.getByText('This webhook is paused.').waitFor();
      await button(page, 'Resume').click();
      await page.getByText('Every subscribed event is delivered').waitFor();

      await button(page, 'Roll secret').click();
      await button(dialog(page), 'Roll secret').click();
      const secret = await dialog(page).getByLabel('Secret').innerText();
      await button(dialog(page), 'I have stored it').click();
      await page.getByText(`…${secret.slice(-4)}`).waitFor();
      await page.getByText('Previous secret').waitFor();

      await button(page, 'Delete').click();
      await button(dialog(page), 'Delete webhook').click();
      await page.getByText('No webhooks yet').waitFor();
      expect(new URL(page.url()).pathname).toBe('/app/settings/webhooks');
    });
  });

  it('show failed deliveries with the reason, and send them again', async () => {
    const made = await scene.make('POST', '/v1/webhooks', {
      url: `${receiver.baseUrl}/again`,
      events: ['action.created'],
    });
    await inWindow(OWNER, PHONE, async (page) => {
      answer = 500;
      await open(page, made['id'] as string);
      await page.getByText('No deliveries yet.').waitFor();
      await scene.act('crm.get_customer', { id: '901' });
      await button(page, '1 new').tap();
      await row(page, 'action.created').getByText('500: the receiver did not answer with 2xx').waitFor();
      await row(page, 'action.created').getByText('next attempt').waitFor();
      answer = 204;
      await button(row(page, 'action.created'), /^Send now/).tap();
      await row(page, 'action.created').getByText('Delivered', { exact: true }).waitFor();
      await row(page, 'action.created').getByRole('link', { name: /^act_/ }).waitFor();
      expect(receiver.seen.filter(({ path }) => path === '/again').length).toBe(2);
    });
    await scene.make('DELETE', `/v1/webhooks/${made['id'] as string}`);
  });

  it('are filtered by their status, with the filter in the address', async () => {
    const made = await scene.make('POST', '/v1/webhooks', {
      url: `${receiver.baseUrl}/filtered`,
      events: ['action.created'],
    });
    const id = made['id'] as string;
    const call = async (customer: string) => scene.act('crm.get_customer', { id: customer });
    await inWindow(OWNER, PHONE, async (page) => {
      answer = 204;
      await call('902');
      const rows = panel(page, 'Deliveries').getByRole('row').filter({ hasText: 'action.created' });
      const standing = async (status: string) =>
        (await scene.make('GET', `/v1/webhooks/${id}/deliveries?status=${status}`))['data'];
      await eventually(() => standing('delivered')).toHaveLength(1);
      answer = 500;
      await call('903');
      await eventually(() => standing('retrying')).toHaveLength(1);
      await open(page, id);
      await eventually(() => rows.count()).toBe(2);
      await button(page, 'status').tap();
      await button(page, 'Retrying').tap();
      await eventually(() => rows.count()).toBe(1);
      await rows.getByText('next attempt').waitFor();
      expect(new URL(page.url()).searchParams.get('status')).toBe('retrying');
      // A delivery that no longer matches the filter changes in place, and is gone once the page is loaded again.
      answer = 204;
      await page.keyboard.press('Escape');
      await button(rows, /^Send now/).tap();
      await rows.getByText('Delivered', { exact: true }).waitFor();
      await page.reload();
      await page.getByText('No deliveries match this filter.').waitFor();
      await button(page, 'Clear filter').tap();
      await eventually(() => rows.count()).toBe(2);
      expect(new URL(page.url()).search).toBe('');
      await page.goto(`${page.url()}?status=nothing`);
      await page.getByRole('alert').getByText('validation_failed').waitFor();
      expect(await page.getByText('No deliveries yet').count()).toBe(0);
    });
    await scene.make('DELETE', `/v1/webhooks/${id}`);
  });
});
