import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ed25519Cosigner,
  encodeCheckpoint,
  encodeVkey,
  parseAddCheckpoint,
  signatureLine,
  signatureOf,
  SigningKey,
} from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { LyingWitness } from '../support/lying-witness.js';
import { OWNER } from './console-scene.js';
import { describeConsole, DESK, inWindow, scene } from './describe-console.js';

/** Two calls with the same arguments and the same result, and one that was denied. */
let one: Sealed;
let other: Sealed;
let denied: Sealed;

interface Sealed {
  readonly action: string;
  readonly deed: string;
}

const seen = (id: string) => scene.make('GET', `/v1/actions/${id}`);

const sealed = async (tool: string, args: { id?: string; status?: string }): Promise<Sealed> => {
  const { id, deed } = await scene.act(tool, args);
  return { action: id as string, deed: deed as string };
};

const checkIn = (page: Page) => page.getByRole('region', { name: 'Checked in your browser' });

const holding = (page: Page): Promise<readonly string[]> =>
  checkIn(page).locator('li[data-tone=ok] h3').allInnerTexts();

/** A witness that cosigns what it is asked about, and the organization's only one. */
const anna = SigningKey.generate();
const annaAt = (seconds: number) => ed25519Cosigner('anna.example/w', anna, seconds);
let witness: LyingWitness;

const witnessed = async (): Promise<void> => {
  witness = await LyingWitness.start();
  witness.lie = (_request, response, body) => {
    const { note } = parseAddCheckpoint(Buffer.from(body));
    const cosigned = signatureOf(note.text, annaAt(Math.floor(Date.now() / 1_000)));
    response.writeHead(200).end(signatureLine(cosigned));
  };
  await asOwner(async (page) => {
    await page.goto(scene.url('/app/settings/witnesses'));
    await page.getByRole('button', { name: 'Add witness' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('anna');
    await dialog.getByLabel('Verifier key').fill(encodeVkey(annaAt(1).vkey));
    await dialog.getByLabel('Address').fill(witness.url);
    await dialog.getByRole('button', { name: 'Add witness' }).click();
    await page.locator('tbody tr').filter({ hasText: 'anna' }).waitFor();
  });
  await scene.make('POST', '/v1/ledger/checkpoint', {});
};

/** The names of the failed checks, once there are any. */
const crosses = async (page: Page): Promise<readonly string[]> => {
  await checkIn(page).getByRole('heading', { name: 'Check failed' }).waitFor();
  return checkIn(page).locator('li[data-tone=bad] h3').allInnerTexts();
};

/** Changes the body of answers to `path`, as an attacker between service and browser could, or a service that lies. */
const answering = async (page: Page, path: string, change: (body: string) => string): Promise<void> => {
  await page.route(`**${path}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: change(await response.text()) });
  });
};

const changed = (page: Page, { action }: Sealed, members: object): Promise<void> =>
  answering(page, `/v1/actions/${action}`, (body) => JSON.stringify({ ...(JSON.parse(body) as object), ...members }));

const asOwner = (work: (page: Page) => Promise<void>): Promise<void> => inWindow(OWNER, DESK, work);

describeConsole('the check of a deed', () => {
  beforeAll(async () => {
    [one, other] = [await sealed('crm.get_customer', { id: '7' }), await sealed('crm.get_customer', { id: '7' })];
    denied = await sealed('crm.export_customers', {});
    await witnessed();
  });
  afterAll(() => witness.close());

  it.each([
    ['ran', () => one],
    ['was denied', () => denied],
  ])('holds for an action that %s', async (_title, which) => {
    await asOwner(async (page) => {
      await page.goto(scene.url(`/app/actions/${which().action}`));
      await checkIn(page).getByRole('heading', { name: 'Checked in your browser' }).waitFor();
      for (const name of ['This deed', 'This action', 'This page', 'This result', 'In a checkpoint', 'Witnessed'])
        expect(await holding(page)).toContain(name);
    });
  });

  it('covers the newest verdict, if there is an amendment', async () => {
    const paused = await sealed('crm.set_status', { id: '31', status: 'paused' });
    const { witness } = await seen(paused.action);
    await sealed('crm.set_status', { id: '31', status: 'lost' });
    await scene.make('POST', `/v1/actions/${paused.action}/witness`);
    await eventually(async () => (await seen(paused.action))['deeds']).toHaveLength(2);
    await asOwner(async (page) => {
      await page.goto(scene.url(`/app/actions/${paused.action}`));
      await page.locator('h1 ~ *').getByText('Mismatch').first().waitFor();
      await checkIn(page).getByRole('heading', { name: 'Checked in your browser' }).waitFor();
      expect(await holding(page)).toContain('Amended');
      // The page shows the earlier verdict, as if there were no amendment.
      await changed(page, paused, { witness });
      await page.reload();
      expect(await crosses(page)).toEqual(['This page', 'This evidence']);
    });
  });

  it('takes a reported result as such, even if it equals the mark of a removed body', async () => {
    const call = { tool: 'crm.get_customer', args: { id: '9' }, mode: 'proxy', connector_type: 'mcp' };
    const key = scene.service.agentKey;
    const { json } = await scene.service.call('POST', '/v1/actions', { key, body: call });
    const path = `/v1/actions/${json['id'] as string}`;
    const ran = { started_at: json['created_at'], finished_at: json['created_at'] };
    const body = { status: 'succeeded', ...ran, result: { removed: true } };
    expect((await scene.service.call('POST', `${path}/result`, { key, body })).status).toBe(200);
    await eventually(async () => (await scene.make('GET', path))['deed']).not.toBeNull();
    await asOwner(async (page) => {
      await page.goto(scene.url(path.replace('/v1', '/app')));
      await checkIn(page).getByRole('heading', { name: 'Checked in your browser' }).waitFor();
      await checkIn(page).getByText('Not removed').waitFor();
      expect(await page.getByText('Removed at the end').count()).toBe(0);
    });
  });

  it('fails with the genuine deed of another action, on the page of the action and of the deed', async () => {
    await asOwner(async (page) => {
      await page.route(`**/v1/deeds/${one.deed}`, async (route) => {
        const response = await route.fetch({ url: scene.url(`/v1/deeds/${other.deed}`) });
        await route.fulfill({ response });
      });
      await page.goto(scene.url(`/app/actions/${one.action}`));
      // "This page" fails only because the other call was submitted at another time. The values are the same, but the
      // other deed commits to them under other salts.
      const values = ['These arguments', 'This request', 'This result'];
      expect(await crosses(page)).toEqual(['This deed', 'This action', 'This page', ...values, 'In a checkpoint']);
      await page.goto(scene.url(`/app/deeds/${one.deed}`));
      expect(await crosses(page)).toEqual(['This deed', 'In a checkpoint']);
      // Now the service names the other deed as the action's own.
      await changed(page, one, { deed: other.deed });
      await page.goto(scene.url(`/app/actions/${one.action}`));
      await eventually(() => crosses(page)).toEqual(['This action', 'This page']);
    });
  });

  it('fails with a result that was never sealed, and reports one that is not shown', async () => {
    const { execution, result, witness } = await seen(one.action);
    await asOwner(async (page) => {
      await changed(page, denied, { status: 'executed', execution, result, witness });
      await page.goto(scene.url(`/app/actions/${denied.action}`));
      expect(await crosses(page)).toEqual(['This page', 'This result']);
      await changed(page, one, { result: null });
      await page.goto(scene.url(`/app/actions/${one.action}`));
      const line = checkIn(page).locator('li').filter({ hasText: 'This result' });
      await line.getByText('Not shown here').waitFor();
      expect(
        await checkIn(page)
          .getByText(/, 2 could not be checked|, 1 could not be checked/)
          .count(),
      ).toBe(1);
    });
  });

  it('names what the page shows differently from what was sealed', async () => {
    await asOwner(async (page) => {
      await changed(page, one, { tool: 'crm.close_account', on_behalf_of: 'usr:ceo' });
      await page.goto(scene.url(`/app/actions/${one.action}`));
      expect(await crosses(page)).toEqual(['This page', 'This request']);
      await checkIn(page).getByText('Differs from what was sealed: the tool, on behalf of').waitFor();
    });
  });

  it('says by whom and when a deed was witnessed, from signatures that this browser has verified', async () => {
    await asOwner(async (page) => {
      await page.goto(scene.url(`/app/deeds/${one.deed}`));
      await checkIn(page)
        .getByText(/^Cosigned by anna, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, by their own clocks$/)
        .waitFor();
      await checkIn(page)
        .getByText(/^\d+ hashes lead from this deed to the signed root of \d+ deeds$/)
        .waitFor();
      // The service gives a genuine proof, of another deed.
      const { text } = await scene.service.call('GET', `/v1/deeds/${other.deed}/proof`, {
        key: scene.service.adminKey,
      });
      await answering(page, `/v1/deeds/${one.deed}/proof`, () => text);
      await page.reload();
      expect(await crosses(page)).toEqual(['In a checkpoint']);
      // A cosignature of the same witness, over something else.
      const another = encodeCheckpoint({ origin: 'another.example/log', size: 1, root: new Uint8Array(32) });
      const forged = signatureLine(signatureOf(another, annaAt(1)));
      await answering(page, `/v1/deeds/${one.deed}/proof`, (body) => body.replace(/^— anna\.example.*\n/m, forged));
      await page.reload();
      await checkIn(page).getByText('A cosignature on the checkpoint does not verify').waitFor();
    });
  });

  it('is repeated once the deed is read again', async () => {
    await asOwner(async (page) => {
      await page.clock.install();
      await page.goto(scene.url(`/app/deeds/${one.deed}`));
      await checkIn(page).getByRole('heading', { name: 'Checked in your browser' }).waitFor();
      await answering(page, `/v1/deeds/${one.deed}`, (body) => body.replace('crm.get_customer', 'crm.add_note0000'));
      const screens = page.getByRole('navigation', { name: 'Screens', exact: true });
      await screens.getByRole('link', { name: 'Agents' }).click();
      await page.locator('h1', { hasText: 'Agents' }).waitFor();
      await page.clock.fastForward(61_000);
      await page.goBack();
      await page.getByText('crm.add_note0000').first().waitFor();
      expect(await crosses(page)).toEqual(['Unchanged', 'Sealed', 'Followed', 'In a checkpoint']);
      // A failed check is not cached either.
      await page.unroute(`**/v1/deeds/${one.deed}`);
      await checkIn(page).getByRole('button', { name: 'Check again' }).click();
      await checkIn(page).getByRole('heading', { name: 'Checked in your browser' }).waitFor();
    });
  });

  it('says that the list does not have the deed, and reads it again', async () => {
    await asOwner(async (page) => {
      const none = '**/v1/deeds?*';
      await answering(page, '/v1/deeds?*', (body) => JSON.stringify({ ...(JSON.parse(body) as object), data: [] }));
      for (const path of [`/app/actions/${one.action}`, `/app/deeds/${one.deed}`]) {
        await page.goto(scene.url(path));
        await checkIn(page).getByRole('heading', { name: 'Not checked' }).waitFor();
      }
      await page.unroute(none);
      await checkIn(page).getByRole('button', { name: 'Try again' }).click();
      await checkIn(page).getByRole('heading', { name: 'Checked in your browser' }).waitFor();
    });
  });

  it('appears by itself for a deed that is not sealed yet when the action names it', async () => {
    await asOwner(async (page) => {
      const error = { type: 'not_found', code: 'not_found', message: 'There is no such deed.', param: 'id' };
      await page.route(`**/v1/deeds/${one.deed}`, (route) => route.fulfill({ status: 404, json: { error } }), {
        times: 1,
      });
      await page.goto(scene.url(`/app/deeds/${one.deed}`));
      await page.getByText('There is no such deed.').first().waitFor();
      await checkIn(page).getByRole('heading', { name: 'Checked in your browser' }).waitFor();
    });
  });
});
