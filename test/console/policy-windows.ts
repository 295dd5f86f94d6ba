import type { Locator, Page } from 'playwright-core';
import type { JsonObject } from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { scene } from './describe-console.js';

export const EMPTY = 'version: 1\ndefault: deny\n';
export const READS = `${EMPTY}rules:
  - id: reads
    match:
      side_effect: read
    decision: allow
`;
/** A rule to append to `READS`, which gives another version. */
export const RULE = `  - id: no-deletes
    match:
      side_effect: destructive
    decision: deny
`;

export const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name });
export const editor = (page: Page): Locator => page.getByRole('textbox', { name: /^Source of the policy/ });
export const dialog = (page: Page): Locator => page.getByRole('dialog');

/**
 * Makes a policy.
 * @returns its id
 */
export const makePolicy = async (name: string, source = READS): Promise<string> =>
  (await scene.make('POST', '/v1/policies', { name, source }))['id'] as string;
export const slots = (): Promise<JsonObject> => scene.make('GET', '/v1/policies/slots');

/**
 * Opens the page of a policy, and waits until its editor is ready.
 * @param query of the address, with its `?`
 */
export const open = async (page: Page, id: string, query = ''): Promise<void> => {
  // The editor's completions come from these two answers.
  await Promise.all([
    page.waitForResponse('**/v1/policies/language'),
    page.waitForResponse('**/v1/tools?*'),
    page.goto(scene.url(`/app/policies/${id}${query}`)),
  ]);
  await editor(page).waitFor();
  // Waits for all loading to end, so that nothing moves under the next press.
  await eventually(() => page.locator('[aria-label="Loading"]').count()).toBe(0);
};

/** Types a text at the end of the source. */
export const append = async (page: Page, text: string): Promise<void> => {
  await editor(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(text);
};

/**
 * Saves the draft.
 * @param version the number that the new version gets
 */
export const save = async (page: Page, version: number): Promise<void> => {
  await button(page, 'Save …').click();
  await button(page, `Save version ${version}`).click();
  await dialog(page)
    .getByRole('heading', { name: `Version ${version} is saved` })
    .waitFor();
};
