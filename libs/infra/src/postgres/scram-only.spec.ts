import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseClient } from './database-client.js';
import { MortalClient } from './mortal-client.js';
import { withScramOnly } from './scram-only.js';

const PASSWORD = 'canary-4711';
/**
 * Authentication requests of PostgreSQL's protocol: kind 3 asks for the password in clear, kind 5 hashed with a salt.
 */
const ASKED = {
  'in the clear': Buffer.from('520000000800000003', 'hex'),
  'as MD5': Buffer.from('520000000c0000000501020304', 'hex'),
};

let squatter: Server;
let heard: Buffer;
let question: Buffer;

beforeEach(async () => {
  heard = Buffer.alloc(0);
  squatter = createServer((socket) => {
    let hasAsked = false;
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      if (hasAsked) heard = Buffer.concat([heard, bytes]);
      else socket.write(question);
      hasAsked = true;
      if (heard.length > 0) socket.destroy();
    });
  });
  squatter.listen(0, '127.0.0.1');
  await once(squatter, 'listening');
});
afterEach(() => squatter.close());

const address = (): string =>
  `postgres://ags:${PASSWORD}@127.0.0.1:${(squatter.address() as AddressInfo).port}/service`;

describe('another program on the port of a server that ended', () => {
  describe.each(Object.entries(ASKED))('that asks for the password %s', (_, bytes) => {
    beforeEach(() => {
      question = bytes;
    });

    it.each([
      ['a client of a pool', (connectionString: string) => new MortalClient({ connectionString })],
      ['a client alone', (connectionString: string) => new DatabaseClient({ connectionString })],
    ])('gets nothing of it from %s', async (_title, clientOf) => {
      const client = clientOf(withScramOnly(address()));
      client.on('error', () => undefined);
      await expect(client.connect()).rejects.toThrow('another form than SCRAM');
      expect(heard.toString('latin1')).not.toMatch(/canary|md5/);
      await client.end();
    });

    it('gets it if the address does not require SCRAM', async () => {
      const client = new MortalClient({ connectionString: address() });
      client.on('error', () => undefined);
      await expect(client.connect()).rejects.toThrow();
      expect(heard.toString('latin1')).toMatch(/canary|md5/);
    });
  });
});
