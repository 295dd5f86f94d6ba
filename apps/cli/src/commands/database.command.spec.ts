import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ReadinessBench } from '../../../../test/support/readiness-bench.js';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { runSetUp, setUpText } from '../database-set-up.js';
import { runProgram } from '../program.js';

const ID = 'con_01h2xcejqtf2nbrexx3vqjhp49';
const CONFIG = { database: 'shop', schemas: ['public', 'sales'], witness: { enabled: true } };

let bench: ReadinessBench;
let service: Server;
let url: string;
let config: object = CONFIG;
beforeAll(async () => {
  bench = await ReadinessBench.start();
  await bench.owner.query('create schema sales');
  await bench.owner.query('create table orders (id serial primary key); create table sales.bare (id int)');
  service = createServer((request, response) => {
    const name = request.url?.split('/').at(-1);
    const isThere = name === 'shop' || name === 'crm';
    const found = { object: 'connector', id: ID, name, type: name === 'shop' ? 'database' : 'rest', config };
    const answer = isThere ? found : { error: { code: 'not_found', message: 'No such thing.' } };
    response.writeHead(isThere ? 200 : 404).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await bench?.close();
  service?.close();
});
afterEach(() => {
  vi.unstubAllEnvs();
  config = CONFIG;
});

const ags = async (...args: readonly string[]) => {
  vi.stubEnv('AGS_API_KEY', 'svc_live_key');
  const { terminal, out, err } = writtenTerminal({ isTTY: false });
  const code = await runProgram(['database', ...args, '--url', url], terminal);
  return { code, out: out(), err: err() };
};

describe('ags database setup-sql', () => {
  it('prints SQL that a database takes as it is, twice', async () => {
    const { code, out, err } = await ags('setup-sql', '--connector', 'shop', '--table', 'public.orders');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`CREATE ROLE "ags_01h2xcejqtf2nbrexx3vqjhp49_agent" LOGIN;`);
    expect(out).toContain('\\password "ags_01h2xcejqtf2nbrexx3vqjhp49_witness"');
    const { out: lines } = await ags('setup-sql', '--connector', 'shop', '--table', 'orders', '--json');
    const statements = lines
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { sql: string }).sql);
    expect(out).toContain(statements.at(-1));
    for (let time = 0; time < 2; time += 1) for (const sql of statements) await bench.owner.query(sql);
    await bench.owner.query(`select pg_drop_replication_slot('ags_01h2xcejqtf2nbrexx3vqjhp49')`);
    await bench.owner.query('drop publication ags_01h2xcejqtf2nbrexx3vqjhp49');
  });

  it('leaves out the witness where the connector has none, and every table that is not named', async () => {
    config = { ...CONFIG, witness: { enabled: false } };
    const { out } = await ags('setup-sql', '--connector', 'shop');
    expect(out).not.toMatch(/publication|slot|witness|ON TABLE/i);
    expect(out).toContain('add --table schema.table');
  });

  it('tells what it cannot do: another type, no such connector, a schema beside the config, one role for both', async () => {
    expect(await ags('setup-sql', '--connector', 'crm')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/connector of type rest/),
    });
    expect(await ags('setup-sql', '--connector', 'absent')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no connector absent/),
    });
    expect(await ags('setup-sql', '--connector', '../agents')).toMatchObject({ code: 2 });
    expect(await ags('setup-sql', '--connector', 'shop', '--table', 'other.t')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/does not name the schema other/),
    });
    expect(await ags('setup-sql', '--connector', 'shop', '--table', `x.${'y'.repeat(64)}`)).toMatchObject({ code: 2 });
    const same = ['--agent-role', 'one', '--witness-role', 'one'];
    expect(await ags('setup-sql', '--connector', 'shop', ...same)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/role of its own/),
    });
  });
});

describe('ags database setup', () => {
  const terms = (name: string) => ({
    ...bench.setUpTerms([{ schema: 'public', name, isFull: false }]),
    agentRole: 'made_agent',
    witnessRole: 'made_witness',
  });

  it('gives roles that it makes a password once, by which they log in', async () => {
    const { isDone, credential } = await runSetUp(terms('orders'), bench.ownerAddress);
    expect(isDone).toBe(true);
    expect(credential).toMatchObject({ username: 'made_agent', witness_username: 'made_witness' });
    const address = new URL(bench.ownerAddress);
    address.username = 'made_agent';
    address.password = credential?.password ?? '';
    // As a role without rights: all is there, so that nothing is left to do; what is missing is not its to make.
    const again = await runSetUp(terms('orders'), address.href);
    expect(again).toMatchObject({ isDone: true, credential: null });
    expect(setUpText('shop', again)).toContain('No password was made');
    await bench.owner.query('revoke update on orders from made_agent; drop publication ags_publication');
    const { isDone: isDoneByIt, steps } = await runSetUp(terms('orders'), address.href);
    expect(isDoneByIt).toBe(false);
    const failed = steps.filter(({ status }) => status === 'failed');
    expect(failed.map(({ step }) => step)).toEqual(['table_grants', 'publication', 'published_table']);
    for (const { message } of failed.slice(0, 2)) expect(message).toMatch(/login of a superuser/);
    expect(await runSetUp(terms('orders'), bench.ownerAddress)).toMatchObject({ isDone: true, credential: null });
  });

  it('ends with 1 where a step failed, says what to do, and has done the others', async () => {
    await bench.owner.query('create table bare (id int)');
    const { isDone, steps } = await runSetUp(terms('bare'), bench.ownerAddress);
    expect(isDone).toBe(false);
    const failed = steps.filter(({ status }) => status === 'failed');
    expect(failed).toMatchObject([{ step: 'published_table', message: expect.stringMatching(/primary key.*--full/s) }]);
    expect(steps.at(-1)).toMatchObject({ step: 'slot', status: 'done' });
  });

  it('changes nothing in another database, and says which it is', async () => {
    const elsewhere = bench.ownerAddress.replace('/shop', '/postgres');
    await expect(runSetUp(terms('orders'), elsewhere)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/postgres.*shop/),
    });
  });

  it('names what was read where nobody answers, and never the password', async () => {
    const nobody = runSetUp(terms('orders'), 'postgres://owner:canary@127.0.0.1:1/shop');
    await expect(nobody).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringMatching(/address on standard input/),
    });
    await expect(nobody).rejects.not.toThrow(/canary/);
  });
});
