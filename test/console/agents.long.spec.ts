import { generateKeyPairSync } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, PHONE, describeConsole, inWindow, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const inDialog = (page: Page, name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name });
/** A budget of money: €50 a day. */
const FIFTY = { amount: 5_000, currency: 'eur' };
const secretOf = (page: Page): Promise<string> => page.getByRole('dialog').getByLabel('Secret').innerText();

const agentNamed = async (name: string): Promise<JsonObject> => {
  const { data } = await scene.make('GET', `/v1/agents?q=${name}`);
  return (data as JsonObject[])[0] as JsonObject;
};
const made = async (name: string): Promise<string> => {
  await scene.agentKey(name);
  return eventuallyId(name);
};
const eventuallyId = async (name: string): Promise<string> => {
  await eventually(async () => (await agentNamed(name))?.['name']).toBe(name);
  return (await agentNamed(name))['id'] as string;
};
/** `works` if the key is accepted, else the code of the error. */
const works = async (key: string): Promise<string> => {
  const { status, error } = await scene.service.call('GET', '/v1/actions', { key });
  return status === 200 ? 'works' : String(error['code']);
};

const publicKey = (): string => {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return `ed25519:${x ?? ''}`;
};

describeConsole('agents in the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
  });

  describe('an admin', () => {
    it('makes an agent on a phone, and sees its key once', async () => {
      let secret = '';
      await inWindow(OWNER, PHONE, async (page) => {
        await page.goto(scene.url('/app/agents'));
        await button(page, 'New agent').tap();
        await page.getByLabel('Name', { exact: true }).fill('refunder');
        expect(await page.getByLabel(/Spend|Currency/).count()).toBe(2);
        await button(page, 'Add a label').tap();
        await page.getByLabel('Name of label 1').fill('Team');
        await page.getByLabel('Value of label 1').fill('support');
        await page.getByLabel('Calls', { exact: true }).fill('1000');
        await inDialog(page, 'Create agent and key').tap();
        // The service refuses the labels: its message is shown at the field, and all typed values are still there.
        await page.getByText('The field labels must have names').waitFor();
        await page.getByLabel('Name of label 1').fill('team');
        await inDialog(page, 'Create agent and key').tap();
        await page.getByText('This secret is shown only once.').waitFor();
        secret = await secretOf(page);
        await inDialog(page, 'I have stored it').tap();
        await page.locator('h1', { hasText: 'refunder' }).waitFor();
        expect(await page.content()).not.toContain(secret);
        await page.reload();
        await page.getByText('team: support', { exact: true }).waitFor();
        expect(await page.content()).not.toContain(secret);
      });
      expect(secret).toMatch(/^svc_test_/);
      expect(await works(secret)).toBe('works');
      expect(await scene.make('GET', `/v1/agents/${await eventuallyId('refunder')}`)).toMatchObject({
        labels: { team: 'support' },
        budgets: { calls_per_day: 1_000, spend_per_day: null },
      });
    });

    it('makes, rolls and revokes keys, each by one press', async () => {
      const id = await made('with-keys');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/agents/${id}`));
        const keys = page.getByRole('region', { name: 'Keys' });
        await button(page, 'New key').click();
        await page.getByLabel('Read deeds and verify the ledger').uncheck();
        await inDialog(page, 'Create key').click();
        await page.getByText('This secret is shown only once.').waitFor();
        const first = await secretOf(page);
        await inDialog(page, 'Copy secret').click();
        await inDialog(page, 'I have stored it').click();
        await eventually(() => keys.locator('li').count()).toBe(2);
        expect(await works(first)).toBe('works');
        const prefix = first.slice(0, 17);
        await keys.locator('li', { hasText: prefix }).getByRole('button', { name: /^Roll/ }).click();
        await page.getByText('Immediately', { exact: true }).click();
        await inDialog(page, 'Roll key').click();
        await page.getByText('This secret is shown only once.').waitFor();
        const second = await secretOf(page);
        await inDialog(page, 'I have stored it').click();
        await eventually(() => works(first)).toBe('api_key_expired');
        expect(await works(second)).toBe('works');
        await keys
          .locator('li', { hasText: second.slice(0, 17) })
          .getByRole('button', { name: /^Revoke/ })
          .click();
        await inDialog(page, 'Revoke key').click();
        await page.getByText('2 inactive keys').waitFor();
        await eventually(() => works(second)).toBe('api_key_revoked');
      });
    });

    it('gets one key from two presses if the first answer was lost, and is told that its secret is gone', async () => {
      const id = await made('lost-answer');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/agents/${id}`));
        await button(page, 'New key').click();
        // The service gets the request, but its answer is lost.
        let isLost = false;
        await page.route('**/v1/agents/*/keys', async (route) => {
          if (route.request().method() !== 'POST' || isLost) return route.continue();
          isLost = true;
          await route.fetch();
          return route.abort('connectionreset');
        });
        await inDialog(page, 'Create key').click();
        await page.getByText('The service did not answer.').waitFor();
        await inDialog(page, 'Create key').click();
        await page.getByText('The response with the secret did not arrive').waitFor();
      });
      expect((await scene.make('GET', `/v1/agents/${id}`))['active_keys']).toBe(2);
    });

    it('changes labels and budgets, and sends nothing else', async () => {
      const id = await made('budgeted');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/agents/${id}`));
        await button(page, 'Change labels and budgets').click();
        await page.getByLabel('Calls', { exact: true }).fill('many');
        await inDialog(page, 'Save labels and budgets').click();
        await page.getByRole('dialog').getByText('must be an integer of at least 1').waitFor();
        await page.getByLabel('Calls', { exact: true }).fill('7');
        // A change that was made elsewhere meanwhile stays, if it is to a field that was not changed here.
        await scene.make('PATCH', `/v1/agents/${id}`, { labels: { tier: 'gold' }, budgets: { spend_per_day: FIFTY } });
        await inDialog(page, 'Save labels and budgets').click();
        await eventually(() => page.getByRole('dialog').count()).toBe(0);
        await page.getByText('0 of 7 calls').waitFor();
      });
      expect(await scene.make('GET', `/v1/agents/${id}`)).toMatchObject({
        labels: { tier: 'gold' },
        budgets: { calls_per_day: 7, spend_per_day: FIFTY },
      });
    });

    it('sees a budget of money, changes it and removes it', async () => {
      const id = await made('with-money');
      await scene.make('PATCH', `/v1/agents/${id}`, { budgets: { calls_per_day: 3, spend_per_day: FIFTY } });
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/agents/${id}`));
        await page.getByText('0 of 5000 eur').waitFor();
        await button(page, 'Change labels and budgets').click();
        await page.getByLabel('Spend, in the smallest unit').fill('7500');
        await inDialog(page, 'Save labels and budgets').click();
        await page.getByText('0 of 7500 eur').waitFor();
        await button(page, 'Change labels and budgets').click();
        await page.getByLabel('Spend, in the smallest unit').fill('');
        await page.getByLabel('Currency').fill('');
        await inDialog(page, 'Save labels and budgets').click();
        await eventually(() => page.getByRole('dialog').count()).toBe(0);
        await page.getByText('0 of 7500 eur').waitFor({ state: 'detached' });
      });
      expect((await scene.make('GET', `/v1/agents/${id}`))['budgets']).toEqual({
        calls_per_day: 3,
        spend_per_day: null,
      });
    });

    it('can require signed intents only after an intent key was registered', async () => {
      const id = await made('signing');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/agents/${id}`));
        const intents = page.getByRole('region', { name: 'Signed intents' });
        await intents.getByLabel('Mode').selectOption('required');
        await button(page, 'Set mode to required').click();
        await intents.getByText('cannot be required while the agent has no intent key').waitFor();
        await button(page, 'Add intent key').click();
        await page.getByLabel('Public key').fill('ed25519:AAAA');
        await inDialog(page, 'Add key').click();
        await page.getByRole('dialog').getByText('43 characters of base64url').waitFor();
        await page.getByLabel('Public key').fill(publicKey());
        await inDialog(page, 'Add key').click();
        await eventually(() => intents.locator('li').count()).toBe(1);
        await button(page, 'Set mode to required').click();
        await eventually(async () => (await scene.make('GET', `/v1/agents/${id}`))['intent_mode']).toBe('required');
        await intents.getByRole('button', { name: /^Remove/ }).click();
        await inDialog(page, 'Remove intent key').click();
        await page.getByText('This is the last intent key of an agent that must sign').waitFor();
      });
    });
  });

  it('shows a viewer the keys, but no button to change them', async () => {
    const id = await made('only-read');
    await inWindow(VIEWER, DESK, async (page) => {
      await page.goto(scene.url('/app/agents'));
      await page.locator('tbody tr').first().waitFor();
      expect(await button(page, 'New agent').count()).toBe(0);
      await page.goto(scene.url(`/app/agents/${id}`));
      await page.getByRole('region', { name: 'Keys' }).locator('li').first().waitFor();
      expect(await page.getByRole('button', { name: /New key|Roll|Revoke|Change|Add intent|Set/ }).count()).toBe(0);
    });
  });

  it('gives the focus back to the button that opened a dialog', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/agents'));
      await page.locator('tbody tr').first().waitFor();
      for (const name of ['New agent', 'Stop']) {
        const opener = page.getByRole('button', { name, exact: true });
        await opener.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('dialog').waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        expect(await page.evaluate('document.activeElement.textContent')).toBe(name);
      }
    });
  });

  it.each(LOOKS)('has no layout or accessibility fault at $width x $height, $colorScheme', async (look) => {
    const id = await made(`look-${look.width}-${look.colorScheme}`);
    await scene.make('POST', `/v1/agents/${id}/intent-keys`, { public_key: publicKey() });
    await scene.make('PATCH', `/v1/agents/${id}`, { labels: { team: 'support' }, budgets: { calls_per_day: 50 } });
    const dialogs = [
      ['agent-new-key', 'New key'],
      ['agent-change', 'Change labels and budgets'],
      ['agent-intent-key', 'Add intent key'],
      ['agent-roll', /^Roll/],
      ['agent-revoke', /^Revoke/],
    ] as const;
    await inWindow(OWNER, windowOf(look), async (page) => {
      await page.goto(scene.url('/app/agents'));
      await button(page, 'New agent').click();
      await judgeWhole(page, 'agents-new', look);
      await page.goto(scene.url(`/app/agents/${id}`));
      await page.locator('h1').first().waitFor();
      await judgeWhole(page, 'agent-with-keys', look);
      for (const [name, press] of dialogs) {
        await page.getByRole('button', { name: press }).first().click();
        await judgeWhole(page, name, look);
        await page.keyboard.press('Escape');
      }
      await button(page, 'New key').click();
      await inDialog(page, 'Create key').click();
      await page.getByText('This secret is shown only once.').waitFor();
      await judgeWhole(page, 'agent-secret', look);
    });
  });
});
