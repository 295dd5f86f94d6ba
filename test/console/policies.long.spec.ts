import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { OWNER } from './console-scene.js';
import { DESK, PHONE, describeConsole, inWindow, scene } from './describe-console.js';
import { append, button, dialog, editor, EMPTY, makePolicy, open, RULE, slots } from './policy-windows.js';

/** The id of the enforced policy. */
let support: string;

const CASES = ['get_customer', 'export_customers']
  .map((tool) => `- name: ${tool}\n  input:\n    tool: crm.${tool}\n  expect:\n    decision: allow\n`)
  .join('');

describeConsole('people and policies', () => {
  beforeAll(async () => {
    support = ((await slots())['enforced'] as { policy: { id: string } }).policy.id;
    for (const id of ['1', '2', '3']) await scene.act('crm.get_customer', { id });
    await scene.act('crm.export_customers', {});
  });

  describe('an admin', () => {
    it('makes a policy, and finds it in the list below the two slots', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/policies'));
        const decides = page.getByRole('region', { name: 'Enforced version' });
        await decides.getByText('support, version 1').waitFor();
        await decides.getByText('by an admin key').waitFor();
        await button(page, 'New policy').click();
        await dialog(page).getByLabel('Name').fill('Night shift');
        await button(page, 'Create policy').click();
        await page.locator('h1', { hasText: 'Night shift' }).waitFor();
        await eventually(() => editor(page).innerText()).toContain('id: reads');
        await page.getByText('This policy is not in use').waitFor();
        await page
          .getByRole('navigation', { name: 'Screens', exact: true })
          .getByRole('link', { name: 'Policies' })
          .click();
        await page.locator('tbody tr', { hasText: 'Night shift' }).waitFor();
      });
    });

    it('sees a finding in its line and in the list while typing, and goes there by a press', async () => {
      const id = await makePolicy('faults');
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await page.getByText('No problems found').waitFor();
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
        await page.getByText('No problems found').waitFor();
        await eventually(() => page.locator('.cm-lintRange-error').count()).toBe(0);
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
        // Completions accept no key at first, so that a person who types on does not take one by mistake.
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

    it('is offered the existing tools, with their side effects', async () => {
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

    it('leaves the editor by Escape and Tab, while Tab alone indents and letters are no shortcuts', async () => {
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

    it('saves a version, runs it in shadow, sees its differing decisions, and enforces it', async () => {
      const id = await makePolicy('stages', EMPTY);
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id);
        await append(page, `# Nobody reads, for once.\n`);
        await button(page, 'Save …').click();
        await dialog(page).getByLabel('Description of the change').fill('All is denied');
        await button(page, 'Save version 2').click();
        await dialog(page).getByRole('heading', { name: 'Version 2 is saved' }).waitFor();
        await dialog(page).getByRole('button', { name: 'Run in shadow …' }).click();
        await dialog(page).getByText('evaluates every call from now on but decides none').waitFor();
        await dialog(page).getByLabel('Reason').fill('To see');
        await button(page, 'Run version 2 in shadow').click();
        await page.getByText('runs in shadow since').waitFor();
        expect(await slots()).toMatchObject({ shadow: { policy: { id }, version: 2, by: { type: 'user' } } });
        await page.goto(scene.url('/app/policies'));
        const differs = page.getByRole('region', { name: 'Shadow differences' });
        await differs.getByText('No differences since').waitFor();
        // The first call after an activation finds the version not loaded yet.
        await eventually(async () => {
          await scene.act('crm.get_customer', { id: '8' });
          return differs.getByRole('link', { name: 'crm.get_customer' }).count();
        }).toBeGreaterThan(0);
        await differs.getByText('becomes').first().waitFor({ state: 'attached' });
        await open(page, id);
        await button(page, 'Enforce version 2 …').click();
        await dialog(page).getByText('Replaces version 1 of support').waitFor();
        await dialog(page).getByText('would have decided').waitFor();
        await dialog(page).getByRole('button', { name: 'Enforce version 2' }).click();
        await page.getByText('is enforced since').waitFor();
        expect(await slots()).toMatchObject({ enforced: { policy: { id }, version: 2 }, shadow: null });
        expect(await scene.act('crm.get_customer', { id: '9' })).toMatchObject({ status: 'denied' });
        await button(page, 'Deactivate version 2 …').click();
        await dialog(page).getByText('every call of every agent').waitFor();
        await button(page, 'Deactivate and deny every call').click();
        await page.getByText('This policy is not in use').waitFor();
        expect(await slots()).toMatchObject({ enforced: null });
        await page.goto(scene.url('/app/policies'));
        await page.getByText('No version is enforced: every call is denied.').waitFor();
      });
      await scene.make('POST', `/v1/policies/${support}/versions/1/activate`, { mode: 'enforce' });
    });
  });

  describe('a person who tries a text', () => {
    it('sees what it would have decided about the newest calls, those denied by a person first', async () => {
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
        await preview.getByText('1 call denied by a person would be allowed').waitFor();
        await preview.getByText('decided differently than recorded').waitFor();
        const first = preview
          .getByRole('listitem')
          .filter({ has: page.getByRole('link') })
          .first();
        expect(await first.innerText()).toContain('Denied by a person');
        await first.getByRole('link').click();
        await page.locator('h1', { hasText: 'crm.add_note' }).waitFor();
      });
    });

    it('tests it with a case file, and is led to the case and to the rule', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, support, '?tool=cases');
        await page.getByLabel('Cases (YAML)').fill(CASES);
        await button(page, 'Run cases').click();
        await page.getByText('1 of 2 cases failed').waitFor();
        const failed = page.getByRole('listitem').filter({ hasText: 'export_customers' });
        await failed.getByText('expected allow').waitFor();
        await failed.getByRole('button', { name: 'no-exports' }).click();
        await eventually(() => page.locator('.cm-activeLine').innerText()).toContain('no-exports');
        await page.getByLabel('Cases (YAML)').fill('- nonsense\n');
        await button(page, 'Run cases').click();
        await page.getByRole('alert').getByText('policy_invalid').waitFor();
        await eventually(() => page.getByLabel('Cases (YAML)').getAttribute('aria-invalid')).toBe('true');
      });
    });

    it('runs it on one call, recorded or described, and reads why', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, support, '?tool=dry-run');
        const dryRun = page.getByRole('tabpanel', { name: 'Dry run' });
        await dryRun.getByLabel('Recent action').selectOption({ index: 1 });
        await button(page, 'Ask').click();
        await dryRun.getByText('Recorded decision').waitFor();
        await dryRun.getByLabel('Describe a call').check();
        await dryRun.getByRole('combobox', { name: 'Tool', exact: true }).fill('crm.close_account');
        await dryRun.getByLabel('Arguments (JSON)').fill('{"id": ');
        await button(page, 'Ask').click();
        await dryRun.getByText('This is not JSON.').waitFor();
        await dryRun.getByLabel('Arguments (JSON)').fill('{"id": "1"}');
        await button(page, 'Ask').click();
        await dryRun.getByText('Requires approval by 1 of role:admin').waitFor();
        const trace = dryRun.getByRole('listitem');
        await eventually(() => trace.allInnerTexts()).toEqual([
          'no-exports no match: tool',
          'closing-needs-a-person decides',
        ]);
      });
    });

    it('replays a version over a window, and reads what it found', async () => {
      const id = await makePolicy('replayed', EMPTY);
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, id, '?tool=replays');
        const replays = page.getByRole('tabpanel', { name: 'Replays' });
        await replays.getByText('No replays yet.').waitFor();
        await button(page, '24 hours').click();
        await button(page, 'Start replay').click();
        await replays.getByText('Done', { exact: true }).waitFor({ timeout: 60_000 });
        await replays.getByText(/calls evaluated, \d+ decided differently/).click();
        await replays.getByText('By tool').waitFor();
        // Replays run one at a time, so the last of these waits.
        for (let more = 0; more < 8; more += 1) await scene.make('POST', `/v1/policies/${id}/versions/1/replay`, {});
        await button(page, 'Start replay').click();
        await replays.getByRole('button', { name: 'Cancel this replay' }).first().click();
        await replays.getByText('Cancelled', { exact: true }).waitFor();
        await replays.getByLabel('From').fill('2026-01-01T00:00');
        await button(page, 'Start replay').click();
        await replays.getByRole('alert').getByText('replay_window_invalid').waitFor();
        await eventually(() => replays.getByLabel('From').getAttribute('aria-invalid')).toBe('true');
      });
    });

    it('on a phone finds the editor and then the tools, and changes the shadow by taps', async () => {
      const id = await makePolicy('phone');
      const before = await makePolicy('in shadow before');
      await scene.make('POST', `/v1/policies/${before}/versions/1/activate`, { mode: 'shadow' });
      await inWindow(OWNER, PHONE, async (page) => {
        await open(page, id);
        await page.getByRole('tab', { name: 'Versions' }).tap();
        // The button beside the text names the latest version; this one is in the list of versions.
        const versions = page.getByRole('tabpanel', { name: 'Versions' });
        await versions.getByRole('button', { name: 'Run in shadow … version 1', exact: true }).tap();
        await dialog(page).getByText('the shadow of version 1 of in shadow before ends').waitFor();
        await button(page, 'Run version 1 in shadow instead').tap();
        await page.getByText('runs in shadow since').waitFor();
        expect(await slots()).toMatchObject({ shadow: { policy: { id } } });
        await button(page, /^End shadow of version \d+ …$/).tap();
        await dialog(page).getByRole('button', { name: 'End shadow' }).tap();
        await page.getByText('This policy is not in use').waitFor();
        expect(await slots()).toMatchObject({ shadow: null });
      });
    });
  });
});
