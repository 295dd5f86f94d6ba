import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { OWNER } from './console-scene.js';
import { DESK, describeConsole, inWindow, PHONE, scene } from './describe-console.js';

const GAPS_MS = [80, 350];

/** Presses twice at the same place of the screen, whatever is there by the second press. */
const pressTwice = async (page: Page, what: Locator, gapMs: number): Promise<void> => {
  const box = await what.boundingBox();
  if (box === null) throw new Error('nothing to press');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2] as const;
  await page.mouse.click(x, y);
  await page.waitForTimeout(gapMs);
  await page.mouse.click(x, y);
};

const agents = async (): Promise<readonly JsonObject[]> =>
  (await scene.make('GET', '/v1/agents?limit=100'))['data'] as JsonObject[];
const statusesOf = async (...ids: readonly string[]): Promise<readonly unknown[]> =>
  (await agents()).filter(({ id }) => ids.includes(id as string)).map(({ status }) => status);
const made = async (name: string): Promise<string> => {
  await scene.agentKey(name);
  return (await agents()).find((agent) => agent['name'] === name)?.['id'] as string;
};

describeConsole('one press', () => {
  it.each(GAPS_MS)('on Stop at an agent’s page stops it, even if another press follows after %i ms', async (gapMs) => {
    const id = await made(`agent-of-a-page-${gapMs}`);
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url(`/app/agents/${id}`));
      const stop = page.getByRole('button', { name: 'Stop agent' });
      await stop.waitFor();
      await stop.scrollIntoViewIfNeeded();
      await pressTwice(page, stop, gapMs);
      const again = page.getByRole('button', { name: 'Resume agent' });
      await again.waitFor();
      await eventually(() => again.getAttribute('aria-disabled')).toBeNull();
      expect(await statusesOf(id)).toEqual(['stopped']);
      await again.click();
      await eventually(() => statusesOf(id)).toEqual(['active']);
    });
  });

  it.each(GAPS_MS)('in the list of Stop is for that row, even if another press follows after %i ms', async (gapMs) => {
    const ids = [await made(`first-${gapMs}`), await made(`second-${gapMs}`), await made(`third-${gapMs}`)];
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/agents'));
      await page.getByRole('button', { name: 'Stop', exact: true }).first().click();
      const row = page.getByRole('dialog').locator('li', { hasText: `second-${gapMs}` });
      await row.scrollIntoViewIfNeeded();
      await pressTwice(page, row.getByRole('button'), gapMs);
      await row.getByText('Stopped').waitFor();
      expect([...(await statusesOf(...ids))].sort()).toEqual(['active', 'active', 'stopped']);
    });
  });

  it('on Approve is for what was on the screen: after a change, it has to be read again', async () => {
    const lines = Array.from({ length: 150 }, (_, line) => `line ${line}`).join('\n');
    const approval = await scene.ask('crm.add_note', { id: '1', note: `AMOUNT=1\n${lines}` });
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url(`/app/approvals/${approval}`));
      await page.getByText('AMOUNT=1').first().waitFor();
      // A screen that has just opened scrolls to its top once.
      await eventually(async () => {
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
        return page.getByRole('button', { name: 'Approve', exact: true }).count();
      }).toBe(1);
      await page.route(`**/v1/approvals/${approval}`, async (route) => {
        const answer = await route.fetch();
        const body = (await answer.json()) as { context: { args: object; changed: string[] }; context_digest: string };
        body.context.args = { id: '1', note: `AMOUNT=9999\n${lines}` };
        body.context.changed = ['args.note'];
        body.context_digest = `sha256:${'0'.repeat(64)}`;
        await route.fulfill({ response: answer, json: body });
      });
      await page.getByText('AMOUNT=9999').first().waitFor({ timeout: 20_000 });
      await page.getByRole('button', { name: 'Read on' }).waitFor();
      expect(await page.evaluate('scrollY')).toBe(0);
      expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    });
  });

  it('on Approve is for a call that the agent runs itself, and the card says so', async () => {
    const { json } = await scene.service.call('POST', '/v1/actions', {
      key: scene.service.agentKey,
      body: { tool: 'crm.close_account', args: { id: '9' }, mode: 'proxy', connector_type: 'mcp', wait: 0 },
    });
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url(`/app/approvals/${String(json['id']).replace('act_', 'apr_')}`));
      await page.getByText('The agent runs this call itself').waitFor();
      expect(await page.getByText('stored credential').count()).toBe(0);
    });
  });

  it('on More of a phone leads to every screen that is not in its bottom bar', async () => {
    await inWindow(OWNER, PHONE, async (page) => {
      await page.goto(scene.url('/app'));
      for (const name of ['Policies', 'Connectors', 'Insights', 'Deeds', 'Settings']) {
        await page.getByRole('button', { name: 'More' }).tap();
        const link = page.getByRole('link', { name, exact: true }).last();
        // Playwright can press a link outside of the visible screen, which a person cannot.
        const box = await link.boundingBox();
        expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(PHONE.viewport.height);
        await link.tap();
        await page.waitForURL(`**/app/${name.toLowerCase()}**`);
      }
    });
  });

  it('on Stop all stops all, even if another press follows', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/agents'));
      await page.getByRole('button', { name: 'Stop', exact: true }).first().click();
      const stop = page.getByRole('dialog').getByRole('button', { name: /^Stop all/ });
      await stop.waitFor();
      // The list of agents is loaded a moment later, and moves the buttons of the dialog.
      await page.getByRole('dialog').locator('li').first().waitFor();
      await pressTwice(page, stop, 350);
      const start = page.getByRole('dialog').getByRole('button', { name: 'Start all agents again' });
      await start.waitFor();
      await eventually(() => start.getAttribute('aria-disabled')).toBeNull();
      expect((await scene.make('GET', '/v1/org'))['status']).toBe('stopped');
      await start.click();
      await eventually(async () => (await scene.make('GET', '/v1/org'))['status']).toBe('active');
    });
  });
});
