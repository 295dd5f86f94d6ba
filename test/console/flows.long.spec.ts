import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Page, Request } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, PHONE, describeConsole, inWindow, scene } from './describe-console.js';

/** Longer than a phone's screen. */
const LONG_NOTE = Array.from({ length: 60 }, (_, line) => `Line ${line + 1} of what is to be read.`).join('\n');

let next = 100;

const customer = (): string => String((next += 1));
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const reached = (id: string): number => scene.upstream.seen.filter(({ path }) => path.includes(`/${id}`)).length;

const screens = (page: Page) => page.getByRole('navigation', { name: 'Screens', exact: true });

/** Sends a request outside of the browser, with the same headers, so that the browser does not learn its answer. */
const sentBesides = async (request: Request) => {
  const headers = await request.allHeaders();
  const sent = httpRequest(request.url(), { method: request.method(), headers }).end(request.postData());
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: answer.statusCode ?? 0,
    headers: {
      'Content-Type': String(answer.headers['content-type']),
      'Set-Cookie': (answer.headers['set-cookie'] ?? []).join('\n'),
    },
    body: await text(answer),
  };
};

/**
 * Waits until requests of the window that are under way are answered. Fails if the window navigates away because of
 * one.
 */
const answeredBefore = async (page: Page): Promise<void> => {
  for (let question = 0; question < 5; question += 1) await page.evaluate("fetch('/v1/health').then(() => 0)");
};

describeConsole('people at the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
  });

  describe('an approver', () => {
    let id: string;
    beforeEach(() => {
      id = customer();
    });

    it('on a phone reads to the last argument by taps, and approves by one more', async () => {
      const approval = await scene.ask('crm.add_note', { id, note: LONG_NOTE, tags: ['last'] });
      await inWindow(OWNER, PHONE, async (page) => {
        await page.goto(scene.url(`/app/approvals/${approval}`));
        await button(page, 'Read on').waitFor();
        expect(await button(page, /^Approve/).count()).toBe(0);
        while ((await button(page, 'Read on').count()) > 0) {
          // The button may be gone between the count and the tap, if the last argument came into view.
          await button(page, 'Read on')
            .tap({ timeout: 2_000 })
            .catch(() => undefined);
          // Until the smooth scrolling has ended.
          await page.waitForTimeout(400);
        }
        expect(await page.getByText('Line 60 of what is to be read.').isVisible()).toBe(true);
        expect(reached(id)).toBe(0);
        await button(page, 'Approve').tap();
        await page.getByText('Approved', { exact: true }).waitFor();
        await eventually(() => reached(id)).toBe(1);
        expect(await button(page, /Approve$|Deny/).count()).toBe(0);
        // The outcome shows the status, and no longer what an approval would lead to.
        const outcome = page.getByRole('status').filter({ hasText: 'Approved' });
        await outcome.getByText('Executed', { exact: true }).waitFor();
        expect(await page.evaluate('document.activeElement.textContent')).toContain('Approved by you');
        expect(await page.getByText('If approved').count()).toBe(0);
        expect(await page.getByText('wanted to').isVisible()).toBe(true);
        const onward = button(page, /^(Next: crm\.add_note \(\d+ left\)|All approvals)$/);
        await eventually(() => onward.getAttribute('aria-disabled')).toBeNull();
        await onward.tap();
        await eventually(() => page.url().includes(approval)).toBe(false);
      });
    });

    it('by the keyboard alone finds what waits, presses twice for a destructive call, and reads on', async () => {
      await scene.ask('crm.close_account', { id });
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/actions'));
        await page.locator('h1', { hasText: 'Actions' }).waitFor();
        await page.keyboard.press('g');
        await page.keyboard.press('p');
        await page.locator('h1', { hasText: 'Approvals' }).waitFor();
        await page.locator('[data-row]').first().waitFor();
        await page.keyboard.press('j');
        await page.keyboard.press('Enter');
        await button(page, 'Approve').waitFor();
        const focused = () => page.evaluate<string>('document.activeElement.textContent');
        for (let tabs = 0; tabs < 60 && (await focused()) !== 'Approve'; tabs += 1) await page.keyboard.press('Tab');
        const settled = () => button(page, /approve/i).getAttribute('aria-disabled');
        await eventually(settled).toBeNull();
        // A second Enter at once does nothing: it cannot be meant for what the first one brought up.
        await page.keyboard.press('Enter');
        await page.keyboard.press('Enter');
        await page.getByText('This cannot be undone.').waitFor();
        expect(await focused()).toBe('Yes, approve');
        await eventually(settled).toBeNull();
        expect(reached(id)).toBe(0);
        await page.keyboard.press('Enter');
        await page.getByText('Approved', { exact: true }).waitFor();
        await eventually(() => reached(id)).toBe(1);
      });
    });

    it('tells two calls of one tool apart in the list', async () => {
      await scene.ask('crm.add_note', { id, note: 'the first', amount: 48_900 });
      await scene.ask('crm.add_note', { id, note: 'the second', tags: ['x'], amount: 12 });
      await inWindow(OWNER, PHONE, async (page) => {
        await page.goto(scene.url('/app/approvals'));
        const rows = page.locator('main li');
        await rows.filter({ hasText: 'wants to write a note about a customer with crm.add_note' }).first().waitFor();
        await rows.filter({ hasText: `amount €489.00 (48900), id ${id}, note the first` }).waitFor();
        await rows.filter({ hasText: `amount €0.12 (12), id ${id}, note the second and 1 more` }).waitFor();
      });
    });

    it('denies with a reason, by one tap, and nothing is sent', async () => {
      const approval = await scene.ask('crm.add_note', { id, note: 'x', amount: 8_000 });
      await inWindow(OWNER, PHONE, async (page) => {
        await page.goto(scene.url(`/app/approvals/${approval}`));
        await page.locator('dd', { hasText: /^€80\.00sent as 8000, in minor units$/ }).waitFor();
        await page.getByText('Add a reason').tap();
        await page.getByLabel('Reason, sealed in the deed').fill('Not this one');
        await button(page, 'Deny').tap();
        await page.getByText('Denied', { exact: true }).waitFor();
        expect(await page.getByText('Reason: Not this one').isVisible()).toBe(true);
        expect(reached(id)).toBe(0);
        await page.goto(scene.url('/app/approvals?status=denied'));
        const row = page.locator('main li', { hasText: `amount €80.00 (8000), id ${id}` });
        await row.filter({ hasText: 'by you' }).waitFor();
      });
    });

    it('is told who decided, if somebody else was faster', async () => {
      const approval = await scene.ask('crm.add_note', { id, note: 'x' });
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/approvals/${approval}`));
        await button(page, 'Approve').waitFor();
        await inWindow(OWNER, DESK, async (other) => {
          await other.goto(scene.url(`/app/approvals/${approval}`));
          await button(other, 'Deny').click();
          await other.getByText('Denied', { exact: true }).waitFor();
        });
        // The window may have read the approval again before this press, or during it: then the button is gone.
        await button(page, 'Approve')
          .click({ timeout: 5_000 })
          .catch(async (error: unknown) => {
            if ((await button(page, 'Approve').count()) > 0) throw error;
          });
        await page.getByText('Denied', { exact: true }).waitFor();
        expect(await page.getByText('by you').isVisible()).toBe(true);
        expect(reached(id)).toBe(0);
      });
    });

    it('is told that the answer was lost, and may press again, which counts once', async () => {
      const approval = await scene.ask('crm.add_note', { id, note: 'x' });
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/approvals/${approval}`));
        await button(page, 'Approve').waitFor();
        const keys: (string | undefined)[] = [];
        page.on('request', (request) => {
          if (request.url().endsWith('/approve')) keys.push(request.headers()['idempotency-key']);
        });
        await page.context().setOffline(true);
        await button(page, 'Approve').click();
        await page.getByText('The connection broke before').waitFor();
        await page.context().setOffline(false);
        await button(page, 'Approve').click();
        await page.getByText('Approved', { exact: true }).waitFor();
        expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
        await eventually(() => reached(id)).toBe(1);
      });
    });
  });

  describe('a person on call', () => {
    it('stops all agents by two presses from any screen, sees what is in flight, and the owner starts them again', async () => {
      await inWindow(OWNER, PHONE, async (page) => {
        await page.goto(scene.url('/app/deeds'));
        await button(page, 'Stop').tap();
        await button(page, 'Stop all agents now').tap();
        await page.getByRole('heading', { name: 'All agents are stopped' }).waitFor();
        expect(await page.getByText('in flight: sent before the Stop').isVisible()).toBe(true);
        const refused = await scene.act('crm.get_customer', { id: customer() });
        expect(refused['decision']).toMatchObject({ outcome: 'deny', source: 'stop' });
        await button(page, 'Close').last().tap();
        await page.getByText(/^All agents are stopped since \d\d:\d\d:\d\d by you\.$/).waitFor();
        await button(page, 'Start again …').tap();
        await page.getByLabel('Reason, sealed in the deed').fill('It was a drill');
        await button(page, 'Start all agents again').tap();
        await page.getByRole('heading', { name: 'All agents are started again' }).waitFor();
        await page.getByText(/^All agents were started again at \d\d:\d\d:\d\d\./).waitFor();
        // The offer to stop all agents must not take the place of the message, because the person may press again.
        expect(await button(page, /^Stop all/).count()).toBe(0);
        await button(page, 'Close').last().tap();
        await page.getByText('All agents are stopped').waitFor({ state: 'detached' });
        const id = customer();
        await scene.act('crm.get_customer', { id });
        expect(reached(id)).toBe(1);
      });
    });

    it('stops and resumes one agent on its page', async () => {
      await scene.agentKey('night-shift');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/agents?q=night-shift'));
        await page.getByRole('link', { name: 'night-shift' }).click();
        await button(page, 'Stop agent').click();
        await page.getByText('Stopped', { exact: true }).waitFor();
        await button(page, 'Resume agent').click();
        await page.getByText('Active', { exact: true }).waitFor();
      });
    });

    it('sees, as a viewer, a disabled Stop and who may use it', async () => {
      await inWindow(VIEWER, DESK, async (page) => {
        await page.goto(scene.url('/app'));
        await button(page, 'Stop').click();
        await page.getByText(`${OWNER} can stop agents`).waitFor();
        await eventually(() => button(page, /^Stop all/).isDisabled()).toBe(true);
      });
    });
  });

  describe('any member', () => {
    it('finds a filter in the address, and gets the same rows from it', async () => {
      await scene.act('crm.export_customers', {});
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/actions'));
        await button(page, 'decision').click();
        await button(page, 'denied').click();
        await eventually(() => new URL(page.url()).search).toBe('?decision=deny');
        await eventually(() => page.locator('tbody tr').filter({ hasNotText: 'Denied' }).count()).toBe(0);
        await page.locator('tbody tr').filter({ hasText: 'Denied' }).first().waitFor();
        await page.reload();
        await eventually(() => button(page, 'decision: denied').count()).toBe(1);
      });
    });

    it('has a deed checked in the browser, and sees the failed check if it was altered on its way', async () => {
      const action = await scene.act('crm.set_status', { id: customer(), status: 'paused' });
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/actions/${action['id'] as string}`));
        const check = page.getByRole('region', { name: 'Checked in your browser' });
        await check.getByRole('heading', { name: 'Checked in your browser' }).waitFor();
        for (const name of ['Canonical', 'Unchanged', 'Sealed', 'Key valid', 'Yours', 'In time', 'Follows'])
          await check.getByText(name, { exact: true }).waitFor();
        for (const name of ['These arguments', 'This result'])
          expect(await check.locator('li').filter({ hasText: name }).innerText()).toContain('Matches what was sealed');
        // The answer is altered between the service and the browser, so the service cannot notice.
        await page.route('**/v1/deeds/deed_*', async (route) => {
          const response = await route.fetch();
          const body = (await response.text()).replace('"attempts":1', '"attempts":2');
          await route.fulfill({ response, body });
        });
        await page.reload();
        await check.getByRole('heading', { name: 'Check failed' }).waitFor();
        expect(await check.locator('li[data-tone=bad]').allInnerTexts()).toEqual([
          expect.stringContaining('Unchanged'),
          expect.stringContaining('Sealed'),
          expect.stringContaining('Differs from what was sealed: what ran'),
        ]);
      });
    });

    it('goes to a pasted id by the palette', async () => {
      const action = await scene.act('crm.get_customer', { id: customer() });
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app'));
        await page.locator('h1').waitFor();
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox').waitFor();
        await page.keyboard.insertText(action['id'] as string);
        await page.keyboard.press('Enter');
        await page.locator('h1', { hasText: 'crm.get_customer' }).waitFor();
        expect(new URL(page.url()).pathname).toBe(`/app/actions/${action['id'] as string}`);
      });
    });

    it('gets the chosen theme before anything is drawn', async () => {
      await inWindow(OWNER, { ...DESK, colorScheme: 'light' }, async (page) => {
        await page.goto(scene.url('/app'));
        await button(page, 'Account').click();
        await button(page, 'Dark').click();
        await page.addInitScript(
          "new MutationObserver(() => { if (document.body) window.themeAtFirst ??= document.documentElement.dataset.theme ?? 'none'; }).observe(document, { childList: true, subtree: true })",
        );
        await page.reload();
        await page.locator('h1').waitFor();
        expect(await page.evaluate('themeAtFirst')).toBe('dark');
        expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe(
          'rgb(15, 18, 21)',
        );
      });
    });

    it('is sent to sign in when the session is over, and comes back to the same page', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/agents?status=active'));
        await page.locator('tbody tr').first().waitFor();
        await page.context().clearCookies();
        // The next request of the page is refused.
        await page
          .getByRole('navigation', { name: 'Screens', exact: true })
          .getByRole('link', { name: 'Deeds' })
          .click();
        await page.waitForURL(/\/login\?next=%2Fapp%2Fdeeds$/);
        await page.goto(scene.url('/app/agents?status=active'));
        await page.waitForURL(/\/login\?next=/);
        expect(new URL(page.url()).searchParams.get('next')).toBe('/app/agents?status=active');
      });
    });

    it('causes no violation of the content policy, and a violation would be noticed', async () => {
      const { context, page, complaints } = await scene.window(OWNER, DESK);
      await page.goto(scene.url('/app'));
      await page.locator('h1').waitFor();
      expect(complaints).toEqual([]);
      await page.evaluate("document.body.setAttribute('style', 'color: red')");
      await eventually(() => complaints.join()).toContain('style-src');
      const refused = page.evaluate("document.body.innerHTML = '<b>x</b>'");
      await expect(refused).rejects.toThrow(/TrustedHTML/);
      await context.close();
    });

    it('cannot change an organization that the window does not show', async () => {
      await scene.besides('Südlicht AG');
      const shows = (page: Page, name: string) => screens(page).getByText(name).waitFor();
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/agents'));
        await shows(page, 'Südlicht AG');
        const other = await page.context().newPage();
        await other.goto(scene.url('/app'));
        await button(other, 'Account').click();
        await button(other, 'Switch to Nordlicht GmbH').click();
        await shows(other, 'Nordlicht GmbH');
        await page.bringToFront();
        // The next request of this window is refused, so it reloads.
        await button(page, 'Stop').click();
        await shows(page, 'Nordlicht GmbH');
        await page.locator('tbody tr').filter({ hasText: 'night-shift' }).waitFor();
      });
    });

    it('stays signed in if a switch is answered only after the old session has ended', async () => {
      await scene.besides('Nordwind KG');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/agents'));
        await screens(page).getByText('Nordwind KG').waitFor();
        const other = await page.context().newPage();
        await other.goto(scene.url('/app'));
        // The service has started the new session by then, but the browser does not have its cookie yet.
        await other.route('**/v1/auth/switch-org', async (route) => {
          const answer = await sentBesides(route.request());
          const refused = [page, other].map((each) => each.waitForResponse((met) => met.status() === 401));
          for (const each of [page, other]) await each.evaluate("dispatchEvent(new Event('visibilitychange'))");
          await Promise.all(refused);
          await route.fulfill(answer);
        });
        await button(other, 'Account').click();
        await button(other, 'Switch to Nordlicht GmbH').click();
        for (const each of [page, other]) await screens(each).getByText('Nordlicht GmbH').waitFor();
      });
    });

    it('gets to the chosen organization, however late the switch is answered', async () => {
      await scene.besides('Westwind OG');
      const { context, page } = await scene.window(OWNER, DESK);
      await page.clock.install();
      await page.goto(scene.url('/app/agents'));
      await page.route('**/v1/auth/switch-org', async (route) => {
        const answer = await sentBesides(route.request());
        const refused = page.waitForResponse((met) => met.status() === 401);
        await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
        await refused;
        await answeredBefore(page);
        await page.clock.runFor(10_000);
        await answeredBefore(page);
        await route.fulfill(answer);
      });
      await button(page, 'Account').click();
      await button(page, 'Switch to Nordlicht GmbH').click();
      await screens(page).getByText('Nordlicht GmbH').waitFor();
      await context.close();
    });
  });
});
