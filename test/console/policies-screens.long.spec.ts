import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { accessibilityFaults } from '../browser/accessibility-faults.js';
import { eventually } from '../http/edge-client.js';
import { OWNER, VIEWER } from './console-scene.js';
import { describeConsole, scene } from './describe-console.js';
import { type Look, LOOKS } from './whole-screen.js';

const adminAt = ({ width, colorScheme }: Look): string => `${colorScheme}-${width}@example.com`;

/** A folder to save a picture of every screen to, for people to look at. Without it, no pictures are taken. */
const PICTURES = process.env['CONSOLE_PICTURES'];

const NAUGHTY = '<img src=x onerror=report("run")> \u202egnp.exe\u202c zero\u200bwidth';

const REFUNDS = `version: 1
default: deny
rules:
  - id: no-exports
    description: Nobody takes the list of customers with them
    match:
      tools:
        - crm.export_customers
    decision: deny
    message: Lists of customers are never exported by an agent.

  - id: small-changes
    description: A status is changed by agents of the team alone
    match:
      tools:
        - crm.set_status
      labels:
        team: support
    when: args.status in ["paused", "active"]
    decision: allow

  - id: notes-are-read
    match:
      tools:
        - crm.add_note
    decision: require_approval

  - id: reads
    match:
      side_effect: read
    decision: allow
`;

let ids: Readonly<Record<'support' | 'refunds' | 'quiet', string>>;

const editor = (page: Page): Locator => page.getByRole('textbox', { name: /^Source of the policy/ });
const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name });

const make = async (name: string, source: string): Promise<string> =>
  (await scene.make('POST', '/v1/policies', { name, source }))['id'] as string;

const furnish = async (): Promise<void> => {
  for (const id of ['1', '2', '3', '4']) await scene.act('crm.get_customer', { id });
  for (const id of ['2', '3']) await scene.act('crm.set_status', { id, status: 'paused' });
  await scene.act('crm.export_customers', {});
  await scene.act('crm.get_custorner', { id: '1' });
  await scene.ask('crm.add_note', { id: '7', note: NAUGHTY });
  const refunds = await make('Refunds and notes', REFUNDS);
  const longer = {
    source: `${REFUNDS.replace(', "active"', '')}# A week of it, then we look.\n`,
    notes: `Notes are read by a person.\n${NAUGHTY}`,
  };
  await scene.make('POST', `/v1/policies/${refunds}/versions`, longer);
  await scene.make('POST', `/v1/policies/${refunds}/versions/2/activate`, { mode: 'shadow', reason: 'A week' });
  const quiet = await make(`Night shift ${'long name '.repeat(9)}`, 'version: 1\ndefault: deny\n');
  const decided = (await scene.make('GET', '/v1/policies/slots'))['enforced'] as { policy: { id: string } };
  ids = { support: decided.policy.id, refunds, quiet };
  // The first call after an activation finds the version not loaded yet.
  for (const id of ['5', '6', '8']) await scene.act('crm.set_status', { id, status: 'paused' });
};

/** The states of the screens, each with its address and the steps that lead to it. */
const STATES: readonly (readonly [name: string, path: () => string, come?: (page: Page) => Promise<void>])[] = [
  ['policies', () => '/app/policies'],
  ['policies-new', () => '/app/policies', (page) => button(page, 'New policy').click()],
  ['policy-enforced', () => `/app/policies/${ids.support}`],
  ['policy-shadow', () => `/app/policies/${ids.refunds}`],
  ['policy-quiet', () => `/app/policies/${ids.quiet}`],
  ['policy-not-there', () => '/app/policies/pol_01h2xcejqtf2nbrexx3vqjhp46'],
  ['policy-old', () => `/app/policies/${ids.refunds}?version=1&tool=versions`],
  [
    'policy-faults',
    () => `/app/policies/${ids.refunds}`,
    (page) => write(page, '  - id: x\n    decison: alow\n    when: agent.nam == 1\n'),
  ],
  [
    'policy-draft',
    () => `/app/policies/${ids.refunds}`,
    (page) => write(page, '  - id: more\n    match:\n      tools:\n        - crm.*\n    decision: allow\n'),
  ],
  ['policy-cases', () => `/app/policies/${ids.refunds}?tool=cases`, cases],
  ['policy-dry-run', () => `/app/policies/${ids.refunds}?tool=dry-run`, dryRun],
  ['policy-replays', () => `/app/policies/${ids.refunds}?tool=replays`, replay],
  ['policy-versions', () => `/app/policies/${ids.refunds}?tool=versions`],
  ['policy-diff', () => `/app/policies/${ids.refunds}?tool=versions`, (page) => button(page, 'Show changes').click()],
  ['policy-save', () => `/app/policies/${ids.refunds}`, save],
  ['policy-enforce', () => `/app/policies/${ids.refunds}`, (page) => button(page, /^Enforce version \d+ …$/).click()],
  [
    'policy-take-out',
    () => `/app/policies/${ids.support}`,
    (page) => button(page, /^Deactivate version \d+ …$/).click(),
  ],
];

async function write(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(text);
  await page.locator('[data-checked]').waitFor();
}

async function cases(page: Page): Promise<void> {
  await button(page, 'Run cases').click();
  await page.getByText(/cases? passed|cases? failed/).waitFor();
}

async function dryRun(page: Page): Promise<void> {
  await page.getByLabel('Describe a call').check();
  await page.getByLabel('Tool', { exact: true }).fill('crm.set_status');
  await page.getByLabel('Arguments (JSON)').fill('{"id": "1", "status": "paused"}');
  await button(page, 'Ask').click();
  await page.getByText('Why', { exact: true }).waitFor();
}

async function replay(page: Page): Promise<void> {
  const started = await page.getByText('Done', { exact: true }).count();
  await button(page, '24 hours').click();
  await button(page, 'Start replay').click();
  await eventually(() => page.getByText('Done', { exact: true }).count()).toBeGreaterThan(started);
  await page
    .getByText(/calls evaluated, \d+ decided differently/)
    .first()
    .click();
}

async function save(page: Page): Promise<void> {
  await write(page, `# ${NAUGHTY.slice(0, 20)}\n`);
  await button(page, 'Save …').click();
  await button(page, 'Save version 3').waitFor();
}

describeConsole('the screens of policies', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
    // A person may ask for 20 previews a minute, so each size has a person of its own.
    for (const size of LOOKS) await scene.joinedAs('admin', adminAt(size));
    await furnish();
  });

  /**
   * Expects no fault that axe finds, no page wider than the window, and all texts of others as plain text with
   * invisible characters marked.
   */
  const judge = async (page: Page, name: string, width: number): Promise<void> => {
    expect.soft(await accessibilityFaults(page), name).toEqual([]);
    expect.soft(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(width);
    // The editor adds empty images of its own around replaced characters.
    expect
      .soft(
        await page
          .locator(':is(main, dialog) :is(img:not(.cm-widgetBuffer), script, iframe, object, style, b)')
          .count(),
        name,
      )
      .toBe(0);
    expect.soft(await page.evaluate('/[\\u202a-\\u202e\\u200b]/.test(document.body.innerText)'), name).toBe(false);
  };

  const look = async (page: Page, name: string, { width, colorScheme }: Look): Promise<void> => {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: width > 1_000 });
  };

  it.each(LOOKS)('have no layout or accessibility fault at $width x $height, $colorScheme', async (size) => {
    const { context, page, complaints } = await scene.window(adminAt(size), {
      viewport: { width: size.width, height: size.height },
      colorScheme: size.colorScheme,
      hasTouch: size.hasTouch,
      isMobile: size.hasTouch,
    });
    page.on('dialog', (shown) => void shown.accept());
    for (const [name, path, come] of STATES) {
      await page.goto(scene.url(path()));
      await page.locator('h1').first().waitFor();
      await eventually(() => page.locator('[aria-label="Loading"]').count()).toBe(0);
      await come?.(page);
      await eventually(() => page.locator('[aria-label="Loading"], [aria-busy=true]').count()).toBe(0);
      await look(page, name, size);
      await judge(page, name, size.width);
    }
    await context.close();
    expect(complaints).toEqual([]);
  });

  it.each(LOOKS)('have no layout or accessibility fault for a viewer, at $width', async (size) => {
    const { context, page, complaints } = await scene.window(VIEWER, {
      viewport: { width: size.width, height: size.height },
      colorScheme: size.colorScheme,
      hasTouch: size.hasTouch,
      isMobile: size.hasTouch,
    });
    for (const [name, path] of [
      ['viewer-policies', '/app/policies'],
      ['viewer-policy', `/app/policies/${ids.refunds}`],
    ] as const) {
      await page.goto(scene.url(path));
      await page.locator('h1').first().waitFor();
      await eventually(() => page.locator('[aria-label="Loading"], [aria-busy=true]').count()).toBe(0);
      await look(page, name, size);
      await judge(page, name, size.width);
    }
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('show a viewer all policies and previews, but no button that changes anything', async () => {
    const { context, page, complaints } = await scene.window(VIEWER, { viewport: { width: 1440, height: 900 } });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(scene.url('/app/policies'));
    await page.getByRole('region', { name: 'Enforced version' }).getByText('support').waitFor();
    expect(await button(page, 'New policy').count()).toBe(0);
    await page.goto(scene.url(`/app/policies/${ids.refunds}`));
    await page.getByText('Your role is read-only.').waitFor();
    await page
      .getByRole('tabpanel', { name: 'Preview' })
      .getByText('decided differently than by version 1, which is enforced now')
      .waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('tabpanel', { name: 'Versions' }).getByText('Version 1').waitFor();
    await page.getByRole('tab', { name: 'Replays' }).click();
    await page.getByRole('tabpanel', { name: 'Replays' }).getByText('Done').first().waitFor();
    const changing = /Save|Enforce|shadow …|Deactivate version|Start replay|Discard|draft/;
    expect(await button(page, changing).count()).toBe(0);
    expect(await editor(page).getAttribute('contenteditable')).toBe('false');
    expect(asked).not.toContain('/v1/policies/lint');
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('say that they wait, if a person has asked for 20 previews in a minute', async () => {
    await scene.joinedAs('admin', 'often@example.com');
    const { context, page, complaints } = await scene.window('often@example.com', {
      viewport: { width: 1440, height: 900 },
    });
    await page.goto(scene.url(`/app/policies/${ids.refunds}`));
    // Each press waits for the answer to the one before. Otherwise it could wait for a button that the limit has just
    // disabled.
    const again = button(page, 'Refresh');
    const answers: number[] = [];
    while (answers.length <= 20 && answers.at(-1) !== 429) {
      await again.click({ trial: true });
      const answer = page.waitForResponse((response) => response.url().endsWith('/v1/policies/preview'));
      await again.click();
      answers.push((await answer).status());
    }
    await page.getByText('You have reached 20 previews in a minute.').waitFor();
    await page.getByText('decided differently than by version 1, which is enforced now').first().waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('stay usable with 64 KiB of source, invisible characters and more findings than are listed', async () => {
    const rules = Array.from(
      { length: 500 },
      (_, index) => `  - id: rule-${index}\n    decison: allow # \u202e\u200b ${'x'.repeat(100)}\n`,
    );
    const source = `version: 1\ndefault: deny\nrules:\n${rules.join('')}`;
    expect(Buffer.byteLength(source)).toBeGreaterThan(64 * 1_024);
    const { context, page, complaints } = await scene.window(OWNER, { viewport: { width: 1440, height: 900 } });
    page.on('dialog', (shown) => void shown.accept());
    await page.goto(scene.url(`/app/policies/${ids.quiet}`));
    await editor(page).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(source);
    const findings = page.getByRole('listitem').getByRole('button', { name: /^(error|warning) \d+:\d+/ });
    await eventually(() => findings.count()).toBe(100);
    await page.locator('[data-checked]').waitFor();
    // The findings make the editor lower; the line with the cursor stays visible.
    const endOf = async (part: Locator): Promise<number> => {
      const box = await part.boundingBox();
      return box === null ? NaN : box.y + box.height;
    };
    await eventually(
      async () => (await endOf(page.locator('.cm-activeLine'))) - (await endOf(editor(page).locator('..'))),
    ).toBeLessThanOrEqual(1);
    // Invisible characters are marked, and have no effect.
    await eventually(() => page.locator('.cm-content mark', { hasText: 'U+202E' }).count()).toBeGreaterThan(0);
    await findings.last().click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('# still here\n');
    await eventually(() => editor(page).innerText()).toContain('# still here');
    await page.locator('[data-checked]').waitFor();
    await judge(page, 'attack', 1440);
    await context.close();
    expect(complaints).toEqual([]);
  });
});
