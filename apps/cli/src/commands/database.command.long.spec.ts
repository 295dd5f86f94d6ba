import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReadinessBench } from '../../../../test/support/readiness-bench.js';
import { runAgs } from '../../../../test/support/run-ags.js';

const SHOP = {
  object: 'connector',
  id: 'con_01h2xcejqtf2nbrexx3vqjhp49',
  type: 'database',
  config: { database: 'shop', schemas: ['public'], witness: { enabled: true } },
};

let bench: ReadinessBench;
let service: Server;
let url: string;
beforeAll(async () => {
  bench = await ReadinessBench.start();
  await bench.owner.query('create table orders (id serial primary key)');
  service = createServer((_request, response) => void response.end(JSON.stringify(SHOP)));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await bench?.close();
  service?.close();
});

describe('ags database setup', () => {
  it('reads the owner’s login from standard input, shows each step, and a login that works', async () => {
    const args = ['database', 'setup', '--connector', 'shop', '--table', 'orders', '--url', url, '--json'];
    const env = { AGS_API_KEY: 'svc_live_key' };
    const { code, objects, stdout, stderr } = await runAgs(args, {
      env,
      input: Buffer.from(`${bench.ownerAddress}\n`),
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain(new URL(bench.ownerAddress).password);
    expect(objects.at(-1)).toMatchObject({ object: 'database_set_up', connector: 'shop', is_done: true });
    expect(objects.slice(0, -1).map(({ status }) => status)).toEqual(objects.slice(0, -1).map(() => 'done'));
    const without = await runAgs(args, { env, input: Buffer.from('') });
    expect([without.code, without.error['code']]).toEqual([2, 'usage']);
    const wrong = await runAgs(args, { env, input: Buffer.from('host=x password=canary') });
    expect([wrong.code, wrong.error['code']]).toEqual([2, 'usage']);
    expect(wrong.stderr).not.toContain('canary');
  });
});
