import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';

import { afterEach, describe, expect, it } from 'vitest';

import {
  httpAnswer,
  type RawAnswer,
  type RawUpstream,
  startRawUpstream,
} from '../../../../test/support/raw-upstream.js';
import { rejected } from '../../../../test/support/thrown.js';
import { digestOf } from '#libs/crypto';
import { EgressDoor } from './egress-door.js';
import { EgressFailure } from './egress-failure.js';
import type { EgressResponse } from './exchange.js';
import { readBody } from './response-body.js';

const MIB = 1_048_576;
let server: RawUpstream | undefined;
const door = new EgressDoor({
  settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});

interface AskOptions {
  readonly method?: string;
  readonly maxResponseBytes?: number;
  readonly timeoutMs?: number;
}
const ask = async (answer: RawAnswer, options: AskOptions = {}): Promise<EgressResponse> => {
  server = await startRawUpstream(answer);
  return askAt(server.port, options);
};
const askAt = (
  port: number,
  { method = 'GET', maxResponseBytes = 65_536, timeoutMs = 20_000 }: AskOptions,
): Promise<EgressResponse> =>
  door.request({
    partition: 'org/con',
    origin: `http://127.0.0.1:${port}`,
    method,
    target: '/',
    headers: [],
    body: null,
    maxResponseBytes,
    keptResponseBytes: 1_048_576,
    mayReuseConnection: true,
    mayStillSend: () => Promise.resolve(null),
    signal: AbortSignal.timeout(timeoutMs),
  });
const failureOf = (answer: Promise<unknown>): Promise<EgressFailure> => rejected(EgressFailure, answer);

describe('hostile upstream: sizes (rule REST-14)', () => {
  const plain = Buffer.alloc(65_536, 'a');

  it('a body of exactly the limit passes', async () =>
    expect((await ask(() => httpAnswer(200, plain))).body).toHaveLength(65_536));

  it.each<[string, Buffer, Record<string, string>]>([
    ['declared', Buffer.concat([plain, Buffer.from('b')]), {}],
    ['gzip', gzipSync(Buffer.alloc(65_537)), { 'Content-Encoding': 'gzip' }],
    ['x-gzip', gzipSync(Buffer.alloc(65_537)), { 'Content-Encoding': 'x-gzip' }],
    ['br', brotliCompressSync(Buffer.alloc(65_537)), { 'Content-Encoding': 'br' }],
    ['deflate', deflateSync(Buffer.alloc(65_537)), { 'Content-Encoding': 'deflate' }],
  ])('one byte more is too large: %s', async (_, body, headers) =>
    expect(await failureOf(ask(() => httpAnswer(200, body, headers)))).toMatchObject({
      reason: 'too_large',
      hasSent: true,
      status: 200,
    }),
  );

  it('chunks that never end are cut at the limit', async () => {
    const answer: RawAnswer = ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const more = (): void => {
        while (!socket.destroyed && socket.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`)) continue;
        socket.once('drain', more);
      };
      more();
      return null;
    };
    expect(await failureOf(ask(answer))).toMatchObject({ reason: 'too_large' });
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(256 * MIB))],
    ['br', brotliCompressSync(Buffer.alloc(256 * MIB), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
  ] as const)('a %s bomb of 256 MiB ends at the limit, not in memory', async (coding, bomb) => {
    const before = process.memoryUsage().rss;
    const answer = ask(() => httpAnswer(200, bomb, { 'Content-Encoding': coding }), { maxResponseBytes: 16 * MIB });
    expect(await failureOf(answer)).toMatchObject({ reason: 'too_large', status: 200 });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
  });

  it('chunks of one byte take no more memory than their bytes', async () => {
    const before = process.memoryUsage().rss;
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { body } = await ask(() => Buffer.from(`${head}${'1\r\na\r\n'.repeat(MIB)}0\r\n\r\n`), {
      maxResponseBytes: 16 * MIB,
    });
    expect(Buffer.isBuffer(body) && body.equals(Buffer.alloc(MIB, 'a'))).toBe(true);
    // 400 MiB where each is kept as it came.
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB);
  });

  const large = Buffer.alloc(3 * MIB, 'large ');
  it.each<[string, Buffer, Record<string, string>]>([
    ['with its length', large, {}],
    ['compressed', gzipSync(large), { 'Content-Encoding': 'gzip' }],
  ])('a body larger than what is kept is read to its end and kept as its digest: %s', async (_, body, headers) => {
    const answer = await ask(() => httpAnswer(200, body, headers), { maxResponseBytes: 16 * MIB });
    expect(answer.body).toEqual({ digest: digestOf(large), byteLength: large.byteLength });
  });

  it('a body of exactly what is kept is kept, and one byte more is not', async () => {
    const limits = { maxResponseBytes: 16 * MIB };
    const kept = Buffer.alloc(MIB, 'a');
    const { body } = await ask(() => httpAnswer(200, kept), limits);
    // Byte by byte, as an assertion compares, a mebibyte takes ten seconds.
    expect(Buffer.isBuffer(body) && body.equals(kept)).toBe(true);
    await server?.close();
    const more = Buffer.alloc(MIB + 1, 'a');
    expect((await ask(() => httpAnswer(200, more), limits)).body).toEqual({
      digest: digestOf(more),
      byteLength: MIB + 1,
    });
  });

  it('32 answers of 16 MiB at once take a fraction of what they have', async () => {
    const sent = httpAnswer(200, Buffer.alloc(16 * MIB, 'a'));
    const one = await ask(() => sent, { maxResponseBytes: 16 * MIB });
    const port = server?.port ?? 0;
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
    const answers = await Promise.all(Array.from({ length: 32 }, () => askAt(port, { maxResponseBytes: 16 * MIB })));
    clearInterval(watch);
    expect(answers.map((answer) => answer.body)).toEqual(answers.map(() => one.body));
    expect(peak - before).toBeLessThan(200 * MIB);
  });

  it('codings inside each other are not undone: the bytes count as they came', async () => {
    const nested = gzipSync(gzipSync(Buffer.alloc(10 * MIB)));
    const answer = await ask(() => httpAnswer(200, nested, { 'Content-Encoding': 'gzip, gzip' }));
    expect(answer).toMatchObject({ isDecoded: false, body: nested });
  });

  it('a coding that nobody asked for is left as it is', async () =>
    expect(await ask(() => httpAnswer(200, 'zzz', { 'Content-Encoding': 'zstd' }))).toMatchObject({
      isDecoded: false,
      body: Buffer.from('zzz'),
    }));

  it.each([
    ['1 MB in one header', `X-Big: ${'x'.repeat(1_000_000)}\r\n`],
    ['10,000 headers', 'X-Many: 1\r\n'.repeat(10_000)],
  ])('%s are refused', async (_, headers) =>
    expect(await failureOf(ask(() => `HTTP/1.1 200 OK\r\n${headers}Content-Length: 0\r\n\r\n`))).toMatchObject({
      reason: 'broken',
      hasSent: true,
    }),
  );
});

describe('hostile upstream: codings that are told', () => {
  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('%s is undone', async (coding, compress) =>
    expect(await ask(() => httpAnswer(200, compress('hello'), { 'Content-Encoding': coding }))).toMatchObject({
      isDecoded: true,
      body: Buffer.from('hello'),
    }),
  );

  it('a coding without a body is an empty body', async () => {
    expect((await ask(() => httpAnswer(200, '', { 'Content-Encoding': 'gzip' }))).body).toHaveLength(0);
    const headers = { 'Content-Encoding': 'gzip', 'Content-Length': '500' };
    expect((await ask(() => httpAnswer(200, '', headers), { method: 'HEAD' })).body).toHaveLength(0);
  });

  it.each([
    ['cut off', gzipSync('hello hello hello').subarray(0, 15)],
    ['not gzip at all', Buffer.from('plain text')],
  ])('gzip that is %s is a broken answer', async (_, body) =>
    expect(await failureOf(ask(() => httpAnswer(200, body, { 'Content-Encoding': 'gzip' })))).toMatchObject({
      reason: 'broken',
      status: 200,
    }),
  );
});

/** Does something to the connection in place of an answer. */
const breaking =
  (act: (socket: Socket) => unknown): RawAnswer =>
  ({ socket }) => {
    act(socket);
    return null;
  };

describe('hostile upstream: broken conversations (rule EXEC-4)', () => {
  const broken: readonly (readonly [string, RawAnswer])[] = [
    ['a reset after the request', breaking((socket) => socket.resetAndDestroy())],
    ['an end after the request', breaking((socket) => socket.end())],
    ['garbage', () => 'not http at all\r\n\r\n'],
    ['a banner of another protocol', () => 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a TLS alert', () => Buffer.from([0x15, 3, 1, 0, 2, 2, 40])],
    ['a status line cut off', breaking((socket) => socket.end('HTTP/1.1 20'))],
    ['headers cut off', breaking((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'))],
    [
      'a body shorter than declared',
      breaking((socket) => socket.end(httpAnswer(200, 'ab', { 'Content-Length': '5' }))),
    ],
    [
      'a reset in the body',
      breaking((socket) =>
        socket.write(httpAnswer(200, 'ab', { 'Content-Length': '5' }), () => socket.resetAndDestroy()),
      ),
    ],
    ['a chunk size that is no number', () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['a chunk of 2^64 bytes', () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n'],
    ['two lengths', () => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'],
    ['length and chunks', () => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a negative length', () => 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['an upgrade', () => 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
  ];

  it.each(broken)('%s is broken, and may have run', async (_, answer) =>
    expect(await failureOf(ask(answer))).toMatchObject({ reason: 'broken', hasSent: true }),
  );

  it('a body that was cut off before anybody read it is broken, and waited for by nobody', async () => {
    const incoming = new IncomingMessage(new Socket());
    incoming.destroy();
    await once(incoming, 'close');
    const read = readBody(incoming, 'GET', { maxBytes: MIB, keptBytes: MIB });
    expect(await failureOf(read)).toMatchObject({ reason: 'broken', hasSent: true });
  });

  it('a half-closed connection still gives its answer', async () =>
    expect((await ask(breaking((socket) => socket.end(httpAnswer(200, 'ok'))))).body).toEqual(Buffer.from('ok')));

  it('interim answers are passed over', async () =>
    expect(
      await ask(() =>
        Buffer.concat([
          Buffer.from('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'),
          httpAnswer(200, 'ok'),
        ]),
      ),
    ).toMatchObject({ status: 200, body: Buffer.from('ok') }));

  it('a second answer in the same breath closes the connection', async () => {
    const both = Buffer.concat([httpAnswer(200, 'first'), httpAnswer(200, 'second')]);
    const answer = await ask(() => both).catch((error: unknown) => error);
    if (!(answer instanceof EgressFailure)) expect((answer as EgressResponse).body).toEqual(Buffer.from('first'));
    const next = await door
      .request({
        partition: 'org/con',
        origin: `http://127.0.0.1:${server?.port ?? 0}`,
        method: 'GET',
        target: '/',
        headers: [],
        body: null,
        maxResponseBytes: 1_024,
        keptResponseBytes: 1_048_576,
        mayReuseConnection: true,
        mayStillSend: () => Promise.resolve(null),
        signal: AbortSignal.timeout(5_000),
      })
      .catch((error: unknown) => error);
    if (!(next instanceof EgressFailure)) expect((next as EgressResponse).body).toEqual(Buffer.from('first'));
    expect(server?.connections).toBe(2);
  });

  it.each<[string, RawAnswer]>([
    ['silence', () => null],
    [
      'interim answers, now and then',
      ({ socket }) => {
        const again = setInterval(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 50);
        socket.on('close', () => {
          clearInterval(again);
        });
        return null;
      },
    ],
    ['headers and then silence', () => 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    [
      'a body by the drop',
      ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n');
        const drop = setInterval(() => socket.write('x'), 10);
        socket.on('close', () => {
          clearInterval(drop);
        });
        return null;
      },
    ],
  ])('the deadline ends %s', async (_, answer) => {
    // Of the test's own deadline: without the request's these answers have no end.
    expect(await failureOf(ask(answer, { timeoutMs: 200 }))).toMatchObject({ reason: 'timeout', hasSent: true });
  });

  it('reads on past a few answers that announce another one', async () => {
    const interim = Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(16));
    const { status, body } = await ask(() => Buffer.concat([interim, httpAnswer(200, 'done')]));
    expect([status, body]).toEqual([200, Buffer.from('done')]);
  });

  it('ends a connection that announces answers without end, long before its time is over', async () => {
    const flood = Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000));
    let hasEnded = false;
    const failure = await failureOf(
      ask(({ socket }) => {
        const pour = (): void => {
          while (!socket.destroyed && socket.write(flood));
        };
        socket.on('drain', pour).on('error', () => undefined);
        socket.once('close', () => (hasEnded = true));
        pour();
        return null;
      }),
    );
    expect(failure).toMatchObject({ reason: 'broken', hasSent: true });
    await expect.poll(() => hasEnded).toBe(true);
  });

  it('takes no body without a length for complete that it has cut off itself', async () => {
    const answer: RawAnswer = ({ socket }) => {
      const drip = setInterval(() => socket.write('.'), 20);
      socket.on('close', () => clearInterval(drip));
      return 'HTTP/1.1 200 OK\r\n\r\nhalf of it';
    };
    expect(await failureOf(ask(answer, { timeoutMs: 200 }))).toMatchObject({ reason: 'timeout', hasSent: true });
  });
});
