import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';
import type { Answer } from '../support/service.js';
import { type ServiceHere, startServiceHere } from '../support/service-here.js';
import { WitnessedShop } from '../support/witnessed-shop.js';

const PATIENCE = { timeout: 20_000, interval: 50 };

/** Changes what passes of one COMMIT, on its way to the server and back. */
interface Lie {
  readonly asked: (message: Buffer) => Buffer;
  readonly answered: (message: Buffer) => Buffer;
}

/** Between service and database, as whoever holds the network, or a server that was made to lie. */
class LyingServer {
  next: Lie | null = null;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  constructor(behind: { readonly host: string; readonly port: number }) {
    this.server = createServer((near) => {
      const far = connect(behind.port, behind.host);
      let lie: Lie | null = null;
      for (const socket of [near, far]) this.sockets.add(socket.on('error', () => undefined));
      near.on('data', (bytes: Buffer) => {
        if (this.next !== null && bytes.includes('commit;select')) [lie, this.next] = [this.next, null];
        far.write(lie?.asked(bytes) ?? bytes);
      });
      far.on('data', (bytes: Buffer) => {
        near.write(lie?.answered(bytes) ?? bytes);
        lie = null;
      });
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    });
  }

  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as { readonly port: number }).port;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

/** A message of the protocol: its type, its length, which counts itself, and its body. */
const message = (type: string, ...parts: readonly string[]): Buffer => {
  const body = Buffer.from(parts.join(''));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(4 + body.byteLength, 1);
  return Buffer.concat([head, body]);
};
const replaced = (bytes: Buffer, from: Buffer, to: Buffer): Buffer => {
  const at = bytes.indexOf(from);
  return at < 0 ? bytes : Buffer.concat([bytes.subarray(0, at), to, bytes.subarray(at + from.byteLength)]);
};
const same = (bytes: Buffer): Buffer => bytes;

const ROLLS_BACK: Lie = {
  asked: (bytes) => replaced(bytes, Buffer.from('commit;'), Buffer.from('abort ;')),
  answered: (bytes) => replaced(bytes, message('C', 'ROLLBACK\0'), message('C', 'COMMIT\0')),
};
const COMMITS: Lie = {
  asked: same,
  answered: () =>
    Buffer.concat([message('E', 'SERROR\0VERROR\0C40001\0Mcould not serialize access\0\0'), message('Z', 'I')]),
};

let database: TestDatabase;
let service: ServiceHere;
let shop: WitnessedShop;
let server: LyingServer;

beforeAll(async () => {
  [database, service] = await Promise.all([createEmptyDatabase(), startServiceHere()]);
  shop = await WitnessedShop.open(service, database.connectionString);
  server = new LyingServer({ host: shop.owner.host, port: shop.owner.port });
  await shop.connect({ port: await server.listen() });
});
afterAll(async () => {
  await service?.stop();
  server?.close();
  await shop?.close();
  await database?.drop();
});

const centsOf = (id: number): Promise<number> => shop.count(`select cents n from orders where id = ${id}`);
const found = (id: unknown): Promise<Answer['json']> => shop.asAdmin('GET', `/v1/actions/${String(id)}`);

describe('a server that is asked to commit, and', () => {
  it('says so and rolls back, is found out: MISMATCH', async () => {
    server.next = ROLLS_BACK;
    const { json } = await shop.execute('update orders set cents = 1 where id = 7');
    expect(json).toMatchObject({
      ...{ status: 'executed', execution: { status: 'succeeded' } },
      witness: { level: 'L2', verdict: 'MISMATCH', reasons: ['transaction_missing'] },
    });
    expect(await centsOf(7)).toBe(700);
  });

  it('says that it failed and commits, is found out: MISMATCH by an amendment', async () => {
    server.next = COMMITS;
    const { json } = await shop.execute('update orders set cents = 1 where id = 8');
    expect(json).toMatchObject({ status: 'failed', execution: { error_code: 'upstream_error' } });
    await vi.waitFor(
      async () =>
        expect(await found(json['id'])).toMatchObject({
          ...{ status: 'failed', state: 'sealed' },
          witness: { level: 'L2', verdict: 'MISMATCH', reasons: ['row_count'] },
        }),
      PATIENCE,
    );
    expect(await centsOf(8)).toBe(1);
  });

  it('tells the truth is believed', async () => {
    const { json } = await shop.execute('update orders set cents = 1 where id = 9');
    expect(json).toMatchObject({ status: 'executed', witness: { verdict: 'VERIFIED' } });
    expect(server.next).toBeNull();
  });
});
