import { expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { deferred } from '../support/deferred.js';
import { OWNER } from './console-scene.js';
import { DESK, describeConsole, inWindow, scene } from './describe-console.js';
import { append, button, dialog, editor, makePolicy, open, READS, RULE, save } from './policy-windows.js';

describeConsole('what is written of a policy, and not saved yet: whoever', () => {
  it('wrote while somebody else saved is told so, keeps the draft, and saves on top of the other version', async () => {
    const id = await makePolicy('two people');
    await inWindow(OWNER, DESK, async (page) => {
      await open(page, id);
      await append(page, RULE);
      await scene.make('POST', `/v1/policies/${id}/versions`, { source: `${READS}# Theirs.\n`, notes: 'Theirs' });
      await button(page, 'Save …').click();
      await button(page, 'Save version 2').click();
      await dialog(page).getByText('Version 2 was saved since you read the policy.').waitFor();
      await button(page, 'View the saved version and keep my draft').click();
      await page.getByText('Version 2 was saved while you were editing').waitFor();
      await button(page, 'Their changes').click();
      await page.getByText('1 line added, 0 lines removed').waitFor();
      await button(page, 'Back to the text').click();
      expect(await editor(page).innerText()).toContain('no-deletes');
      await button(page, /^Save on top of version/).click();
      await save(page, 3);
      await button(page, 'Later').click();
    });
    expect(await scene.make('GET', `/v1/policies/${id}`)).toMatchObject({
      latest_version: { version: 3, source: READS + RULE },
    });
  });

  it('leaves the screen finds the draft again, and is asked before it is closed', async () => {
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
      // By a reload and not by closing the window, because Chromium sometimes crashes on a close with a question.
      await page.evaluate('location.reload()');
      expect(await asked).toBe('beforeunload');
      expect(await editor(page).innerText()).toContain('no-deletes');
    });
    expect(await scene.make('GET', `/v1/policies/${id}`)).toMatchObject({ latest_version: { version: 1 } });
  });

  it('sees the session end keeps the draft, signs in elsewhere, and goes on', async () => {
    const id = await makePolicy('ended');
    await inWindow(OWNER, DESK, async (page) => {
      await open(page, id);
      await append(page, RULE);
      const cookies = await page.context().cookies();
      await page.context().clearCookies();
      const out = page.getByText('You are signed out.');
      await out.waitFor();
      // As if the person had signed in in another tab.
      await page.context().addCookies(cookies);
      await page.evaluate("dispatchEvent(new Event('focus'))");
      await out.waitFor({ state: 'detached' });
      await save(page, 2);
    });
  });

  it('is told that the session is over, also after an answer about it that was cut', async () => {
    const id = await makePolicy('cut');
    await inWindow(OWNER, DESK, async (page) => {
      await open(page, id);
      const cut = { status: 200, contentType: 'application/json', body: '{"user": {' };
      await page.route('**/v1/me', (route) => route.fulfill(cut), { times: 1 });
      const answered = page.waitForResponse('**/v1/me');
      await page.context().clearCookies();
      await append(page, RULE);
      await answered;
      await append(page, '# More.\n');
      await page.getByText('You are signed out.').waitFor();
      expect(await editor(page).innerText()).toContain('no-deletes');
    });
  });

  it('has signed in elsewhere keeps the draft, however late a refusal of the old session comes', async () => {
    const id = await makePolicy('late');
    await inWindow(OWNER, DESK, async (page) => {
      await open(page, id);
      const cookies = await page.context().cookies();
      const isIn = deferred();
      const refused: number[] = [];
      await page.route(/\/v1\/policies\/(lint|preview)$/, async (route) => {
        const answer = await route.fetch();
        refused.push(answer.status());
        await isIn.promise;
        await route.fulfill({ response: answer });
      });
      await page.context().clearCookies();
      await append(page, RULE);
      await eventually(() => Promise.resolve(refused)).toContain(401);
      await page.context().addCookies(cookies);
      isIn.resolve();
      await page.getByText('No problems found').waitFor();
      expect(await editor(page).innerText()).toContain('no-deletes');
      await save(page, 2);
    });
  });

  it('lost the answer saves by the next press, and only once', async () => {
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
