import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { accessibilityFaults } from '../browser/accessibility-faults.js';
import { eventually } from '../http/edge-client.js';
import { OWNER } from './console-scene.js';
import { describeConsole, scene } from './describe-console.js';
import { type Look, LOOKS } from './whole-screen.js';

const VECTORS = process.env['VECTORS_DIR'];

/** A folder to save a picture of every screen to, for people to look at. Without it, no pictures are taken. */
const PICTURES = process.env['CONSOLE_PICTURES'];

/** An attack in a text that agents choose: markup, characters that turn the direction of text, and invisible ones. */
const NAUGHTY = '<img src=x onerror=report("run")> \u202egnp.exe\u202c zero\u200bwidth';

/** Dialogs and popovers, each with the steps to open it. */
const DIALOGS: readonly (readonly [name: string, open: (page: Page) => Promise<void>])[] = [
  ['dialog-stop', (page) => page.getByRole('button', { name: 'Stop', exact: true }).click()],
  ['dialog-palette', (page) => page.keyboard.press('Control+k')],
  ['dialog-keys', (page) => page.keyboard.press('?')],
  ['dialog-account', (page) => page.getByRole('button', { name: 'Account' }).click()],
  ['dialog-filter', (page) => page.getByRole('button', { name: 'status' }).click()],
];

/** The address of each screen, by the name of its picture. */
let screens: Readonly<Record<string, string>>;

const furnish = async (): Promise<void> => {
  const ofCustomer = (number: number) => ({ 'Service-On-Behalf-Of': `customer:${88_210 + number}` });
  await scene.act('crm.get_customer', { id: '1' });
  const checked = await scene.act('crm.set_status', { id: '2', status: 'paused' }, { headers: ofCustomer(2) });
  const mismatch = await scene.act('crm.set_status', { id: '3', status: 'lost' }, { headers: ofCustomer(3) });
  const denied = await scene.act('crm.export_customers', {});
  await scene.act('crm.get_customer', { id: 'gone' });
  await scene.act('crm.get_custorner', { id: '1' });
  const key = await scene.agentKey('support-bot <b>x</b> \u05e2\u05d1\u05e8\u05d9\u05ea', {
    labels: { team: 'support' },
    budgets: { calls_per_day: 5, spend_per_day: null },
  });
  for (const number of [4, 5, 6])
    await scene.act('crm.get_customer', { id: String(number) }, { key, headers: { 'Service-Session': 'shift:7' } });
  const waiting = await scene.ask(
    'crm.add_note',
    { id: '7', note: `Parcel arrived broken.\n${NAUGHTY}`, amount: 89_000, tags: ['refund', 'broken'] },
    ofCustomer(7),
  );
  const destructive = await scene.ask('crm.close_account', { id: '8' });
  const seen = async (id: unknown) => (await scene.make('GET', `/v1/actions/${String(id)}`)) as Record<string, string>;
  const agent = ((await seen(checked['id']))['agent'] as unknown as { id: string }).id;
  screens = {
    overview: '/app',
    actions: '/app/actions',
    'actions-none': '/app/actions?q=nothing-has-this-name',
    'action-confirmed': `/app/actions/${checked['id'] as string}`,
    'action-mismatch': `/app/actions/${mismatch['id'] as string}`,
    'action-denied': `/app/actions/${denied['id'] as string}`,
    'action-not-there': '/app/actions/act_01h2xcejqtf2nbrexx3vqjhp46',
    approvals: '/app/approvals',
    'approval-note': `/app/approvals/${waiting}`,
    'approval-destructive': `/app/approvals/${destructive}`,
    agents: '/app/agents',
    agent: `/app/agents/${agent}`,
    deeds: '/app/deeds',
    deed: `/app/deeds/${(await seen(mismatch['id']))['deed'] ?? ''}`,
    kit: '/app/_kit',
  };
};

describeConsole('the screens of the Console', () => {
  beforeAll(async () => {
    await furnish();
  });

  /**
   * Expects no fault that axe finds, no page wider than the window, and all texts of agents as plain text with
   * invisible characters marked.
   */
  const judge = async (page: Page, name: string, width: number): Promise<void> => {
    expect.soft(await accessibilityFaults(page), name).toEqual([]);
    expect.soft(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(width);
    expect.soft(await page.locator('main :is(img, script, iframe, object, style, b)').count(), name).toBe(0);
    expect.soft(await page.evaluate('/[\\u202a-\\u202e\\u200b]/.test(document.body.innerText)'), name).toBe(false);
  };

  const look = async (page: Page, name: string, { width, colorScheme }: Look): Promise<void> => {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`) });
  };

  it.each(LOOKS)('have no layout or accessibility fault at $width x $height, $colorScheme', async (size) => {
    const { context, page, complaints } = await scene.window(OWNER, {
      viewport: { width: size.width, height: size.height },
      colorScheme: size.colorScheme,
      hasTouch: size.hasTouch,
      isMobile: size.hasTouch,
    });
    for (const [name, path] of Object.entries(screens)) {
      await page.goto(scene.url(path));
      await page.locator('h1').first().waitFor();
      await eventually(() => page.locator('[aria-label="Loading"]').count()).toBe(name === 'kit' ? 1 : 0);
      await look(page, name, size);
      await judge(page, name, size.width);
    }
    await page.goto(scene.url('/app/agents'));
    for (const [name, open] of DIALOGS) {
      await page.locator('tbody tr').first().waitFor();
      await open(page);
      await eventually(() => page.locator('[aria-label="Loading"]').count()).toBe(0);
      await look(page, name, size);
      await judge(page, name, size.width);
      await page.keyboard.press('Escape');
    }
    await context.close();
    expect(complaints).toEqual([]);
  });

  it.skipIf(VECTORS === undefined)('show each of 500 hostile strings as text', async () => {
    const file = join(VECTORS ?? '', 'blns', 'blns.json');
    const strings = JSON.parse(readFileSync(file, 'utf8')) as readonly string[];
    const size = LOOKS[0] as Look;
    const approval = await scene.ask('crm.add_note', { id: '9', note: strings.join('\n'), tags: [...strings] });
    const { context, page, complaints } = await scene.window(OWNER, {
      viewport: { width: size.width, height: size.height },
    });
    page.on('dialog', (dialog) => complaints.push(dialog.message()));
    await page.goto(scene.url(`/app/approvals/${approval}`));
    await page.locator('main dd').first().waitFor();
    await judge(page, 'naughty', size.width);
    const shown = await page.evaluate<string>('document.querySelector("main").textContent');
    const visible = strings.filter((text) => /^[\x20-\x7e]+$/.test(text));
    expect(visible.length).toBeGreaterThan(300);
    expect(visible.filter((text) => !shown.includes(text))).toEqual([]);
    await context.close();
    expect(complaints).toEqual([]);
  });
});
