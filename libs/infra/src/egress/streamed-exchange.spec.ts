import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';

import { CallEnd } from '#libs/infra/runtime';
import { httpAnswer, type RawRequest } from '../../../../test/support/raw-upstream.js';
import type { EgressStreamRequest } from './egress-door.js';
import type { EgressStream } from './streamed-exchange.js';
import { cleanUpAfterEach, doorOf, failureOf, NAME, requestTo, upstream } from './testing/given-door.js';

cleanUpAfterEach();

const CHUNKED = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const asked = (port: number, changes: Partial<EgressStreamRequest> = {}): EgressStreamRequest => {
  const { partition, origin, target, headers, maxResponseBytes, mayStillSend, signal } = requestTo(port);
  const request = { partition, origin, target, headers, maxResponseBytes, mayStillSend, signal };
  return { ...request, method: 'POST', body: Buffer.from('{}'), ...changes };
};
const textOf = async ({ pieces }: EgressStream): Promise<string> => {
  let text = '';
  for await (const piece of pieces) text += piece.toString();
  return text;
};
const textIn = ({ value }: IteratorResult<Buffer, unknown>): string => (value as Buffer).toString();
const isClosed = ({ socket }: RawRequest) => vi.waitFor(() => expect(socket.destroyed).toBe(true), 5_000);

describe('an answer that is read as it comes', () => {
  it('is there with its head, and gives each piece when it has come', async () => {
    const sockets: RawRequest[] = [];
    const server = await upstream((request) => {
      sockets.push(request);
      return CHUNKED + chunk('one');
    });
    const stream = await doorOf().stream(asked(server.port));
    expect([stream.status, stream.isDecoded]).toEqual([200, true]);
    expect(stream.headers).toContainEqual(['content-type', 'text/event-stream']);
    const pieces = stream.pieces[Symbol.asyncIterator]();
    expect(textIn(await pieces.next())).toBe('one');
    sockets[0]?.socket.write(chunk('two'));
    expect(textIn(await pieces.next())).toBe('two');
    sockets[0]?.socket.write('0\r\n\r\n');
    expect((await pieces.next()).done).toBe(true);
    await isClosed(server.requests[0] as RawRequest);
  });

  it('goes out as every request does, on a connection of its own', async () => {
    const server = await upstream();
    const door = doorOf();
    for (let call = 0; call < 2; call += 1) expect(await textOf(await door.stream(asked(server.port)))).toBe('ok');
    expect(server.connections).toBe(2);
    expect(server.requests[0]?.head.split('\r\n')).toEqual([
      'POST /x?y=1 HTTP/1.1',
      `Host: ${NAME}:${server.port}`,
      'X-A: b',
      'Accept-Encoding: gzip, br, deflate',
      'Content-Length: 2',
      'Connection: close',
    ]);
  });

  it('closes its connection where the reader has enough of it', async () => {
    const server = await upstream(() => CHUNKED + chunk('enough'));
    const pieces = (await doorOf().stream(asked(server.port))).pieces[Symbol.asyncIterator]();
    expect(textIn(await pieces.next())).toBe('enough');
    await pieces.return?.();
    await isClosed(server.requests[0] as RawRequest);
  });

  it('closes its connection where nobody reads it', async () => {
    const server = await upstream(() => CHUNKED + chunk('unread'));
    (await doorOf().stream(asked(server.port))).close();
    await isClosed(server.requests[0] as RawRequest);
  });

  it('is decompressed, and each piece that was flushed is there before the end', async () => {
    const server = await upstream(() => httpAnswer(200, gzipSync('a'.repeat(50_000)), { 'Content-Encoding': 'gzip' }));
    expect(await textOf(await doorOf().stream(asked(server.port)))).toHaveLength(50_000);
  });

  it('says so where its coding is unknown', async () => {
    const server = await upstream(() => httpAnswer(200, 'x', { 'Content-Encoding': 'zstd' }));
    const stream = await doorOf().stream(asked(server.port));
    expect(stream.isDecoded).toBe(false);
    stream.close();
  });
});

describe('an answer that is read as it comes and ends badly', () => {
  it('is too large beyond its bound, counted after decompression: a bomb ends there', async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    const server = await upstream(() => httpAnswer(200, bomb, { 'Content-Encoding': 'gzip' }));
    const read = doorOf()
      .stream(asked(server.port, { maxResponseBytes: 100_000 }))
      .then(textOf);
    expect(await failureOf(read)).toMatchObject({ reason: 'too_large', hasSent: true, status: 200 });
    await isClosed(server.requests[0] as RawRequest);
  });

  it('is broken where the connection ends before the body', async () => {
    const server = await upstream(({ socket }) => {
      socket.end(CHUNKED + chunk('half'));
      return null;
    });
    const read = doorOf().stream(asked(server.port)).then(textOf);
    expect(await failureOf(read)).toMatchObject({ reason: 'broken', hasSent: true });
  });

  it('is broken where a compressed body is cut', async () => {
    const whole = gzipSync('a'.repeat(50_000));
    const server = await upstream(() =>
      httpAnswer(200, whole.subarray(0, whole.byteLength - 8), { 'Content-Encoding': 'gzip' }),
    );
    const read = doorOf().stream(asked(server.port)).then(textOf);
    expect(await failureOf(read)).toMatchObject({ reason: 'broken', hasSent: true });
  });

  it.each([
    ['before its head', null],
    ['within its body', CHUNKED + chunk('one')],
  ])('is a timeout where the deadline passes %s', async (_, answer) => {
    const end = new CallEnd();
    const server = await upstream(() => {
      setImmediate(() => end.abort());
      return answer;
    });
    const read = doorOf()
      .stream(asked(server.port, { signal: end }))
      .then(textOf);
    expect(await failureOf(read)).toMatchObject({ reason: 'timeout', hasSent: true });
    await isClosed(server.requests[0] as RawRequest);
  });

  it('is never asked for where the last question is answered with no', async () => {
    const server = await upstream();
    const mayStillSend = () => Promise.resolve('agent_stopped' as const);
    expect(await failureOf(doorOf().stream(asked(server.port, { mayStillSend })))).toMatchObject({
      reason: 'withdrawn',
      code: 'agent_stopped',
      hasSent: false,
    });
    expect(server.receivedBytes).toBe(0);
  });

  it('is never asked for after the deadline', async () => {
    const server = await upstream();
    const end = new CallEnd();
    end.abort();
    expect(await failureOf(doorOf().stream(asked(server.port, { signal: end })))).toMatchObject({
      reason: 'timeout',
      hasSent: false,
    });
  });
});
