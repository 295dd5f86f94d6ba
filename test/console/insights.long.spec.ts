import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, describeConsole, inWindow, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';

const panel = (page: Page, name: string) => page.getByRole('region', { name });
const DECIDED = 'Decisions';
const KNOWN = 'Verification';

/** Loads the page until the rows that the numbers come from have caught up. */
const untilCounted = async (page: Page, path: string, total: string): Promise<void> => {
  await eventually(async () => {
    await page.goto(scene.url(path));
    await panel(page, DECIDED).waitFor();
    return panel(page, DECIDED).locator('tbody td[data-label=All]').first().innerText();
  }).toContain(total);
};

describeConsole('insights in the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
  });

  it('says what it will show, before there is anything', async () => {
    await inWindow(VIEWER, DESK, async (page) => {
      await page.goto(scene.url('/app/insights'));
      await page.getByText('No actions in this period').waitFor();
      expect(await page.getByText('/v1/insights/decisions').isVisible()).toBe(true);
    });
  });

  describe('once agents have asked', () => {
    beforeAll(async () => {
      await scene.act('crm.get_customer', { id: '1' });
      await scene.act('crm.set_status', { id: '2', status: 'paused' });
      await scene.act('crm.set_status', { id: '3', status: 'lost' });
      await scene.act('crm.export_customers', {});
      await scene.act('crm.get_customer', { id: 'gone' });
      await scene.act('crm.get_custorner', { id: '1' });
      await scene.ask('crm.add_note', { id: '7', note: 'x' });
      const key = await scene.agentKey('night-shift');
      for (const id of ['4', '5', '6']) await scene.act('crm.get_customer', { id }, { key });
    });

    it('counts by day, with links to the counted actions', async () => {
      await inWindow(VIEWER, DESK, async (page) => {
        await untilCounted(page, '/app/insights', '10');
        const denied = panel(page, DECIDED).locator('tbody td[data-label=Denied]');
        expect(await denied.innerText()).toContain('2');
        await denied.getByRole('link').click();
        await page.locator('h1', { hasText: 'Actions' }).waitFor();
        await eventually(() => page.locator('tbody tr').count()).toBe(2);
        await page.goBack();
        await panel(page, KNOWN).locator('tbody td[data-label=Mismatch]').getByRole('link').click();
        await eventually(() => page.locator('tbody tr').count()).toBe(1);
        await page.locator('tbody tr', { hasText: 'crm.set_status' }).waitFor();
      });
    });

    it('groups by rule, tool and agent, with window and grouping in the address', async () => {
      await inWindow(VIEWER, DESK, async (page) => {
        await untilCounted(page, '/app/insights', '10');
        await page.getByRole('button', { name: 'By agent' }).click();
        await page.getByRole('button', { name: '30 days' }).click();
        await eventually(() => new URL(page.url()).search).toBe('?by=agent&window=30d');
        const row = panel(page, DECIDED).locator('tbody tr', { hasText: 'night-shift' });
        await row.locator('td[data-label=Allowed]').getByRole('link').click();
        await eventually(() => page.locator('tbody tr').count()).toBe(3);
        await page.goto(scene.url('/app/insights?by=rule'));
        await panel(page, DECIDED).getByText('no rule').waitFor();
        await panel(page, DECIDED).locator('tbody tr', { hasText: 'no-exports' }).waitFor();
        await page.goto(scene.url('/app/insights?by=tool'));
        const tool = panel(page, KNOWN).locator('tbody tr', { hasText: 'crm.set_status' });
        expect(await tool.locator('td[data-label=Confirmed]').innerText()).toContain('1');
      });
    });

    it.each(LOOKS)('has no layout or accessibility fault at $width x $height, $colorScheme', async (look) => {
      await inWindow(OWNER, windowOf(look), async (page) => {
        for (const by of ['day', 'rule', 'tool', 'agent']) {
          await untilCounted(page, `/app/insights?by=${by}`, '');
          await judgeWhole(page, `insights-${by}`, look);
        }
        await page.goto(scene.url('/app/insights?window=30d'));
        await judgeWhole(page, 'insights-30d', look);
      });
    });
  });
});
