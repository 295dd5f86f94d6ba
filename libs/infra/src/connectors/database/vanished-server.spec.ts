import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GivenDatabase, givenDatabase } from './testing/given-database.js';

const SIMPLE_QUERY = 'Q'.charCodeAt(0);

let shop: GivenDatabase;
let proxy: Server;

/** Leads to the database, and is gone with the first question that follows the password. */
beforeAll(async () => {
  shop = await givenDatabase();
  proxy = createServer((client) => {
    const server = connect(shop.address.port, shop.address.host);
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    client.on('error', end).on('close', end);
    server.on('error', end).on('close', end);
    server.pipe(client);
    client.on('data', (bytes) => (bytes[0] === SIMPLE_QUERY ? end() : server.write(bytes)));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterAll(async () => {
  proxy?.close();
  await shop?.close();
});

it('a server that goes away while its session is looked at was sent nothing: the call failed, and is not unknown', async () => {
  const { port } = proxy.address() as AddressInfo;
  const connector = shop.withConfig({ host: '127.0.0.1', port });
  const sent = await shop.send('execute', { sql: 'delete from orders where id = 50' }, { connector });
  expect(sent).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable', hasSent: false });
  expect(shop.said).toEqual([]);
});
