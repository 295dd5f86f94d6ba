import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { SignInPagesController } from '../../apps/api/src/pages/sign-in/sign-in-pages.controller.js';
import { startEdge, type TestEdge } from '../http/edge-harness.js';
import { ApprovalScript, ApprovalStandIn } from './approval-stand-in.js';
import { CHROMIUM, launchChromium, NO_CHROMIUM } from './chromium.js';
import { lookAt, OPENED } from './look.js';

const TOKEN = 'good'.padEnd(43, '_');

let edge: TestEdge;
let browser: Browser;
let script: ApprovalScript;
let context: BrowserContext;
let page: Page;
/** Errors and violations of the content policy that the browser reported. */
let complaints: string[];

describe.skipIf(CHROMIUM === null)(`the content of the approval page (${CHROMIUM ?? NO_CHROMIUM})`, () => {
  beforeAll(async () => {
    edge = await startEdge({ controllers: [SignInPagesController, ApprovalStandIn], providers: [ApprovalScript] });
    script = edge.app.get(ApprovalScript);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await edge?.close();
  });

  beforeEach(async () => {
    script.forget();
    context = await browser.newContext(OPENED);
    [page, complaints] = [await context.newPage(), []];
    await page.exposeFunction('report', (said: string) => complaints.push(said));
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', (event) => report(event.violatedDirective + ' ' + event.blockedURI))",
    );
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(async () => {
    const seen = complaints;
    await context.close();
    expect(seen).toEqual([]);
  });

  const open = async (token = TOKEN): Promise<void> => {
    await page.goto(`${edge.url}/auth/approve#token=${token}`);
    await expect.poll(() => page.locator('h1:visible').innerText()).toBe('An agent asks');
  };

  const look = (name: string): Promise<void> => lookAt(page, `approval-${name}`);

  const text = (id: string) => page.locator(`#${id}`).innerText();

  it('says all that the approval card of the Console says: who, for whom, why, and what an approval leads to', async () => {
    const { approval } = script;
    approval.countersigned = 1;
    approval.approvers = [
      { user: 'usr_one', countersigned_at: '2026-10-01T13:05:00.000Z', reason: 'As <b>agreed</b>.' },
      { user: 'usr_two', countersigned_at: null, reason: null },
    ];
    Object.assign(approval.context, {
      ...{ session: 'chat-\u202e17', intent_signed: true, approvers: ['role:admin', 'anna@example.com'] },
      agent: { ...approval.context.agent, labels: { team: 'support', '<i>env</i>': 'live' } },
      rule: { id: 'large-refunds', description: 'More than <b>€500</b>' },
      facts: { host: 'pay.example.com', note: '<img src=x onerror=report("run")>', path: ['v1', 'refunds'] },
      verify: { level: 'L1', sentence: 'The refund is read back.' },
      budgets_after: [
        { id: 'refunds', used: 90_000, max: 100_000, currency: 'eur' },
        { id: 'calls_per_day', used: 3, max: 20, currency: null },
      ],
    });
    await open();
    expect(await text('session')).toBe('chat-U+202E17');
    expect(await text('labels')).toBe('team: support, <i>env</i>: live');
    expect(await text('count')).toBe('1 of 2 signed (usr_one, 2026-10-01 13:05 UTC: As <b>agreed</b>.)');
    expect((await text('approved-part')).split('\n').filter((line) => line !== '')).toEqual([
      'If approved',
      'POST https://pay.example.com/v1/refunds',
      'The call is sent immediately.',
      'The refund is read back. (L1)',
      'Budget refunds after this call: 90000 of 100000 eur (smallest unit)',
      'Budget calls_per_day after this call: 3 of 20 calls',
    ]);
    for (const said of ['pay.example.com', '<img src=x onerror=', '"refunds"'])
      expect(await text('facts')).toContain(said);
    expect(await text('rule-says')).toBe('More than <b>€500</b>');
    expect(await text('approvers')).toBe('any admin, anna@example.com');
    expect(await text('policy')).toBe('plv_01h2xcejqtf2nbrexx3vqjhp41');
    expect(await text('requested')).toBe('2026-10-01 12:00 UTC');
    expect(await text('intent')).toBe('Signed call: the agent’s runtime signed its intent');
    expect(await text('action')).toBe('act_01h2xcejqtf2nbrexx3vqjhp41');
    expect(await page.locator('#waiting :is(img, i)').count()).toBe(0);
    await look('8-all');
  });

  it('shows what the server of a tool says of it, as its own words, and says why they cannot be shown', async () => {
    const digest = `sha256:${'a1'.repeat(32)}`;
    const words = { title: 'Search', description: '<b>Safe</b>\u202e\nSecond line' };
    const stored = { digest, held: false, stored: true, ...words };
    const openWith = (definition: JsonObject, token: string): Promise<void> => {
      Object.assign(script.approval.context.tool, { description: null, definition });
      return open(`${token}${TOKEN.slice(token.length)}`);
    };
    const said = async () => (await text('served-row')).replace(/\s+/g, ' ');
    await openWith(stored, 'good');
    expect(await said()).toBe(
      'Its server says Search <b>Safe</b>U+202E Second line The server’s own words, which nobody here vouches for. An approval covers their digest.',
    );
    expect(await page.locator('#served-row b').count()).toBe(0);
    await look('9-served');
    await openWith({ ...stored, description: 'line\n'.repeat(5_000) }, 'long');
    await expect.poll(said).toContain('line line line');
    expect((await page.locator('#served-words').boundingBox())?.height).toBeLessThan(300);
    const lost = { ...stored, stored: false, title: null, description: null };
    await openWith(lost, 'lost');
    await expect.poll(said).toContain('was lost and cannot be shown');
    expect(await page.locator('#served-words').isVisible()).toBe(false);
    await openWith({ ...lost, digest: null, held: true }, 'held');
    await expect.poll(said).toContain('Nobody has accepted what the server says of this tool');
  });

  it('shows the statement that a database would run in its lines, with each parameter', async () => {
    Object.assign(script.approval, { required: 1 });
    const sql = 'UPDATE orders\n   SET note = $1\u202e\n WHERE id = $2';
    Object.assign(script.approval.context, { sends: { sql, params: ['<b>late</b>', null] } });
    await open();
    expect(await text('request')).toBe('UPDATE orders\n   SET note = $1U+202E\n WHERE id = $2');
    expect((await text('parameters')).split(/\s*\n\s*/).join(' ')).toBe('$1 <b>late</b> $2 NULL (no value)');
    expect(await text('approved-part')).toContain('The call is sent immediately.');
    expect(await page.locator('#approved-part b').count()).toBe(0);
  });

  it('says that the agent runs the call itself, and names what is not stated', async () => {
    Object.assign(script.approval, { on_behalf_of: null });
    Object.assign(script.approval.context, { connector: null, sends: null });
    await open();
    expect(await text('warnings')).toContain('The agent runs this call itself, outside this service.');
    expect(await text('approved-part')).toContain(
      'The agent may run the call after the remaining approvals. This service sends nothing.',
    );
    expect(await text('behalf')).toBe('not stated');
    expect(await text('intent')).toBe('Unsigned call');
    for (const id of [
      'session-row',
      'labels-row',
      'served-row',
      'rule-says-row',
      'facts-part',
      'request',
      'verify',
      'budgets',
    ])
      expect(await page.locator(`#${id}`).isVisible()).toBe(false);
    Object.assign(script.approval.context, { connector: 'con_01h2xcejqtf2nbrexx3vqjhp41' });
    await open(`again${TOKEN.slice(5)}`);
    await expect.poll(() => text('approved-part')).toContain('The request cannot be shown.');
    expect(await text('warnings')).not.toContain('itself');
  });

  it('shows a waiting approval even if its arguments are no longer stored', async () => {
    Object.assign(script.approval, { context: null, context_digest: null });
    await open();
    expect(await text('note')).toContain('The arguments are no longer stored');
    expect(await page.locator('#approved-part').isVisible()).toBe(false);
    expect(await text('policy')).toBe('plv_01h2xcejqtf2nbrexx3vqjhp41');
  });
});
