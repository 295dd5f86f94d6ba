import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { OWNER } from './console-scene.js';
import { DESK, PHONE, describeConsole, inWindow, scene } from './describe-console.js';

const EMPTY = 'version: 1\ndefault: deny\n';
const READS = `${EMPTY}rules:
  - id: reads
    match:
      side_effect: read
    decision: allow
`;

/** The policy that is enforced, by its id. */
let support: string;

const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name });
const editor = (page: Page): Locator => page.getByRole('textbox', { name: /^Source of the policy/ });
const dialog = (page: Page): Locator => page.getByRole('dialog');

const makePolicy = async (name: string, source = READS): Promise<string> =>
  (await scene.make('POST', '/v1/policies', { name, source }))['id'] as string;
const slots = (): Promise<JsonObject> => scene.make('GET', '/v1/policies/slots');

/** Runs in a window of its own, which must have had nothing to complain of. */

const open = async (page: Page, id: string, query = ''): Promise<void> => {
  await page.goto(scene.url(`/app/policies/${id}${query}`));
  await editor(page).waitFor();
  // Until nothing moves any more under what is pressed next.
  await eventually(() => page.locator('[aria-label="Loading"]').count()).toBe(0);
};

/** Writes at the end of the source. */
const append = async (page: Page, text: string): Promise<void> => {
  await editor(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(text);
};

const CASES = ['get_customer', 'export_customers']
  .map((tool) => `- name: ${tool}\n  input:\n    tool: crm.${tool}\n  expect:\n    decision: allow\n`)
  .join('');

const RULE = `  - id: no-deletes
    match:
      side_effect: destructive
    decision: deny
`;

describeConsole('people and policies', () => {
  beforeAll(async () => {
    support = ((await slots())['enforced'] as { policy: { id: string } }).policy.id;
    for (const id of ['1', '2', '3']) await scene.act('crm.get_customer', { id });
    await scene.act('crm.export_customers', {});
  });

  describe('an admin', () => {
    it('makes a policy, and finds it with the others and the two slots', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/policies'));
        const decides = page.getByRole('region', { name: 'What decides' });
        await decides.getByText('support, version 1').waitFor();
        await decides.getByText('put there by an admin key').waitFor();
        await button(page, 'New policy').click();
        await dialog(page).getByLabel('Name, for people').fill('Night shift');
        await button(page, 'Make the policy').click();
        await page.locator('h1', { hasText: 'Night shift' }).waitFor();
        await eventually(() => editor(page).innerText()).toContain('id: reads');
        await page.getByText('Nothing of this policy decides').waitFor();
        await page
          .getByRole('navigation', { name: 'Screens', exact: true })
          .getByRole('link', { name: 'Policies' })
          .click();
        await page.locator('tbody tr', { hasText: 'Night shift' }).waitFor();
      });
    });

    it('sees a fault in its line and in the list while writing, and goes there by a press', async () => {
      const id = await makePolicy('faults');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await page.getByText('Nothing to correct').waitFor();
        await append(page, RULE.replace('deny', 'denied'));
        const finding = page.getByRole('listitem').getByRole('button', { name: /^error 11:15/ });
        await finding.waitFor();
        await eventually(() => page.locator('.cm-lintRange-error').innerText()).toBe('denied');
        expect(await button(page, 'Save …').isDisabled()).toBe(true);
        await page.keyboard.press('Control+Home');
        await finding.click();
        await eventually(() => page.locator('.cm-activeLine').innerText()).toContain('decision: denied');
        await page.keyboard.press('End');
        for (let letters = 0; letters < 3; letters += 1) await page.keyboard.press('Backspace');
        await page.keyboard.insertText('y');
        await page.getByText('Nothing to correct').waitFor();
        expect(await page.locator('.cm-lintRange-error').count()).toBe(0);
      });
    });

    it('is offered the names of the language, by the keyboard', async () => {
      const id = await makePolicy('names');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, '  - id: more\n    when: agent.na');
        const offered = page.locator('.cm-tooltip-autocomplete li');
        await page.keyboard.press('Control+Space');
        await offered.filter({ hasText: 'agent.name' }).waitFor();
        // What is offered takes no key at once: who types on must not take it by mistake.
        await page.waitForTimeout(200);
        await page.keyboard.press('Enter');
        await eventually(() => editor(page).innerText()).toContain('when: agent.name');
        await page.keyboard.insertText(' == "x"\n    deci');
        await page.keyboard.press('Control+Space');
        await offered.filter({ hasText: 'decision' }).waitFor();
        await page.waitForTimeout(200);
        await page.keyboard.press('Enter');
        await eventually(() => editor(page).innerText()).toContain('decision: ');
      });
    });

    it('is offered the tools that there are, with what they do', async () => {
      const id = await makePolicy('tools');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, '  - id: more\n    match:\n      tools:\n        - crm.clo');
        const offered = page.locator('.cm-tooltip-autocomplete li');
        await page.keyboard.press('Control+Space');
        await offered.filter({ hasText: 'crm.close_account' }).filter({ hasText: 'destructive' }).waitFor();
        for (let letters = 0; letters < 3; letters += 1) await page.keyboard.press('Backspace');
        await offered.filter({ hasText: 'crm.*' }).filter({ hasText: 'all 6 tools' }).waitFor();
        await page.keyboard.press('Escape');
        await page.keyboard.insertText('clo');
        await page.keyboard.press('Control+Space');
        await offered.filter({ hasText: 'crm.close_account' }).waitFor();
        await page.waitForTimeout(200);
        await page.keyboard.press('Enter');
        await eventually(() => editor(page).innerText()).toContain('- crm.close_account');
      });
    });

    it('leaves the editor by Escape and Tab, where Tab alone indents, and letters are letters', async () => {
      const id = await makePolicy('keys');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, '#');
        await page.keyboard.press('Tab');
        await page.keyboard.type('ga?');
        await eventually(() => editor(page).innerText()).toMatch(/# *ga\?/);
        expect(await page.evaluate('document.activeElement.shadowRoot !== null')).toBe(true);
        await page.keyboard.press('Escape');
        await page.keyboard.press('Tab');
        expect(await page.evaluate('document.activeElement.shadowRoot === null')).toBe(true);
        await page.keyboard.press('g');
        await page.keyboard.press('l');
        await page.locator('h1', { hasText: 'Policies' }).waitFor();
      });
    });

    it('saves a version, runs it in shadow, sees where it differs, and enforces it', async () => {
      const id = await makePolicy('stages', EMPTY);
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, `# Nobody reads, for once.\n`);
        await button(page, 'Save …').click();
        await dialog(page).getByLabel('What changed').fill('All is denied');
        await button(page, 'Save version 2').click();
        await dialog(page).getByRole('heading', { name: 'Version 2 is saved' }).waitFor();
        await button(page, 'Run it in shadow …').click();
        await dialog(page).getByText('It decides nothing and refuses nobody').waitFor();
        await dialog(page).getByLabel('Reason').fill('To see');
        await button(page, 'Run version 2 in shadow').click();
        await page.getByText('runs in shadow since').waitFor();
        expect(await slots()).toMatchObject({ shadow: { policy: { id }, version: 2, by: { type: 'user' } } });
        await page.goto(scene.url('/app/policies'));
        const differs = page.getByRole('region', { name: 'Where the shadow differs' });
        await differs.getByText('Nowhere yet').waitFor();
        // The first call after an activation finds it not loaded yet.
        await scene.act('crm.get_customer', { id: '7' });
        await scene.act('crm.get_customer', { id: '8' });
        await differs.getByRole('link', { name: 'crm.get_customer' }).first().waitFor();
        await differs.getByText('becomes').first().waitFor({ state: 'attached' });
        await open(page, id);
        await button(page, 'Enforce version 2 …').click();
        await dialog(page).getByText('It takes the place of version 1 of support').waitFor();
        await dialog(page).getByText('would have decided').waitFor();
        await dialog(page).getByRole('button', { name: 'Enforce version 2' }).click();
        await page.getByText('decides every call since').waitFor();
        expect(await slots()).toMatchObject({ enforced: { policy: { id }, version: 2 }, shadow: null });
        expect(await scene.act('crm.get_customer', { id: '9' })).toMatchObject({ status: 'denied' });
        await button(page, 'Take version 2 out …').click();
        await dialog(page).getByText('every call of every agent').waitFor();
        await button(page, 'Deny every call from now on').click();
        await page.getByText('Nothing of this policy decides').waitFor();
        expect(await slots()).toMatchObject({ enforced: null });
        await page.goto(scene.url('/app/policies'));
        await page.getByText('Nothing: every call is denied.').waitFor();
      });
      await scene.make('POST', `/v1/policies/${support}/versions/1/activate`, { mode: 'enforce' });
    });

    it('who wrote while somebody else saved is told, keeps the draft, and saves onto theirs', async () => {
      const id = await makePolicy('two people');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, RULE);
        await scene.make('POST', `/v1/policies/${id}/versions`, { source: `${READS}# Theirs.\n`, notes: 'Theirs' });
        await button(page, 'Save …').click();
        await button(page, 'Save version 2').click();
        await dialog(page).getByText('Version 2 was saved since you read the policy.').waitFor();
        await button(page, 'See what was saved; my draft is kept').click();
        await page.getByText('Version 2 was saved meanwhile').waitFor();
        await button(page, 'What they changed').click();
        await page.getByText('1 line added, 0 lines taken away').waitFor();
        await button(page, 'Back to the text').click();
        expect(await editor(page).innerText()).toContain('no-deletes');
        await button(page, /^I have looked/).click();
        await button(page, 'Save …').click();
        await button(page, 'Save version 3').click();
        await dialog(page).getByRole('heading', { name: 'Version 3 is saved' }).waitFor();
        await button(page, 'Later').click();
      });
      expect(await scene.make('GET', `/v1/policies/${id}`)).toMatchObject({
        latest_version: { version: 3, source: READS + RULE },
      });
    });

    it('who leaves the screen finds the draft again, and is asked before it is closed', async () => {
      const id = await makePolicy('left');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, RULE);
        await page.getByText('not saved').waitFor();
        await page.getByRole('link', { name: 'Overview' }).first().click();
        await page.locator('h1', { hasText: 'Overview' }).waitFor();
        await page.goBack();
        await editor(page).getByText('no-deletes').waitFor();
        const asked = new Promise<string>((resolve) => {
          page.once('dialog', (shown) => void shown.dismiss().then(() => resolve(shown.type())));
        });
        await page.close({ runBeforeUnload: true });
        expect(await asked).toBe('beforeunload');
      });
      expect(await scene.make('GET', `/v1/policies/${id}`)).toMatchObject({ latest_version: { version: 1 } });
    });

    it('whose session ends keeps the draft, signs in elsewhere, and goes on', async () => {
      const id = await makePolicy('ended');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, RULE);
        const cookies = await page.context().cookies();
        await page.context().clearCookies();
        const out = page.getByText('You are signed out.');
        await out.waitFor();
        // As another tab would have left them.
        await page.context().addCookies(cookies);
        await page.evaluate("dispatchEvent(new Event('focus'))");
        await out.waitFor({ state: 'detached' });
        await button(page, 'Save …').click();
        await button(page, 'Save version 2').click();
        await dialog(page).getByRole('heading', { name: 'Version 2 is saved' }).waitFor();
      });
    });

    it('whose answer was lost saves by the next press, once', async () => {
      const id = await makePolicy('lost');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, RULE);
        await page.keyboard.press('Control+s');
        const keys: (string | undefined)[] = [];
        page.on('request', (request) => {
          if (request.url().endsWith('/versions')) keys.push(request.headers()['idempotency-key']);
        });
        await page.context().setOffline(true);
        await button(page, 'Save version 2').click();
        await dialog(page).getByText('The service did not answer').waitFor();
        await page.context().setOffline(false);
        await button(page, 'Save version 2').click();
        await dialog(page).getByRole('heading', { name: 'Version 2 is saved' }).waitFor();
        expect(keys).toEqual([keys[0], keys[0]]);
      });
    });
  });

  describe('whoever tries a text', () => {
    it('sees what it would have done to the newest calls, those that a person denied before all others', async () => {
      const approval = await scene.ask('crm.add_note', { id: '5', note: 'x' });
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/approvals/${approval}`));
        await button(page, 'Deny').click();
        await page.getByText('Denied', { exact: true }).waitFor();
      });
      const id = await makePolicy('frees', 'version: 1\ndefault: allow\n');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        const preview = page.getByRole('tabpanel', { name: 'Preview' });
        await preview.getByText('1 call that a person denied would go through').waitFor();
        await preview.getByText('decided otherwise').waitFor();
        const first = preview
          .getByRole('listitem')
          .filter({ has: page.getByRole('link') })
          .first();
        expect(await first.innerText()).toContain('A person denied it');
        await first.getByRole('link').click();
        await page.locator('h1', { hasText: 'crm.add_note' }).waitFor();
      });
    });

    it('holds it against a file of cases, and is led to the case and to the rule', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, support, '?tool=cases');
        await page.getByLabel('The file, as YAML').fill(CASES);
        await button(page, 'Run the cases').click();
        await page.getByText('1 of 2 cases otherwise than it should be').waitFor();
        const failed = page.getByRole('listitem').filter({ hasText: 'export_customers' });
        await failed.getByText('expected allow').waitFor();
        await failed.getByRole('button', { name: 'no-exports' }).click();
        await eventually(() => page.locator('.cm-activeLine').innerText()).toContain('no-exports');
        await page.getByLabel('The file, as YAML').fill('- nonsense\n');
        await button(page, 'Run the cases').click();
        await page.getByRole('alert').getByText('policy_invalid').waitFor();
        await eventually(() => page.getByLabel('The file, as YAML').getAttribute('aria-invalid')).toBe('true');
      });
    });

    it('asks about one call, recorded or described, and reads why', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, support, '?tool=dry-run');
        const dryRun = page.getByRole('tabpanel', { name: 'Dry run' });
        await dryRun.getByLabel('One of the newest').selectOption({ index: 1 });
        await button(page, 'Ask').click();
        await dryRun.getByText('It was decided').waitFor();
        await dryRun.getByLabel('A call that I describe').check();
        await dryRun.getByLabel('Tool').fill('crm.close_account');
        await dryRun.getByLabel('Arguments, as JSON').fill('{"id": ');
        await button(page, 'Ask').click();
        await dryRun.getByText('This is not JSON.').waitFor();
        await dryRun.getByLabel('Arguments, as JSON').fill('{"id": "1"}');
        await button(page, 'Ask').click();
        await dryRun.getByText('It would wait for 1 of role:admin').waitFor();
        const trace = dryRun.getByRole('listitem');
        await eventually(() => trace.allInnerTexts()).toEqual([
          'no-exports passed over: another tool',
          'closing-needs-a-person decides',
        ]);
      });
    });

    it('replays a version over a window, and reads what it found', async () => {
      const id = await makePolicy('replayed', EMPTY);
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id, '?tool=replays');
        const replays = page.getByRole('tabpanel', { name: 'Replays' });
        await replays.getByText('None of this policy yet.').waitFor();
        await button(page, '24 hours').click();
        await button(page, 'Start the replay').click();
        await replays.getByText('Done', { exact: true }).waitFor({ timeout: 60_000 });
        await replays.getByText(/calls judged, \d+ otherwise/).click();
        await replays.getByText('By tool').waitFor();
        // One runs at a time, so the last of many waits.
        for (let more = 0; more < 8; more += 1) await scene.make('POST', `/v1/policies/${id}/versions/1/replay`, {});
        await button(page, 'Start the replay').click();
        await replays.getByRole('button', { name: 'Cancel this replay' }).first().click();
        await replays.getByText('Cancelled', { exact: true }).waitFor();
        await replays.getByLabel('From').fill('2026-01-01T00:00');
        await button(page, 'Start the replay').click();
        await replays.getByRole('alert').getByText('replay_window_invalid').waitFor();
        await eventually(() => replays.getByLabel('From').getAttribute('aria-invalid')).toBe('true');
      });
    });

    it('on a phone finds the editor and the tools one after the other, and changes by taps', async () => {
      const id = await makePolicy('phone');
      const before = await makePolicy('in shadow before');
      await scene.make('POST', `/v1/policies/${before}/versions/1/activate`, { mode: 'shadow' });
      await inWindow(OWNER, PHONE, async (page) => {
        await open(page, id);
        await page.getByRole('tab', { name: 'Versions' }).tap();
        await button(page, 'Run in shadow …').tap();
        await dialog(page).getByText('version 1 of in shadow before leaves it').waitFor();
        await button(page, 'Replace it in shadow by version 1').tap();
        await page.getByText('runs in shadow since').waitFor();
        expect(await slots()).toMatchObject({ shadow: { policy: { id } } });
        await button(page, /^End the shadow of version \d+ …$/).tap();
        await dialog(page).getByRole('button', { name: 'End its shadow' }).tap();
        await page.getByText('Nothing of this policy decides').waitFor();
        expect(await slots()).toMatchObject({ shadow: null });
      });
    });
  });
});
