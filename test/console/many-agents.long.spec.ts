import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { OWNER } from './console-scene.js';
import { DESK, PHONE, describeConsole, inWindow, scene } from './describe-console.js';

const PICTURES = process.env['CONSOLE_PICTURES'];
const AGENTS = 250;
/** Of connectors, and of policies. */
const OTHERS = 250;
const AT_A_TIME = 10;

const picture = async (page: Page, name: string): Promise<void> => {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
};

describeConsole('the Console of 250 agents, connectors and policies', () => {
  /** The agent made first, which is the last one in lists with the newest first. */
  let oldest = '';

  beforeAll(async () => {
    oldest = await made('/v1/agents', { name: 'the oldest' });
    await inTurns(AGENTS, (index) => made('/v1/agents', { name: `worker ${index}` }));
  }, 180_000);

  const made = async (path: string, body: object): Promise<string> =>
    (await scene.make('POST', path, body))['id'] as string;

  const inTurns = async (count: number, make: (index: number) => Promise<unknown>): Promise<void> => {
    for (let first = 0; first < count; first += AT_A_TIME)
      await Promise.all(Array.from({ length: AT_A_TIME }, (_, index) => make(first + index)));
  };

  const statusOf = async (id: string): Promise<unknown> => (await scene.make('GET', `/v1/agents/${id}`))['status'];

  /** The ids of what the newest admin deeds are about. */
  const newestAbout = async (): Promise<readonly unknown[]> => {
    const { data } = await scene.make('GET', '/v1/deeds?kind=admin&order=desc&limit=10');
    return (data as JsonObject[]).map(({ about }) => ((about as JsonObject)['target'] as JsonObject)['id']);
  };

  it('finds one of them in the Stop dialog by its name, and stops only that one', async () => {
    await inWindow(OWNER, PHONE, async (page) => {
      await page.goto(scene.url('/app/agents'));
      await page.getByRole('button', { name: 'Stop', exact: true }).tap();
      const dialog = page.getByRole('dialog');
      const rows = dialog.getByRole('listitem');
      // The agents made here, the oldest one, and the service's first agent.
      await dialog.getByRole('button', { name: `Stop all ${AGENTS + 2} agents now` }).waitFor();
      expect(await rows.count()).toBe(AGENTS + 2);
      await picture(page, 'stop-250-phone');
      const find = dialog.getByLabel('Find an agent by its name or id');
      await find.fill('nobody is called so');
      await dialog.getByText('No active agent has this in its name or id.').waitFor();
      await find.fill('THE oldest');
      await eventually(() => rows.count()).toBe(1);
      await picture(page, 'stop-250-found-phone');
      await rows.getByRole('button', { name: 'Stop this agent' }).tap();
      await rows.getByText('Stopped').waitFor();
      await find.fill('');
      await dialog.getByRole('button', { name: `Stop all ${AGENTS + 1} agents now` }).waitFor();
    });
    expect(await statusOf(oldest)).toBe('stopped');
    expect(await statusOf(scene.service.agent)).toBe('active');
  });

  it('leads from a key to its calls by one press, and back to all calls by another', async () => {
    const agent = await scene.make('POST', '/v1/agents', { name: 'two keys', key: {} });
    const id = agent['id'] as string;
    const path = `/v1/agents/${id}/keys`;
    const other = await scene.make('POST', path, {});
    const [first, second] = [agent['secret'] as string, other['secret'] as string];
    await scene.act('crm.get_customer', { id: '1' }, { key: first });
    await scene.act('crm.get_status', { id: '1' }, { key: second });
    const prefix = second.slice(0, 'svc_test_'.length + 8);
    await inWindow(OWNER, DESK, async (page) => {
      const rows = page.locator('tbody tr');
      await page.goto(scene.url(`/app/agents/${id}`));
      const calls = page.getByRole('link', { name: `Calls of this key ${prefix}` });
      await calls.waitFor();
      await picture(page, 'keys-of-agent');
      await calls.click();
      await page.getByText(`key: ${prefix}`).waitFor();
      await eventually(() => rows.count()).toBe(1);
      expect(await rows.innerText()).toContain('crm.get_status');
      await picture(page, 'calls-of-key');
      await rows.getByRole('link').click();
      await page.getByRole('link', { name: prefix }).waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Any key' }).click();
      await eventually(() => rows.count()).toBeGreaterThan(1);
      expect(new URL(page.url()).search).toBe('');
      // A pasted key is cut before its secret.
      await page.getByRole('button', { name: 'key', exact: true }).click();
      await page.getByLabel('How the API key begins, or its key_ id').fill(first);
      await page.getByRole('button', { name: 'Apply' }).click();
      await eventually(() => rows.count()).toBe(1);
      expect(await rows.innerText()).toContain('crm.get_customer');
      expect(page.url()).not.toContain(first.slice('svc_test_'.length + 9));
    });
    const { data } = await scene.make('GET', path);
    const [newest] = data as [{ readonly id: string; readonly prefix: string }];
    expect(newest.prefix).toBe(prefix);
    await inWindow(OWNER, DESK, async (page) => {
      for (const typed of [prefix, newest.id]) {
        await page.goto(scene.url('/app/agents'));
        await page.locator('tbody tr').first().waitFor();
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox').fill(typed);
        await page.getByRole('option', { name: /two keys/ }).waitFor();
        await picture(page, 'go-to-key');
        await page.getByRole('option', { name: new RegExp(`Calls of ${typed}`) }).click();
        await eventually(() => page.locator('tbody tr').count()).toBe(1);
      }
    });
  });

  it('suggests nothing if a search text can be a value of no filter', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/actions?q=crm+of+nobody'));
      await page.getByText('Search covers tool names and error codes.').waitFor();
      expect(await page.getByText('Did you mean').count()).toBe(0);
      await picture(page, 'nothing-meant');
      await page.goto(scene.url('/app/actions?q=svc_live_k3y9prf0'));
      await page.getByText('Did you mean').waitFor();
      await page.getByRole('link', { name: 'key svc_live_k3y9prf0' }).waitFor();
    });
  });

  it('names the oldest agent, connector and policy of 250, and finds the connector by its name', async () => {
    const connector = (name: string) =>
      made('/v1/connectors', {
        type: 'rest',
        name,
        config: {
          base_url: scene.upstream.baseUrl,
          auth: { kind: 'none' },
          allowed_methods: ['GET'],
          allowed_path_prefixes: ['/v1/customers'],
          tools: [{ name: 'read', description: 'Read', method: 'GET', path: '/v1/customers', args: {} }],
        },
      });
    const policy = (name: string) => made('/v1/policies', { name, source: 'version: 1\ndefault: deny\n' });
    const system = await connector('oldest-system');
    const rules = await policy('the oldest rules');
    await inTurns(OTHERS, async (index) => {
      await connector(`system-${index}`);
      await policy(`rules ${index}`);
    });
    // The newest deeds are about the oldest objects, and name them by their ids.
    await scene.make('PATCH', `/v1/connectors/${system}`, { status: 'disabled' });
    await scene.make('POST', `/v1/policies/${rules}/versions/1/activate`, { mode: 'shadow' });
    await scene.make('PATCH', `/v1/agents/${oldest}`, { budgets: { calls_per_day: 7 } });
    // The page reads the deeds once, and only offers those that are listed later.
    await eventually(newestAbout).toContain(oldest);
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/deeds?kind=admin'));
      const rows = page.locator('tbody');
      for (const name of ['oldest-system', 'the oldest rules', 'the oldest']) {
        await rows.getByText(name, { exact: true }).first().waitFor();
      }
      await picture(page, 'deeds-name-the-oldest');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('oldest-system');
      await page.getByRole('option', { name: /oldest-system/ }).click();
      await page.waitForURL(`**/app/connectors/${system}`);
      await page.getByText('This connector is disabled.').waitFor();
    });
  }, 240_000);
});
