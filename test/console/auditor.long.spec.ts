import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { runAgsHere } from '../support/run-ags.js';
import { type ConsoleScene, OWNER, VIEWER } from './console-scene.js';
import { describeConsole, DESK, inWindow, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';

/** Ids of actions by their outcome, and of one deed. */
let approved: string;
let refused: string;
let byStop: string;
let ofStoppedAgent: string;
let unknownTool: string;
let mismatch: string;
let deed: string;

const asViewer = (work: (page: Page) => Promise<void>): Promise<void> => inWindow(VIEWER, DESK, work);
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const rows = (page: Page) => page.locator('tbody tr');
const idOf = async (asked: ReturnType<ConsoleScene['act']>): Promise<string> => (await asked)['id'] as string;

/**
 * Lets the owner decide an approval in a browser.
 * @returns the action's id
 */
const decided = async (press: 'Approve' | 'Deny', reason: string): Promise<string> => {
  const approval = await scene.ask('crm.add_note', { id: '7', note: 'x' }, { 'Service-On-Behalf-Of': 'customer:1294' });
  await inWindow(OWNER, DESK, async (page) => {
    await page.goto(scene.url(`/app/approvals/${approval}`));
    await page.getByText('Add a reason').click();
    await page.getByLabel('Reason, sealed in the deed').fill(reason);
    await button(page, press).click();
    await page
      .getByText(press === 'Approve' ? 'Approved' : 'Denied', { exact: true })
      .first()
      .waitFor();
  });
  return (await scene.make('GET', `/v1/approvals/${approval}`))['action'] as string;
};

const furnish = async (): Promise<void> => {
  await scene.joinedViewer();
  approved = await decided('Approve', 'The customer asked twice');
  refused = await decided('Deny', 'Not this one');
  mismatch = await idOf(scene.act('crm.set_status', { id: '3', status: 'lost' }));
  unknownTool = await idOf(scene.act('crm.get_custorner', { id: '1' }));
  const key = await scene.agentKey('night-shift');
  const { agent } = await scene.act('crm.get_customer', { id: '1' }, { key });
  await scene.make('POST', `/v1/agents/${(agent as { id: string }).id}/stop`, { reason: 'It asks too much' });
  ofStoppedAgent = await idOf(scene.act('crm.get_customer', { id: '1' }, { key }));
  await scene.make('POST', '/v1/org/stop', { reason: 'Something is wrong' });
  byStop = await idOf(scene.act('crm.get_customer', { id: '2' }));
  const started = await runAgsHere(['org', 'start'], { env: scene.service.environment });
  expect(started.code, started.stderr).toBe(0);
  await scene.act('crm.export_customers', {});
  deed = (await scene.make('GET', `/v1/actions/${approved}`))['deed'] as string;
};

describeConsole('who looks back', () => {
  it('sees the first action appear by itself in an empty list', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/actions'));
      await page.getByRole('heading', { name: 'No actions yet' }).waitFor();
      await eventually(() => page.locator('header [data-status]').getAttribute('data-status')).toBe('live');
      await scene.act('crm.get_customer', { id: '1' });
      await eventually(() => rows(page).count()).toBe(1);
      // As the list has a row now, new ones are only offered above it.
      await scene.act('crm.get_customer', { id: '2' });
      await button(page, '1 new').waitFor();
      expect(await rows(page).count()).toBe(1);
    });
    await furnish();
  });

  it('finds who approved and who denied, when and why', async () => {
    await asViewer(async (page) => {
      await page.goto(scene.url(`/app/actions/${approved}`));
      await page.getByText(`Approved by ${OWNER}`).waitFor();
      expect(await page.getByText('The customer asked twice').count()).toBe(1);
      await page.goto(scene.url(`/app/actions/${refused}`));
      await page.getByText(`Denied by ${OWNER}`).waitFor();
      expect(await page.getByText('Not this one').count()).toBe(1);
      const check = page.getByRole('region', { name: 'Checked in your browser' });
      await check.getByRole('heading', { name: 'Checked in your browser' }).waitFor();
    });
  });

  it('reads why a call was denied, and that a policy did it only if a policy did', async () => {
    await asViewer(async (page) => {
      const main = page.locator('main');
      for (const [action, sentence] of [
        [
          byStop,
          /All agents were stopped, so the call was denied before the policy was evaluated\. Stopped .* by admin key .*: Something is wrong/,
        ],
        [
          ofStoppedAgent,
          /The agent was stopped, so the call was denied before the policy was evaluated\. Stopped .* by admin key .*: It asks too much/,
        ],
        [unknownTool, /No connector provides this tool, so the call was denied before/],
      ] as const) {
        await page.goto(scene.url(`/app/actions/${action}`));
        await eventually(() => main.innerText()).toMatch(sentence);
        expect(await main.innerText()).not.toContain('version of the policy');
      }
    });
  });

  it('sees in the list why each was denied', async () => {
    await asViewer(async (page) => {
      await page.goto(scene.url('/app/actions'));
      for (const why of [
        ...['all agents were stopped', 'the agent was stopped', 'no connector provides this tool'],
        ...['rule no-exports', 'by a person'],
      ])
        await rows(page).filter({ hasText: why }).filter({ hasText: 'Denied' }).first().waitFor();
    });
  });

  it('finds actions by customer, agent, rule and day', async () => {
    await asViewer(async (page) => {
      await page.goto(scene.url('/app/actions'));
      await rows(page).first().waitFor();
      await page.getByRole('searchbox').fill('customer:1294');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'on behalf of customer:1294' }).click();
      await eventually(() => rows(page).count()).toBe(2);
      await button(page, 'Any on behalf of').click();
      await button(page, 'agent').click();
      await button(page, 'night-shift').click();
      await eventually(() => rows(page).count()).toBe(2);
      await eventually(() => rows(page).filter({ hasNotText: 'night-shift' }).count()).toBe(0);
      await button(page, 'Clear all').click();
      await eventually(() => new URL(page.url()).search).toBe('');
      await button(page, 'rule').click();
      await page.getByLabel('Rule id').fill('no-exports');
      await button(page, 'Apply').click();
      await eventually(() => rows(page).count()).toBe(1);
      await button(page, 'Clear all').click();
      await button(page, 'time').click();
      await page.getByLabel(/^From/).fill('2020-01-01T00:00');
      await page.getByLabel(/^Until/).fill('2020-01-02T00:00');
      await button(page, 'Apply').click();
      await page.getByRole('heading', { name: 'No actions match these filters' }).waitFor();
      // Midnight in Vienna, stored as an instant, so that the link means the same on another day.
      expect(new URL(page.url()).searchParams.get('created_at[gte]')).toBe('2019-12-31T23:00:00.000Z');
    });
  });

  it('is warned of an unknown filter in the address', async () => {
    await asViewer(async (page) => {
      await page.goto(scene.url('/app/actions?status=executed&decision=deny'));
      await page.getByText('Unknown filter “status”').waitFor();
      await button(page, 'Remove it from the address').click();
      await eventually(() => new URL(page.url()).search).toBe('?decision=deny');
      expect(await page.getByText('Unknown filter').count()).toBe(0);
    });
  });

  it('keeps the head of the table below the bar while scrolling', async () => {
    await inWindow(VIEWER, { viewport: { width: 1440, height: 420 } }, async (page) => {
      await page.goto(scene.url('/app/actions'));
      await rows(page).first().waitFor();
      await page.evaluate('scrollTo(0, 200)');
      const bar = (await page.locator('header').first().boundingBox()) ?? { y: 0, height: 0 };
      const head = await page.locator('thead th').first().boundingBox();
      expect(Math.abs((head?.y ?? 0) - (bar.y + bar.height))).toBeLessThan(2);
    });
  });

  it('reads what each deed of the list is about, with names', async () => {
    await asViewer(async (page) => {
      await page.goto(scene.url('/app/deeds'));
      await rows(page).filter({ hasText: 'crm.export_customers' }).filter({ hasText: 'Denied' }).waitFor();
      await rows(page).filter({ hasText: 'Agent stopped: night-shift' }).waitFor();
      await rows(page).filter({ hasText: 'All agents stopped' }).waitFor();
      await rows(page).filter({ hasText: 'Policy activated: support' }).waitFor();
      expect(await page.locator('tbody').innerText()).not.toMatch(/succeeded|denied by|policy\.activated/);
    });
  });

  it('reads a deed in the order of events, with names and without empty rows', async () => {
    await asViewer(async (page) => {
      await page.goto(scene.url(`/app/deeds/${deed}`));
      const titles = page.locator('main section > div:first-child h2');
      await eventually(async () => (await titles.allInnerTexts()).slice(0, 7)).toEqual([
        ...['Who', 'Request', 'Decision', 'Approval', 'Execution', 'Evidence'],
        'Chain',
      ]);
      const approval = page.getByRole('region', { name: 'Approval' });
      await approval.getByText(OWNER).first().waitFor();
      await page.getByRole('region', { name: 'Who', exact: true }).getByText('customer:1294').waitFor();
      expect(await page.locator('main dl').allInnerTexts()).not.toContain('null');
    });
  });

  it('shows bytes that are no deed unchanged, with a failed check', async () => {
    await asViewer(async (page) => {
      await page.route(`**/v1/deeds/${deed}`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).slice(0, 300) });
      });
      await page.goto(scene.url(`/app/deeds/${deed}`));
      await page.getByText('These bytes are not a valid deed.').waitFor();
      await page.getByRole('heading', { name: 'Check failed' }).waitFor();
    });
  });

  it('marks the observed value of a mismatch in red, and not the expected one', async () => {
    await asViewer(async (page) => {
      await page.goto(scene.url(`/app/actions/${mismatch}`));
      const cells = page.locator('tr[data-differs] td');
      await cells.first().waitFor();
      const ground = (at: number): Promise<unknown> =>
        page.evaluate(`getComputedStyle(document.querySelectorAll('tr[data-differs] td')[${at}]).backgroundColor`);
      const [expected, observed] = [await ground(0), await ground(1)];
      expect(expected).toBe('rgba(0, 0, 0, 0)');
      expect(observed).not.toBe(expected);
    });
  });

  it.each(LOOKS)('has no layout or accessibility fault at $width, $colorScheme', async (look) => {
    const screens = {
      actions: '/app/actions',
      'actions-chosen': '/app/actions?decision=deny&on_behalf_of=customer:1294',
      'actions-nothing': '/app/actions?q=customer:1294',
      'action-approved': `/app/actions/${approved}`,
      'action-stopped': `/app/actions/${byStop}`,
      'action-mismatch': `/app/actions/${mismatch}`,
      'actions-unknown': '/app/actions?status=executed',
      deeds: '/app/deeds',
      deed: `/app/deeds/${deed}`,
    };
    await inWindow(OWNER, windowOf(look), async (page) => {
      for (const [name, path] of Object.entries(screens)) {
        await page.goto(scene.url(path));
        await page.locator('h1').first().waitFor();
        await judgeWhole(page, name, look);
      }
      await page.goto(scene.url('/app/actions'));
      await rows(page).first().waitFor();
      await button(page, 'time').click();
      await judgeWhole(page, 'actions-time', look);
    });
  });
});
