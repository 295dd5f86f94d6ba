import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CodeHostWire, WIRE_TOKEN } from '../support/code-host-wire.js';
import { PaymentsWire, WIRE_KEY, WIRE_VERSION } from '../support/payments-wire.js';
import { OWNER } from './console-scene.js';
import { DESK, describeConsole, inWindow, PHONE, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const panel = (page: Page, name: string) => page.getByRole('region', { name });

let payments: PaymentsWire;
let codeHost: CodeHostWire;

const storeCredential = async (page: Page, token: string): Promise<void> => {
  await button(page, 'Store credential').click();
  await page.getByLabel('token').fill(token);
  await page.getByRole('dialog').getByRole('button', { name: 'Store credential' }).click();
};

const idOfPay = async (): Promise<string> => (await scene.make('GET', '/v1/connectors/pay'))['id'] as string;

describeConsole('connectors whose tools are their type’s own', () => {
  beforeAll(async () => {
    [payments, codeHost] = await Promise.all([PaymentsWire.start(), CodeHostWire.start()]);
  });
  afterAll(async () => {
    await Promise.all([payments?.close(), codeHost?.close()]);
  });

  it('payments: set up by the form, kept from a live key, tested, with rules to begin with', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/connectors?add=payments'));
      await page.getByLabel('Name', { exact: true }).fill('pay');
      await page.getByLabel('Version of the processor').fill(WIRE_VERSION);
      await button(page, 'Add the first limit').click();
      await page.keyboard.type('eur');
      await page.getByLabel('Value of limit 1').fill('10000');
      await page.locator('summary', { hasText: 'More' }).last().click();
      // What is ticked by default is what is stored.
      for (const reason of ['duplicate', 'fraudulent', 'requested_by_customer'])
        expect(await page.getByLabel(reason, { exact: true }).isChecked()).toBe(true);
      await page.getByLabel('fraudulent', { exact: true }).uncheck();
      await page.getByLabel(/^Address of a processor of your own/).fill(payments.baseUrl);
      await button(page, 'Create connector').click();
      await page.locator('h1', { hasText: 'pay' }).waitFor();
      await page.getByText('No credential is stored. Every call fails').waitFor();

      await storeCredential(page, `sk_live_${'a'.repeat(24)}`);
      await page.getByRole('dialog').getByRole('alert').getByText('payments_live_key_refused').waitFor();
      await page.getByLabel('token').fill(WIRE_KEY);
      await page.getByRole('dialog').getByRole('button', { name: 'Store credential' }).click();
      await page.getByText(`…${WIRE_KEY.slice(-4)}`).waitFor();

      await panel(page, 'Facts').getByText('eur: 10,000').waitFor();
      await button(page, 'Test now').click();
      for (const check of ['Version', 'Permissions'])
        await panel(page, 'Connection test').getByText(check).first().waitFor();
      const rules = await panel(page, 'Rules to begin with').getByLabel('Policy').innerText();
      expect(rules).toContain('- pay.create_refund');
      expect(rules).not.toContain('{name}');
    });
    expect(await scene.make('GET', '/v1/connectors/pay')).toMatchObject({
      config: { refund_limits: { eur: 10_000 }, refund_reasons: ['duplicate', 'requested_by_customer'] },
      health: { status: 'passing' },
    });
  });

  it('payments: says why the service disabled it, and what to do', async () => {
    payments.quirk = () => ({ status: 200, body: { object: 'list', data: [{ object: 'charge', livemode: true }] } });
    await inWindow(OWNER, PHONE, async (page) => {
      await page.goto(scene.url(`/app/connectors/${await idOfPay()}`));
      await button(page, 'Test now').tap();
      await page.getByText('an answer was about real money').waitFor();
    });
    expect(await scene.make('GET', '/v1/connectors/pay')).toMatchObject({ status: 'disabled' });
    payments.quirk = () => null;
  });

  it('a code host: set up by the form, and refused where a repository is none', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/connectors?add=code_host'));
      await page.getByLabel('Name', { exact: true }).fill('code');
      await button(page, 'Add the first repository').click();
      await page.keyboard.type('acme');
      await page.locator('summary', { hasText: 'More' }).last().click();
      await page.getByLabel(/^Address of an Enterprise Server/).fill(codeHost.baseUrl);
      await button(page, 'Create connector').click();
      await page
        .getByText(/config\.repositories\[0\]/)
        .first()
        .waitFor();
      await page.getByLabel('repository 1', { exact: true }).fill('acme/shop');
      await button(page, 'Create connector').click();
      await page.locator('h1', { hasText: 'code' }).waitFor();
      await storeCredential(page, WIRE_TOKEN);
      await page.getByText(`…${WIRE_TOKEN.slice(-4)}`).waitFor();
      await button(page, 'Test now').click();
      await panel(page, 'Connection test').getByText('Repositories').first().waitFor();
    });
    expect(await scene.make('GET', '/v1/connectors/code')).toMatchObject({ health: { status: 'passing' } });
  });

  it.each(LOOKS)('look well at every width and theme (%#)', async (look) => {
    await inWindow(OWNER, windowOf(look), async (page) => {
      await page.goto(scene.url('/app/connectors?add=payments'));
      await page.getByLabel('Version of the processor').waitFor();
      await judgeWhole(page, 'connector-payments-add', look);
      await page.goto(scene.url(`/app/connectors/${await idOfPay()}`));
      await panel(page, 'Rules to begin with').waitFor();
      await judgeWhole(page, 'connector-payments', look);
    });
  });
});
