import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, describeConsole, inWindow, PHONE, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';
import { RENAME_SQL, WitnessedScene } from './witnessed-scene.js';

let shown: WitnessedScene;

const panel = (page: Page, name: string) => page.getByRole('region', { name });
const check = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Checks' }).getByRole('listitem').filter({ hasText: name });
const rows = (page: Page) => page.getByRole('list', { name: 'Changed rows' }).getByRole('listitem');
/** The cells of a column's line, as a person reads them. */
const line = async (page: Page, column: string): Promise<readonly string[]> =>
  rows(page)
    .first()
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${column}\\b`) }) })
    .locator('th, td')
    .allInnerTexts();

/** Answers of a route with other members than the service gave them. */
const answers = (page: Page, path: string, change: (body: JsonObject) => JsonObject): Promise<unknown> =>
  page.route(`**${path}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: change((await response.json()) as JsonObject) });
  });

describeConsole('a database with a witness, in the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
    shown = await WitnessedScene.open(scene);
  });
  afterAll(() => shown?.close());

  it('has its limits, the statement of each tool, and how its change log is followed on its page', async () => {
    await inWindow(VIEWER, DESK, async (page) => {
      await page.goto(shown.page);
      const witness = panel(page, 'Witness');
      await witness.getByText('Healthy').waitFor();
      await witness.getByText('The change log is followed.').waitFor();
      expect(await witness.innerText()).toMatch(/Behind by\s+\d+(\.\d+)? (bytes?|KiB)/);
      expect(await witness.innerText()).toContain(shown.shop.publication);
      const facts = panel(page, 'Facts');
      await facts.getByText('Most rows that a call may change').waitFor();
      expect(await facts.innerText()).toMatch(/Host\s+127\.0\.0\.1|Host\s+localhost/);
      const statement = page.getByRole('group', { name: 'Statement of shop.rename' });
      expect(await statement.innerText()).toBe(RENAME_SQL);
      await page.getByText('Takes $1 id (integer), $2 name (string, or NULL).').waitFor();
      await page.getByText('row_count == 1').waitFor();
    });
  });

  it('shows what of its set-up is missing, with the SQL that mends it in lines that can be copied', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(shown.page);
      await page.getByRole('button', { name: 'Test now' }).click();
      await check(page, 'Published tables').getByText('Failed').waitFor();
      for (const name of ['Role of the agents', 'Replication slot', 'Replica identities', 'Change log'])
        await check(page, name).getByText('Passed').first().waitFor();
      const code = check(page, 'Size of the slot').getByRole('group', { name: /\(commands\)$/ });
      expect(await code.innerText()).toMatch(
        /^ALTER SYSTEM SET max_slot_wal_keep_size .*;\nSELECT pg_reload_conf\(\);$/,
      );
      await check(page, 'Size of the slot').getByRole('button', { name: 'Copy' }).waitFor();
    });
  });

  it('is changed by a form in which a statement keeps its lines', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(`${shown.page}?edit=`);
      await page.getByText('Gives one customer another name').first().click();
      const statement = page.getByLabel('Statement', { exact: true });
      expect(await statement.inputValue()).toBe(RENAME_SQL);
      await statement.fill(`${RENAME_SQL}\n   AND id < 1000`);
      await page.getByRole('button', { name: 'Save changes' }).click();
      const now = page.getByRole('group', { name: 'Statement of shop.rename' });
      await now.getByText('AND id < 1000').waitFor();
      expect(await now.innerText()).toBe(`${RENAME_SQL}\n   AND id < 1000`);
    });
  });

  it('is made by a form of its own, with tools, arguments and the witness', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/connectors?add=database'));
      await page.getByLabel('Name', { exact: true }).fill('ledger');
      await page.getByLabel('Host').fill('127.0.0.1');
      await page.getByLabel('Database').fill('books');
      await page.getByLabel('Encryption').selectOption({ label: 'None: for development only' });
      await page.getByRole('button', { name: 'Add the first tool' }).click();
      const tools = page.getByRole('group', { name: 'Tools' });
      await tools.getByLabel('Name', { exact: true }).fill('book');
      await tools.getByLabel('Description').fill('Books an amount');
      await tools.getByLabel('Statement').fill('INSERT INTO entries (amount)\nVALUES ($1)');
      await tools.getByRole('button', { name: 'Add the first argument' }).click();
      await tools.getByLabel('Name', { exact: true }).last().fill('amount');
      await tools.getByLabel('Type').selectOption('numeric');
      await page.getByRole('group', { name: 'Witness' }).getByLabel('On', { exact: true }).check();
      await page.getByRole('button', { name: 'Create connector' }).click();
      await page.getByText('No credential is stored.').waitFor();
      await page.getByText('Takes $1 amount (numeric).').waitFor();
      await page.getByRole('button', { name: 'Store credential' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('username', { exact: true }).fill('books');
      await dialog.getByLabel('password', { exact: true }).fill('of-the-books');
      await dialog.getByRole('button', { name: 'Store credential' }).click();
      await dialog.getByText('the change log is read by a role of its own', { exact: false }).waitFor();
      await dialog.getByLabel('witness_username', { exact: true }).fill('books_log');
      await dialog.getByLabel('witness_password', { exact: true }).fill('of-the-log');
      await dialog.getByRole('button', { name: 'Store credential' }).click();
      await panel(page, 'Credential')
        .getByText('username, password, witness_username, witness_password', { exact: false })
        .waitFor();
    });
  });

  it('shows each changed row before and after, NULL apart from an empty text', async () => {
    await shown.shop.owner.query(
      `alter table orders replica identity full; update orders set note = null where id = 7`,
    );
    const action = await shown.acted('execute', {
      sql: 'update orders set note = $1, cents = 701 where id = 7',
      params: [''],
    });
    await inWindow(VIEWER, DESK, async (page) => {
      await page.goto(action);
      await rows(page).getByText('public.orders').waitFor();
      expect(await rows(page).locator('summary').innerText()).toBe('public.orders id 7 updated');
      expect(await line(page, 'id')).toEqual(['id', '7', '7']);
      expect(await line(page, 'cents')).toEqual(['cents changed', '700', '701']);
      expect(await line(page, 'note')).toEqual(['note changed', 'NULL', 'empty text']);
      await page.getByText('1 row updated', { exact: false }).first().waitFor();
      await page.getByText('Witnessed').first().waitFor();
      // The check in the browser compares the shown evidence with the sealed digest, too.
      await page.getByRole('heading', { name: 'Checked in your browser' }).waitFor();
    });
  });

  it('marks values that are cut or left alone, and counts the rows that are not kept', async () => {
    await shown.shop.owner.query('alter table orders replica identity default');
    const long = await shown.acted('execute', {
      sql: 'insert into orders (id, cents, note) values (5001, 1, $1)',
      // The database cannot compress it, so that it is stored beside its row.
      params: [randomBytes(10_000).toString('hex')],
    });
    const left = await shown.acted('execute', { sql: 'update orders set cents = 2 where id = 5001' });
    const many = await shown.acted('execute', {
      sql: 'update orders set cents = cents + 1 where id between 100 and 156',
    });
    await inWindow(VIEWER, DESK, async (page) => {
      await page.goto(long);
      await rows(page).getByText('cut: 20 KiB in all').waitFor();
      expect(await rows(page).first().getByRole('columnheader').allInnerTexts()).toEqual(['Column', 'After']);
      await page.goto(left);
      await rows(page).getByText('long value, unchanged').waitFor();
      expect(await line(page, 'cents')).toEqual(['cents', 'not in the log', '2']);
      await page.getByText('with REPLICA IDENTITY FULL it does').waitFor();
      await page.goto(many);
      await page.getByText('and 37 more rows, of which only the number is kept.').waitFor();
      expect(await rows(page).count()).toBe(20);
      // Rows further down unfold by the keyboard.
      const last = rows(page).last();
      expect(await last.getByRole('table').count()).toBe(0);
      await last.locator('summary').focus();
      await page.keyboard.press('Enter');
      await last.getByRole('table').waitFor();
    });
  });

  it('says in words why its change log contradicts a call, or cannot say', async () => {
    const contradicted = await shown.acted('spread', { last: 3 });
    const unsaid = await shown.acted('execute', { sql: `insert into plain values (3, 'three')` });
    await inWindow(VIEWER, DESK, async (page) => {
      await page.goto(contradicted);
      const banner = page.getByRole('group', { name: 'The change log contradicts this call' });
      await banner.getByText('Look at it.').waitFor();
      await banner.getByText('The extra check of the tool does not hold for what the log shows. expectation').waitFor();
      await page.goto(unsaid);
      await page.getByRole('list', { name: 'Reasons' }).getByText('no_replica_identity').waitFor();
      expect(await page.getByRole('group', { name: 'The change log contradicts this call' }).count()).toBe(0);
    });
  });

  it('says that the change log is awaited', async () => {
    const action = await shown.acted('execute', { sql: 'update orders set cents = 3 where id = 5' });
    await inWindow(VIEWER, DESK, async (page) => {
      await answers(page, `/v1/actions/${action.split('/').at(-1) ?? ''}`, (body) => ({
        ...body,
        ...{ state: 'witnessing', witness: null, deed: null, deeds: [] },
      }));
      await page.goto(action);
      await page.getByText('The change log of the database is awaited').waitFor();
    });
  });

  it('shows on a card the statement of a tool with its parameters, and what is known of it', async () => {
    const card = await shown.asked('rename', { id: 11, name: 'Ada <b>Möller</b>\u202e' });
    await inWindow(OWNER, PHONE, async (page) => {
      await page.goto(card);
      await page.getByText('This statement runs in a transaction of its own, immediately:').waitFor();
      expect(await page.locator('main pre').innerText()).toContain('UPDATE customers\n   SET name = $2');
      const parameters = page.getByRole('term').filter({ hasText: /^\$\d$/ });
      expect(await parameters.allInnerTexts()).toEqual(['$1', '$2']);
      await page.getByText('public.customers').waitFor();
      await page.getByText('Has WHERE').waitFor();
      await page.getByText('The database’s own change log shows which rows the call changes. (L2)').waitFor();
      expect(await page.getByText('cannot be shown').count()).toBe(0);
      expect(await page.locator('main b').count()).toBe(0);
      await page.getByRole('button', { name: /^Approve/ }).tap();
      await page.getByText('Approved', { exact: true }).first().waitFor();
    });
    await eventually(() =>
      shown.shop.count(`select count(*) n from customers where id = 11 and name like 'Ada%'`),
    ).toBe(1);
  });

  it('warns of a statement that changes every row', async () => {
    const card = await shown.asked('execute', { sql: 'delete from visits' });
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(card);
      await page.getByText('The statement changes every row of its table').waitFor();
      await page.getByText('The statement above runs in a transaction of its own, immediately.').waitFor();
      expect(await page.locator('main pre').count()).toBe(0);
    });
  });

  it.each(LOOKS)('has no layout or accessibility fault at $width x $height, $colorScheme', async (look) => {
    await shown.shop.owner.query('alter table orders replica identity full');
    const screens = {
      'database-connector': shown.page,
      'database-edit': `${shown.page}?edit=`,
      'database-new': scene.url('/app/connectors?add=database'),
      'database-action': await shown.acted('execute', {
        sql: `update orders set note = null, cents = cents + $1\n where id in (21, 22)`,
        params: ['5'],
      }),
      'database-mismatch': await shown.acted('spread', { last: 5 }),
      'database-unverifiable': await shown.acted('execute', { sql: `insert into plain values (4, 'four')` }),
      'database-card': await shown.asked('rename', { id: 12, name: 'Eva' }),
      'database-card-every-row': await shown.asked('execute', { sql: 'delete from visits' }),
    };
    await inWindow(OWNER, windowOf(look), async (page) => {
      for (const [name, address] of Object.entries(screens)) {
        await page.goto(address);
        await page.locator('h1').first().waitFor();
        if (name === 'database-action') await rows(page).first().waitFor();
        await judgeWhole(page, name, look);
      }
      await answers(page, `/v1/connectors/${shown.shop.connector}`, (body) => ({
        ...body,
        witness: {
          ...(body['witness'] as JsonObject),
          status: 'degraded',
          reason: 'slot_lagging',
          lag_bytes: 1_234_567_890,
        },
      }));
      await page.goto(shown.page);
      await panel(page, 'Witness').getByText('1.1 GiB').waitFor();
      await judgeWhole(page, 'database-degraded', look);
    });
  });

  it('tells at once that its change log is lost, on its page and on the overview, and what to do', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(shown.page);
      await panel(page, 'Witness').getByText('Healthy').waitFor();
      await shown.lose();
      await panel(page, 'Witness').getByText('Invalidated').waitFor({ timeout: 60_000 });
      await panel(page, 'Witness').getByText('npm run ags -- database setup-sql --connector shop').waitFor();
      await page.goto(scene.url('/app'));
      const line = page
        .getByRole('list', { name: 'Needs attention' })
        .getByText('is lost to its witness', { exact: false });
      await line.waitFor({ timeout: 60_000 });
    });
  });
});
