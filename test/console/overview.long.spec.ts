import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { OWNER } from './console-scene.js';
import { DESK, describeConsole, inWindow, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';

const needs = (page: Page) => page.getByRole('list', { name: 'Needs attention' });

describeConsole('the overview', () => {
  it('never shows fewer approvals than the rail, and shows new ones at once', async () => {
    await scene.act('crm.get_customer', { id: '1' });
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app'));
      await page.getByText('Nothing needs your attention.').waitFor();
      await scene.ask('crm.add_note', { id: '2', note: 'x' });
      await page.getByText('A call waits for approval:').waitFor();
      expect(await page.getByText('Nothing needs your attention.').count()).toBe(0);
      const figure = page.getByRole('link', { name: /^Waiting for approval/ });
      expect(await figure.innerText()).toMatch(/\b1\b/);
      expect(
        await page
          .getByRole('link', { name: /^Approvals/ })
          .first()
          .innerText(),
      ).toMatch(/\b1\b/);
      await page.getByRole('link', { name: 'Decide' }).click();
      await page.getByRole('button', { name: 'Deny' }).click();
      await page.getByText('Denied', { exact: true }).waitFor();
      await page.goBack();
      await page.getByText('Nothing needs your attention.').waitFor();
    });
  });

  it('shows expiring approvals first, and groups equal mismatches, each with agent, time and difference', async () => {
    await scene.ask('crm.add_note', { id: '3', note: 'x' });
    await scene.act('crm.set_status', { id: '4', status: 'lost' });
    await scene.act('crm.set_status', { id: '5', status: 'lost' });
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app'));
      await page.getByText('2 times').waitFor();
      await eventually(async () =>
        (await needs(page).locator('li').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
      ).toEqual([
        expect.stringMatching(/^A call waits for approval: .* left\. Decide$/),
        expect.stringMatching(
          /^2 times crm\.set_status by \S+, last \d\d:\d\d:\d\d: body\.status should be "lost", but was read back as "active"\. View all 2$/,
        ),
      ]);
      expect(await page.getByText(/^previous 24 h: \d+$/).count()).toBe(3);
      await page.getByRole('link', { name: 'View all 2' }).click();
      await eventually(() => page.locator('tbody tr').count()).toBe(2);
    });
  });

  it.each(LOOKS)('is whole at $width, $colorScheme', async (look) => {
    await inWindow(OWNER, windowOf(look), async (page) => {
      await page.goto(scene.url('/app'));
      await page.getByText('View all 2').waitFor();
      await judgeWhole(page, 'overview-needs', look);
    });
  });

  describe('of an organization that never had an action', () => {
    beforeAll(() => scene.besides('Südlicht AG'));

    it('shows the first steps, and ticks those that are done', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app'));
        const begin = page.getByRole('region', { name: 'Get started' });
        await begin.waitFor();
        expect(await page.getByText(/^previous 24 h: /).count()).toBe(0);
        expect(await begin.locator('li[data-done]').count()).toBe(0);
        expect(await begin.getByLabel('First call').innerText()).toContain('/v1/actions');
        expect(await begin.getByLabel('Address for MCP clients').innerText()).toBe(scene.url('/mcp'));
        await begin.getByRole('link', { name: 'Create an agent and its key' }).click();
        await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('first-bot');
        await page.getByRole('button', { name: 'Create agent and key' }).click();
        await page.getByRole('button', { name: 'I have stored it' }).click();
        await page.locator('h1', { hasText: 'first-bot' }).waitFor();
        await page.keyboard.press('g');
        await page.keyboard.press('o');
        await eventually(() => begin.locator('li[data-done]').allInnerTexts()).toEqual([
          expect.stringContaining('Create an agent and its key'),
        ]);
        await begin.getByRole('link', { name: 'Connect a system' }).click();
        await page.locator('h1', { hasText: 'connector' }).waitFor();
        await page.goBack();
        await begin.getByRole('link', { name: 'Create and enforce a policy' }).click();
        await page.getByRole('dialog', { name: 'New policy' }).waitFor();
      });
    });

    it.each(LOOKS)('is whole at $width, $colorScheme', async (look) => {
      await inWindow(OWNER, windowOf(look), async (page) => {
        await page.goto(scene.url('/app'));
        await page.getByRole('region', { name: 'Get started' }).waitFor();
        await judgeWhole(page, 'overview-begin', look);
      });
    });
  });
});
