import pg from 'pg';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { EMBEDDED_DATABASE } from '#libs/infra/config';
import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { longAfterSignIn } from '../support/long-after-sign-in.js';
import { silentLogger } from '../support/silent-logger.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, describeConsole, inWindow, PHONE, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';

/** Keys of witnesses, whose private halves nobody has. */
const ANNA = 'anna.example/w+eb042f2d+BNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea';
const BEN = 'ben.example/w+7d8324ab+BAOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4';

/** The worker may have asked by then, and nobody answers there. */
const ASKED_OR_NOT = /Not asked yet|No answer/;

const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');
const panel = (page: Page, name: string) => page.getByRole('region', { name });
const row = (page: Page, text: string) => page.locator('tbody tr').filter({ hasText: text });
const open = (page: Page) => page.goto(scene.url('/app/settings/witnesses'));

const add = async (page: Page, name: string, vkey: string, url: string): Promise<void> => {
  await button(page, 'Add witness').click();
  await dialog(page).getByLabel('Name').fill(name);
  await dialog(page).getByLabel('Verifier key').fill(vkey);
  await dialog(page).getByLabel('Address').fill(url);
  await button(dialog(page), 'Add witness').click();
};

describeConsole('witnesses in the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
    await scene.make('POST', '/v1/ledger/checkpoint', {});
  });

  it('are added, asked for in number, and removed by an owner, each by its key', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await open(page);
      await page.getByText('No witnesses yet').waitFor();
      await add(page, 'anna', ANNA.slice(0, -2), 'http://127.0.0.1:9/anna');
      await dialog(page)
        .getByRole('alert')
        .getByText(/verifier key|public key|key id/)
        .waitFor();
      await dialog(page).getByLabel('Verifier key').fill(ANNA);
      await button(dialog(page), 'Add witness').click();
      await row(page, 'anna').getByText(ASKED_OR_NOT).waitFor();
      await page.getByText('The one witness must cosign.').waitFor();
      await add(page, 'ben', BEN, 'http://127.0.0.1:9/ben');
      await row(page, 'ben').getByText(ASKED_OR_NOT).waitFor();
      await page.getByText('1 of 2 must cosign.').waitFor();

      await button(page, /^How many are enough/).click();
      await dialog(page).getByLabel('Witnesses that must cosign').selectOption('2');
      await button(dialog(page), 'Save').click();
      await page.getByText('All 2 witnesses must cosign.').first().waitFor();

      await button(page, 'Remove ben').click();
      await button(dialog(page), 'Remove witness').click();
      await page.getByText('ben is asked no more.').waitFor();
      await page.getByText('The one witness must cosign.').waitFor();
      await row(page, 'ben').waitFor({ state: 'detached' });
      expect(await page.locator('tbody tr').count()).toBe(1);
    });
  });

  it('are replaced as a whole by a policy file, which is there to be copied, too', async () => {
    await inWindow(OWNER, PHONE, async (page) => {
      await open(page);
      const file = await panel(page, 'The policy file').getByLabel('tlog-policy').innerText();
      expect(file).toContain(`witness anna ${ANNA} http://127.0.0.1:9/anna`);
      await button(page, /^Paste policy file/).tap();
      await dialog(page).getByLabel('tlog-policy').fill('quorum all of them');
      await button(dialog(page), 'Replace policy').tap();
      await dialog(page).getByRole('alert').getByText('This is no policy of witnesses').waitFor();
      await dialog(page).getByLabel('tlog-policy').fill(`witness cleo ${ANNA} http://127.0.0.1:9/cleo\nquorum cleo\n`);
      await button(dialog(page), 'Replace policy').tap();
      await page.getByText('The policy was replaced.').waitFor();
      await row(page, 'cleo').waitFor();
      expect(await row(page, 'anna').count()).toBe(0);
    });
  });

  it('are removed by who signed in lately alone, and who did not finds the way to sign in again', async () => {
    const postgres = await startEmbeddedPostgres({ stateDir: scene.service.stateDir, log: silentLogger });
    const database = new pg.Client({ connectionString: postgres.connectionString(EMBEDDED_DATABASE) });
    await database.connect();
    await longAfterSignIn(database, () =>
      inWindow(OWNER, DESK, async (page) => {
        await open(page);
        await button(page, 'Remove cleo').click();
        await button(dialog(page), 'Remove witness').click();
        await dialog(page).getByText('This needs a sign-in of the last 10 minutes.').waitFor();
        const link = dialog(page).getByRole('link', { name: 'Sign in again' });
        expect(await link.getAttribute('href')).toBe('/login?next=%2Fapp%2Fsettings%2Fwitnesses');
        await button(dialog(page), 'Cancel').click();
        await row(page, 'cleo').waitFor();
      }),
    ).finally(async () => {
      await database.end();
      await postgres.release();
    });
  });

  it('are seen by a viewer, with the key that their operators need, and changed by nobody else than owners', async () => {
    const note = (await scene.make('POST', '/v1/ledger/checkpoint', {}))['note'] as string;
    const [origin = ''] = note.split('\n');
    await inWindow(VIEWER, DESK, async (page) => {
      await open(page);
      await row(page, 'cleo').waitFor();
      await page.getByText('can change this').waitFor();
      for (const name of ['Add witness', /^Remove/, /^Paste/]) expect(await button(page, name).count()).toBe(0);
      const key = await panel(page, 'The verifier key of your ledger').getByLabel('Verifier key').innerText();
      expect(key.startsWith(`${origin}+`)).toBe(true);
      expect(note).toContain(`— ${origin} `);
    });
  });

  it.each(LOOKS)('look well at every width and theme (%#)', async (look) => {
    await inWindow(OWNER, windowOf(look), async (page) => {
      await open(page);
      await row(page, 'cleo').waitFor();
      await judgeWhole(page, 'settings-witnesses', look);
      await button(page, 'Add witness').click();
      await dialog(page).getByLabel('Name').waitFor();
      await judgeWhole(page, 'settings-witnesses-add', look);
    });
  });
});
