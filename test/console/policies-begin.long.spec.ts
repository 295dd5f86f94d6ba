import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { OWNER } from './console-scene.js';
import { DESK, describeConsole, inWindow, scene } from './describe-console.js';

const UNKNOWN_TOOL = `- name: nobody
  input:
    tool: nobody.has_it
  expect:
    decision: deny
`;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');

describeConsole('a policy that was just made', () => {
  it('offers to run in shadow or to enforce beside the text, and only Save while there is a draft', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/policies?new='));
      await dialog(page).getByLabel('Name').fill('Night shift');
      await button(page, 'Create policy').click();
      await page.locator('h1', { hasText: 'Night shift' }).waitFor();
      await button(page, 'Enforce …').click();
      await dialog(page).getByRole('heading', { name: 'Enforce version 1' }).waitFor();
      await button(page, 'Cancel').click();
      await page.locator('.cm-content').click();
      await page.keyboard.press('Control+End');
      await page.keyboard.insertText('# More.\n');
      await button(page, 'Save …').waitFor();
      expect(await button(page, /^(Run in shadow|Enforce) …$/).count()).toBe(0);
      await button(page, 'Discard').click();
      await button(page, 'Confirm discard').click();
      await button(page, 'Run in shadow …').click();
      await dialog(page).getByRole('button', { name: 'Run version 1 in shadow' }).click();
      await page.getByText('runs in shadow since').waitFor();
      await page.getByText(/runs in shadow since .* by you\./).waitFor();
      await eventually(() => button(page, /^(Run in shadow|Enforce) …$/).count()).toBe(0);
      await button(page, 'Enforce version 1 …').waitFor();
    });
  });

  it('offers a case of an existing tool, and warns of an unknown one', async () => {
    const policy = await scene.make('POST', '/v1/policies', {
      name: 'reads alone',
      source:
        'version: 1\ndefault: deny\nrules:\n  - id: reads\n    match:\n      side_effect: read\n    decision: allow\n',
    });
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url(`/app/policies/${policy['id'] as string}?tool=cases`));
      await eventually(() => page.getByLabel('Cases (YAML)').inputValue()).toMatch(
        /tool: crm\.(get|export)_\w+\n {2}expect/,
      );
      await button(page, 'Run cases').click();
      await page.getByText('1 case passed').waitFor();
      await page.getByLabel('Cases (YAML)').fill(UNKNOWN_TOOL);
      await button(page, 'Run cases').click();
      await page.getByText('No connector provides nobody.has_it, so its side effect is unknown.').waitFor();
    });
  });
});
