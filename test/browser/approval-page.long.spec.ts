import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '#libs/domain/kernel';
import { SignInPagesController } from '../../apps/api/src/pages/sign-in/sign-in-pages.controller.js';
import { startEdge, type TestEdge } from '../http/edge-harness.js';
import { ApprovalScript, ApprovalStandIn } from './approval-stand-in.js';
import { CHROMIUM, launchChromium, NO_CHROMIUM } from './chromium.js';
import { lookAt, LOOKS, OPENED } from './look.js';

/** A test that presses more often has found a button that does not lead to the end. */
const MOST_PRESSES = 100;
const TOKEN = 'good'.padEnd(43, '_');

let edge: TestEdge;
let browser: Browser;
let script: ApprovalScript;

describe.skipIf(CHROMIUM === null)(`the page of an approval in a browser (${CHROMIUM ?? NO_CHROMIUM})`, () => {
  beforeAll(async () => {
    edge = await startEdge({ controllers: [SignInPagesController, ApprovalStandIn], providers: [ApprovalScript] });
    script = edge.app.get(ApprovalScript);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await edge?.close();
  });

  describe('step by step', () => {
    let context: BrowserContext;
    let page: Page;
    let urls: string[];
    /** What the browser reported, except for refusals of the API. */
    let complaints: string[];

    beforeEach(async () => {
      script.forget();
      context = await browser.newContext(OPENED);
      [page, urls, complaints] = [await context.newPage(), [], []];
      await page.exposeFunction('report', (text: string) => complaints.push(text));
      await page.addInitScript(
        "addEventListener('securitypolicyviolation', (event) => report(event.violatedDirective + ' ' + event.blockedURI))",
      );
      page.on('request', (request) => urls.push(request.url()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message: ConsoleMessage) => {
        if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
      });
    });
    afterEach(async () => {
      const seen = complaints;
      await context.close();
      expect(seen).toEqual([]);
    });

    const heading = (): Promise<string> => page.locator('h1:visible').innerText();
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const buttons = () => page.locator('button:visible').allInnerTexts();
    const open = async (token = TOKEN, title = 'An agent asks'): Promise<void> => {
      await page.goto(`${edge.url}/auth/approve#token=${token}`);
      await expect.poll(heading).toBe(title);
    };

    const right = (): Promise<string> => page.locator('#approve').innerText();
    /**
     * Presses "Read on" if the button still says so. Both happen in one step: a click of Playwright would wait until
     * the button can be pressed, which may be as Approve.
     */
    const readOn = () =>
      page.evaluate(
        "((it) => it.textContent === 'Read on' && it.click())(document.getElementById('approve')); new Promise((seen) => requestAnimationFrame(seen))",
      );
    const readAll = async (): Promise<void> => {
      for (let presses = 0; (await right()) === 'Read on'; presses += 1) {
        expect(presses).toBeLessThan(MOST_PRESSES);
        await readOn();
      }
    };
    /** Approves a destructive call, which takes two presses. */
    const approve = async (): Promise<void> => {
      await readAll();
      await press('Approve €900.00');
      await press('Yes, approve €900.00');
    };

    const look = (name: string): Promise<void> => lookAt(page, `approval-${name}`);

    it('shows what is asked, decides nothing, and keeps the token out of the address', async () => {
      await open();
      await look('1-waiting');
      expect(new URL(page.url()).hash).toBe('');
      expect(urls.filter((url) => url.includes(TOKEN) && !url.includes('#'))).toEqual([]);
      expect(script.calls).toEqual([{ path: 'preview', body: { token: TOKEN } }]);
      const text = await page.locator('#waiting').innerText();
      for (const said of [
        'pay.create_refund',
        'Destructive',
        'customer:4711',
        'large-refunds',
        '0 of 2',
        '2026-10-02 12:00 UTC',
      ])
        expect(text).toContain(said);
      expect(text).toContain('This agent has never called this tool before.');
      await readAll();
      expect(await buttons()).toEqual(['Deny', 'Approve €900.00']);
    });

    it('says which tool the agent wants to run, if the tool has no title', async () => {
      await open();
      expect(await page.locator('.asks').innerText()).toContain('wants to run pay.create_refund');
    });

    it('says what the agent wants, and formats money beside the value that is sent', async () => {
      const { context } = script.approval;
      Object.assign(script.approval, { cost: null });
      Object.assign(context.tool, { title: 'refund a customer' });
      context.args = { amount: 90_000, fee: 1.5 };
      context.amounts = [
        { argument: 'amount', currency: 'eur', display: '€900.00', hint: null },
        { argument: 'fee', currency: 'eur', display: null, hint: 'An amount of money is a whole number.' },
      ];
      await open();
      expect(await page.locator('.asks').innerText()).toContain('wants to refund a customer with pay.create_refund');
      expect(await page.locator('#cost').innerText()).toBe('€900.00 (amount 90000, in minor units)');
      expect((await page.locator('#arguments').innerText()).split('\n').filter((line) => line !== '')).toEqual([
        'amount',
        '€900.00, sent as 90000 in minor units',
        'fee',
        '1.5',
        'Shown as sent. An amount of money is a whole number.',
      ]);
      await look('money');
    });

    it('asks for a second press of a destructive call, which takes effect only after a moment', async () => {
      await open();
      await readAll();
      expect(await right()).toBe('Approve €900.00');
      await expect.poll(() => page.locator('#approve').getAttribute('aria-disabled')).toBeNull();
      // A second tap in the same gesture cannot be meant for the second question.
      await page.evaluate("for (let taps = 0; taps < 2; taps += 1) document.getElementById('approve').click()");
      expect(await page.locator('#once-more').innerText()).toContain('cannot be undone');
      expect(await right()).toBe('Yes, approve €900.00');
      await look('6-once-more');
      expect(script.calls.map(({ path }) => path)).toEqual(['preview']);
      await press('Yes, approve €900.00');
      await expect.poll(heading).toBe('You approved');
      expect(script.calls.map(({ path }) => path)).toEqual(['preview', 'decide']);
    });

    it.each(['write', 'unknown'] as const)('asks for a second press of %s as the Console does', async (effect) => {
      script.approval.side_effect = script.approval.context.tool.side_effect = effect;
      await open();
      await readAll();
      await press('Approve €900.00');
      if (effect === 'unknown') await press('Yes, approve €900.00');
      await expect.poll(heading).toBe('You approved');
    });

    it.each(LOOKS)('offers Approve only after all long arguments were visible, at $width', async (size) => {
      await page.setViewportSize(size);
      const [body, list] = ['Dear customer, '.repeat(400), Array.from({ length: 90 }, (_, at) => `row ${at}`)];
      script.approval.context.args = { body: `${body}THE END`, list, last: 'kept for the end' };
      await open();
      const args = page.locator('#arguments');
      expect(await args.innerText()).not.toContain('THE END');
      expect(await right()).toBe('Read on');
      // A jump to the end does not count as reading, because long arguments are still folded.
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await page.evaluate('new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))');
      expect(await right()).toBe('Read on');
      await page.evaluate('scrollTo(0, 0)');
      const opened: number[] = [];
      while ((await right()) === 'Read on') {
        await readOn();
        opened.push(await args.locator('.more').count());
        expect(opened.length).toBeLessThan(MOST_PRESSES);
      }
      expect(opened).toEqual(opened.toSorted((a, b) => b - a));
      expect(opened.length).toBeGreaterThan(3);
      const shown = await args.innerText();
      for (const said of ['THE END', 'row 89', 'kept for the end']) expect(shown).toContain(said);
      expect(script.calls.map(({ path }) => path)).toEqual(['preview']);
    });

    it('folds long arguments', async () => {
      script.approval.context.args = { body: 'Dear customer, '.repeat(400), last: 'kept for the end' };
      await open();
      await look('7-long');
    });

    it('takes a key that is held down for one press', async () => {
      await open();
      await readAll();
      await expect.poll(() => page.locator('#approve').getAttribute('aria-disabled')).toBeNull();
      await page.locator('#approve').focus();
      await page.keyboard.down('Enter');
      await expect.poll(right).toBe('Yes, approve €900.00');
      await expect.poll(() => page.locator('#approve').getAttribute('aria-disabled')).toBeNull();
      for (let repeats = 0; repeats < 5; repeats += 1) await page.keyboard.down('Enter');
      await page.keyboard.up('Enter');
      expect(await right()).toBe('Yes, approve €900.00');
      expect(script.calls.map(({ path }) => path)).toEqual(['preview']);
    });

    it('is not frozen by many invisible characters, and shows their number', async () => {
      const [many, mixed] = ['\u007f'.repeat(80_000), 'a\u007f'.repeat(50_000)];
      script.approval.context.args = { many, mixed, turned: '\u05d0 100 -> 200' };
      await open();
      await page.evaluate("document.querySelectorAll('.more').forEach((more) => more.click())");
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await expect.poll(right).toBe('Approve €900.00');
      const marks = await page.locator('#arguments mark').allInnerTexts();
      expect(marks.length).toBeLessThan(1_000);
      expect(
        marks.reduce((sum, mark) => sum + Number(/× ([\d,]+)$/.exec(mark)?.[1]?.replace(',', '') ?? 1), 0),
      ).toBeGreaterThanOrEqual(80_000);
      expect(await page.locator('#arguments').innerText()).toContain('a<U+007F>a<U+007F>');
      expect(await page.locator('#arguments .turned').allInnerTexts()).toEqual(['\u05d0']);
    });

    it('opens a long argument by its own button, by the keyboard alone', async () => {
      script.approval.context.args = { body: `${'a\n'.repeat(300)}THE END` };
      await open();
      const more = page.getByRole('button', { name: /^Show the rest: \d+ more characters$/ });
      await more.focus();
      await page.keyboard.press('Enter');
      expect(await more.count()).toBe(0);
      expect(await page.evaluate('document.activeElement.textContent')).toContain('THE END');
      expect(await right()).toBe('Read on');
    });

    it('offers no Approve if the full request cannot be shown', async () => {
      script.approval.context.complete = false;
      await open();
      expect(await buttons()).toEqual(['Deny']);
      expect(await page.locator('#note').innerText()).toContain('The full request cannot be shown');
    });

    it('shows what agents say as text, and marks invisible characters', async () => {
      await open();
      const args = page.locator('#arguments');
      expect(await args.locator('img').count()).toBe(0);
      expect(await args.innerText()).toContain('<img src=x onerror=');
      expect(await args.locator('mark').allInnerTexts()).toEqual(['U+202E', 'U+202C', 'U+200B']);
      expect(await page.locator('#agent mark').allInnerTexts()).toEqual(['U+202E']);
      expect(await page.locator('#description').innerText()).toBe('Gives <b>money</b> back');
      expect(await page.evaluate('/[\\u202a-\\u202e\\u200b]/.test(document.body.innerText)')).toBe(false);
    });

    it('approves by a press, with a reason, and not by the key Enter', async () => {
      await open();
      await page.getByText('Add a reason').click();
      const reason = page.getByLabel(/^Reason/);
      await reason.fill('As agreed.');
      await reason.press('Enter');
      expect(script.calls.map(({ path }) => path)).toEqual(['preview']);
      await approve();
      await expect.poll(heading).toBe('You approved');
      expect(await page.locator('#decided-words').innerText()).toContain('1 of 2 people');
      await look('2-signed');
      const word = { decision: 'approve', context_digest: 'sha256:one', reason: 'As agreed.' };
      expect(script.calls.at(-1)).toEqual({ path: 'decide', body: { token: TOKEN, ...word } });
    });

    it('denies by a press', async () => {
      await open();
      await press('Deny');
      await expect.poll(heading).toBe('Denied');
      expect(script.calls.at(-1)?.body).toMatchObject({ decision: 'deny' });
    });

    it('shows a changed approval before it can be approved', async () => {
      await open();
      script.failure = new DomainError('context_changed');
      script.approval.context_digest = 'sha256:two';
      script.approval.context.changed = ['tool_digest'];
      await approve();
      await expect.poll(() => page.locator('#problem').innerText()).toContain('out of date');
      expect(await page.locator('#warnings').innerText()).toContain('Changed: tool_digest');
      await look('3-changed');
      // The reading and the first press were for the earlier context, so both have to be repeated.
      expect(await right()).not.toContain('Yes');
      await approve();
      await expect.poll(heading).toBe('You approved');
      expect(script.calls.at(-1)?.body).toMatchObject({ context_digest: 'sha256:two' });
    });

    it.each([
      ['approval_decided', 'Already decided'],
      ['approval_expired', 'Expired'],
    ] as const)('offers no button any more after %s', async (code, title) => {
      await open();
      script.failure = new DomainError(code);
      await approve();
      await expect.poll(heading).toBe(title);
      expect(await buttons()).toEqual([]);
    });

    it('is loaded again, with its token, if the browser comes back to it', async () => {
      await open();
      script.approval.status = 'denied';
      await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
      await expect.poll(heading).toBe('Denied');
      expect(script.calls).toHaveLength(2);
    });

    it('offers what this person may do, and says why other buttons are missing', async () => {
      script.approval.you = { eligible: false, why_not: 'self_approval', may_deny: true };
      await open();
      expect(await buttons()).toEqual(['Deny']);
      expect(await page.locator('#note').innerText()).toContain('on your behalf');
      script.forget();
      script.approval.approvable = false;
      script.approval.blocked_by = { code: 'agent_stopped', message: 'This agent is stopped.' };
      await page.reload();
      await open(`again${TOKEN.slice(5)}`);
      expect(await page.locator('#note').innerText()).toBe('This agent is stopped.');
      script.forget();
      script.decides = false;
      await open(`third${TOKEN.slice(5)}`);
      await expect.poll(() => page.locator('#note').innerText()).toContain('in the Console');
      expect(await buttons()).toEqual([]);
      await look('4-review-only');
    });

    it('says how the approval ended, and that a link has expired', async () => {
      script.approval.status = 'cancelled';
      await open(TOKEN, 'Cancelled');
      await open('expired'.padEnd(43, '_'), 'The link cannot be used');
      await look('5-over');
      await page.goto('about:blank');
      await page.goto(`${edge.url}/auth/approve`);
      await expect.poll(() => page.locator('#failed-problem').innerText()).toContain('incomplete');
    });
  });
});
