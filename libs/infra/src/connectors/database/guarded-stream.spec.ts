import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { DatabaseSession } from './database-session.js';
import { GuardedStream } from './guarded-stream.js';

/** A message of the server: its type, its length, its body. */
const message = (type: string, body: Buffer | string): Buffer => {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(5);
  header.write(type, 0);
  header.writeInt32BE(bytes.byteLength + 4, 1);
  return Buffer.concat([header, bytes]);
};
const int16 = (value: number): Buffer => Buffer.from([(value >> 8) & 0xff, value & 0xff]);
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const READY = Buffer.concat([message('R', int32(0)), message('Z', 'I')]);

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Says `greeting` to the first message of whoever connects, and `answer` to the second. */
const serverSaying = async (greeting: Buffer, answer: Buffer): Promise<() => Promise<Socket>> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const said = [greeting, answer];
    socket.on('data', () => socket.write(said.shift() ?? Buffer.alloc(0)));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
};

const sessionWith = async (greeting: Buffer, answer: Buffer = Buffer.alloc(0)): Promise<DatabaseSession> => {
  const dial = await serverSaying(greeting, answer);
  const address = { url: '', database: 'shop', username: 'agent', password: 'secret' };
  return DatabaseSession.open({ connect: dial }, address, AbortSignal.timeout(3_000));
};

const BROKEN: readonly (readonly [string, Buffer])[] = [
  ['a row with fewer than no columns', message('D', int16(-1))],
  ['a row that ends before its columns', message('D', int16(3))],
  ['a description that ends before its columns', message('T', int16(3))],
  ['an unknown kind of authentication', message('R', int32(99))],
  ['an error that does not end', message('E', 'SERROR\0Mx\0')],
  ['an error without anything', message('E', '')],
  ['a notice that does not end', message('N', 'Mx')],
];

describe('a server that breaks the protocol', () => {
  it.each(BROKEN)('ends the session, and nothing else: %s', async (_what, broken) => {
    const session = await sessionWith(READY, broken);
    await expect(session.script('select 1')).rejects.toThrow('a statement failed');
    expect(session.hasEnded).toBe(true);
  });

  it.each(BROKEN)('opens no session: %s', async (_what, broken) => {
    await expect(sessionWith(broken)).rejects.toThrow('the database refused the session');
  });
});

describe('a server that answers without end', () => {
  it('is not listened to after some answers', async () => {
    const done = message('C', 'SELECT 1\0');
    const session = await sessionWith(READY, Buffer.concat([...Array<Buffer>(5_000).fill(done), message('Z', 'I')]));
    expect(await session.script('select 1')).toHaveLength(100);
    session.destroy();
  });

  it('is heard no further than a result may be, though its rows hold nothing', async () => {
    const row = message('D', Buffer.concat([int16(1_000), Buffer.alloc(4_000, 255)]));
    const rows = Array<Buffer>(100).fill(row);
    const session = await sessionWith(READY, Buffer.concat([...rows, message('C', 'SELECT 100\0'), message('Z', 'I')]));
    const options = { text: 'select', parameters: null, maxRows: 1_000, maxBytes: 10_000, mayStopEarly: true };
    const [answer] = await session.run(options);
    expect([answer?.rows.length, answer?.isCut]).toEqual([2, true]);
    session.destroy();
  });
});

describe('a server that keeps to the protocol', () => {
  const refused = message('E', 'SERROR\0C42601\0Mno\0\0');

  it('may refuse a statement, and the session lives', async () => {
    const session = await sessionWith(READY, Buffer.concat([refused, message('Z', 'I')]));
    await expect(session.script('select')).rejects.toMatchObject({ cause: { code: '42601' } });
    expect(session.hasEnded).toBe(false);
    session.destroy();
  });

  it.each([
    ['in English', message('E', 'SFATAL\0C57P01\0Mgone\0\0')],
    ['in a language of its own', message('E', 'SВАЖНО\0C57P01\0Mgone\0\0')],
  ])('ends the session by its last word, before the connection ends: %s', async (_what, last) => {
    const session = await sessionWith(READY, last);
    await expect(session.script('select 1')).rejects.toMatchObject({ cause: { code: '57P01' } });
    expect(session.hasEnded).toBe(true);
  });

  it('may send any message byte by byte', async () => {
    const socket = new PassThrough();
    const stream = new GuardedStream(socket as never, 1_000);
    const heard: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => void heard.push(chunk));
    const sent = Buffer.concat([READY, refused, message('N', '\0'), message('N', 'M\0\0'), READY]);
    for (const byte of sent) socket.write(Buffer.from([byte]));
    await expect.poll(() => Buffer.concat(heard)).toEqual(sent);
    expect(stream.destroyed).toBe(false);
  });
});
