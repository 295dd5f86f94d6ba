import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuardedStream } from '#libs/infra/connectors';
import { createLoggedDatabase, followLog, type LoggedDatabase } from '../../../../test/support/change-log.js';
import { LEFT_AWAY, LongMessages } from './long-messages.js';

const OVER_BYTES = 20_000;

const copyData = (body: Buffer): Buffer => {
  const header = Buffer.alloc(5);
  header.write('d');
  header.writeUInt32BE(body.byteLength + 4, 1);
  return Buffer.concat([header, body]);
};
const walData = (kind: string, bytes: number): Buffer =>
  Buffer.concat([
    Buffer.from('w'),
    Buffer.alloc(24, 7),
    Buffer.from(kind),
    Buffer.from([0, 0, 1, 2]),
    Buffer.alloc(bytes, 120),
  ]);
const keepalive = copyData(Buffer.from('k0123456789abcdefg'));

describe('messages of the log that are too long', () => {
  const long = copyData(walData('U', OVER_BYTES));
  const short = copyData(walData('I', 100));
  const other = copyData(walData('M', OVER_BYTES));
  const cut = copyData(Buffer.concat([walData('U', 0), Buffer.from([LEFT_AWAY])]));
  const sent = Buffer.concat([short, long, keepalive, other, long, short]);
  const heard = Buffer.concat([
    ...[short, cut, keepalive],
    ...[copyData(walData('M', OVER_BYTES).subarray(0, 1_024)), cut, short],
  ]);

  it.each([1, 2, 7, 31, 36, 1_000, 65_536])('are shortened, and all others are not: in pieces of %i bytes', (size) => {
    const messages = new LongMessages(OVER_BYTES);
    const out: Buffer[] = [];
    for (let at = 0; at < sent.byteLength; at += size) out.push(messages.take(sent.subarray(at, at + size)));
    expect(Buffer.concat(out).equals(heard)).toBe(true);
  });

  it.each([
    ['what is no message of the log', copyData(Buffer.alloc(OVER_BYTES + 1, 65))],
    ['what is no copy', Buffer.concat([Buffer.from('D'), long.subarray(1)])],
    ['a length below its own', Buffer.concat([Buffer.from([0x64, 0, 0, 0, 1]), short])],
  ])('are those alone: %s goes on as it is', (_what, bytes) =>
    expect(new LongMessages(OVER_BYTES).take(bytes).equals(bytes)).toBe(true),
  );
});

describe('a row that is too long', () => {
  let logged: LoggedDatabase;
  beforeAll(async () => {
    logged = await createLoggedDatabase();
    await logged.client.query('create table t (id int primary key, note text)');
    await logged.publish('t');
  });
  afterAll(() => logged.drop());

  it('is counted, and what comes after it is read', async () => {
    const { hostname, port } = new URL(logged.connectionString);
    const dial = async (): Promise<GuardedStream> => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      const messages = new LongMessages(OVER_BYTES);
      return new GuardedStream(socket, 1_000_000, (chunk) => messages.take(chunk));
    };
    const log = followLog({ ...logged, connection: { ...logged.connection, connect: dial } });
    await logged.client.query(`insert into t values (1, repeat('x', 2000000)), (2, 'two')`);
    await logged.client.query(`select pg_logical_emit_message(true, 'other', repeat('x', 2000000))`);
    await logged.client.query(`select pg_logical_emit_message(true, 'service.action', repeat('x', 2000000))`);
    await logged.client.query(`update t set note = 'short' where id = 1`);
    await log.has(3);
    const [inserted, marked, updated] = log.seen;
    expect(inserted?.tables).toMatchObject([{ table: 'public.t', insert: 2 }]);
    expect(inserted?.rows).toMatchObject([{ kind: 'insert', new: [{ text: '2' }, { text: 'two' }] }]);
    expect(marked).toMatchObject({ tables: [], marks: ['x'.repeat(257)] });
    expect(updated?.tables).toMatchObject([{ table: 'public.t', update: 1 }]);
    await log.stop();
  });
});
