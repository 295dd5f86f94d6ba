import { randomBytes } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { afterEach, describe, expect, it } from 'vitest';

import { canonicalBytes, digestOf, type JsonObject, type JsonValue } from '#libs/crypto';

import { httpAnswer, jsonAnswer, type RawAnswer, startRawUpstream } from '../../../../../test/support/raw-upstream.js';
import type { EgressResponse } from '#libs/infra/egress';
import { Redactor } from '../redactor.js';
import { recordedResult } from '../http-result.js';
import { givenCall, type ReadOutcome } from './testing/given-call.js';

const SECRET = 'canary"/secret+0123456789';
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

const call = async (
  answer: RawAnswer,
  args: JsonObject = {},
  auth: JsonObject = { kind: 'header' },
): Promise<ReadOutcome> => {
  const server = await startRawUpstream(answer);
  const kind = auth['kind'] as 'header';
  const harness = await givenCall({
    config: {
      base_url: `http://upstream.example:${server.port}`,
      auth,
      allowed_methods: ['POST'],
      allowed_path_prefixes: ['/'],
      tools: [
        {
          name: 'echo',
          method: 'POST',
          path: '/echo',
          args: {
            pin: { in: 'body', type: 'integer', sensitive: true },
            note: { in: 'body', type: 'string', sensitive: true },
          },
        },
      ],
    },
    credential: { kind, values: { value: SECRET } },
  });
  cleanups.push(() => server.close());
  cleanups.push(() => {
    harness.close();
  });
  return harness.send('echo', args);
};
const resultOf = async (answer: RawAnswer, args?: JsonObject, auth?: JsonObject): Promise<JsonObject> =>
  (await call(answer, args, auth)).result as JsonObject;
const bodyOf = async (bytes: string | Buffer, type?: string): Promise<JsonValue> => {
  const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
  return (await resultOf(() => httpAnswer(200, bytes, headers)))['body'] ?? null;
};

describe('result shape (rule REST-12)', () => {
  it('JSON is kept as it is', async () =>
    expect(await resultOf(() => jsonAnswer(201, { a: [1, null, 'x'] }))).toEqual({
      status: 201,
      headers: { 'content-type': 'application/json' },
      body: { a: [1, null, 'x'] },
    }));

  it.each<[string, string, string | undefined, JsonValue]>([
    ['a JSON suffix', '{"a":1}', 'application/problem+json; charset=utf-8', { a: 1 }],
    ['JSON without a type', '[1]', undefined, [1]],
    ['JSON behind a byte order mark', '\ufeff{"a":1}', 'application/json', { a: 1 }],
    ['JSON behind a byte order mark, without a type', '\ufeff[1]', undefined, [1]],
    ['JSON behind two byte order marks', '\ufeff\ufeff[1]', 'application/json', { text: '\ufeff\ufeff[1]' }],
    ['a byte order mark alone', '\ufeff', 'application/json', { text: '\ufeff' }],
    ['a member twice, behind a byte order mark', '\ufeff{"a":1,"a":2}', 'text/json', { text: '\ufeff{"a":1,"a":2}' }],
    ['text behind a byte order mark', '\ufeff[1]', 'text/plain', { text: '\ufeff[1]' }],
    ['text', 'hello', 'text/plain', { text: 'hello' }],
    ['text without a type', 'hello', undefined, { text: 'hello' }],
    ['XML', '<a/>', 'application/xml', { text: '<a/>' }],
    ['broken JSON', '{"a":', 'application/json', { text: '{"a":' }],
    [
      'an integer that a double cannot hold',
      '{"id":9007199254740993}',
      'application/json',
      { text: '{"id":9007199254740993}' },
    ],
    ['a member twice', '{"a":1,"a":2}', 'application/json', { text: '{"a":1,"a":2}' }],
    ['nothing', '', 'application/json', null],
    ['bytes', 'hello', 'application/octet-stream', { digest: digestOf('hello'), bytes: 5 }],
    ['an unknown charset', 'hello', 'text/plain; charset=klingon', { digest: digestOf('hello'), bytes: 5 }],
  ])('%s', async (_, bytes, type, expected) => expect(await bodyOf(bytes, type)).toEqual(expected));

  it('text in another charset is decoded', async () =>
    expect(await bodyOf(Buffer.from('caf\xe9', 'latin1'), 'text/plain; charset=ISO-8859-1')).toEqual({ text: 'café' }));

  it('text that is no text is a digest', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x41]);
    expect(await bodyOf(bytes, 'text/plain')).toEqual({ digest: digestOf(bytes), bytes: 3 });
  });

  it('text beyond 64 KiB is a digest', async () => {
    expect(await bodyOf('x'.repeat(65_536), 'text/plain')).toEqual({ text: 'x'.repeat(65_536) });
    expect(await bodyOf('x'.repeat(65_537), 'text/plain')).toMatchObject({ bytes: 65_537 });
  });

  it('a result is at most 1 MiB', async () => {
    const result = await resultOf(() => jsonAnswer(200, 'x'.repeat(1_048_570)));
    expect(result['body']).toMatchObject({ bytes: 1_048_572 });
    expect(canonicalBytes(await resultOf(() => jsonAnswer(200, 'x'.repeat(1_000_000)))).byteLength).toBeLessThan(
      1_048_576,
    );
  });

  it('only listed headers pass, Set-Cookie never does (rule REST-12)', async () => {
    const headers = {
      ETag: '"1"',
      'Last-Modified': 'x',
      Location: '/a',
      'Request-Id': 'r1',
      'X-Request-Id': 'r2',
      'X-GitHub-Request-Id': 'r3',
      'X-Accepted-GitHub-Permissions': 'issues=write',
      'Retry-After': '1',
      'X-RateLimit-Limit': '5',
      'x-ratelimit-reset': '9',
      'Set-Cookie': 'a=b',
      'X-Powered-By': 'x',
      'WWW-Authenticate': 'y',
      Server: 'z',
    };
    expect((await resultOf(() => jsonAnswer(200, {}, headers)))['headers']).toEqual({
      'content-type': 'application/json',
      etag: '"1"',
      'last-modified': 'x',
      location: '/a',
      'request-id': 'r1',
      'x-request-id': 'r2',
      'x-github-request-id': 'r3',
      'x-accepted-github-permissions': 'issues=write',
      'retry-after': '1',
      'x-ratelimit-limit': '5',
      'x-ratelimit-reset': '9',
    });
  });

  it('a header that comes twice is one value', async () =>
    expect(
      (await resultOf(() => 'HTTP/1.1 200 OK\r\nX-RateLimit-A: 1\r\nX-RateLimit-A: 2\r\nContent-Length: 0\r\n\r\n'))[
        'headers'
      ],
    ).toEqual({ 'x-ratelimit-a': '1, 2' }));
});

describe('an upstream that echoes secrets (rule REST-13)', () => {
  const json = JSON.stringify(SECRET);
  const echoes: readonly (readonly [string, RawAnswer])[] = [
    ['in JSON', () => jsonAnswer(200, { authorization: SECRET, nested: [{ [SECRET]: `Bearer ${SECRET}` }] })],
    ['in JSON inside JSON', () => jsonAnswer(200, { log: JSON.stringify({ k: SECRET }) })],
    [
      'in JSON inside JSON inside JSON, as text',
      () => httpAnswer(200, `log: ${json}`, { 'Content-Type': 'text/plain' }),
    ],
    ['in broken JSON', () => httpAnswer(200, `{"k":${json},`, { 'Content-Type': 'application/json' })],
    ['as base64', () => jsonAnswer(200, Buffer.from(`x:${SECRET}`).toString('base64'))],
    ['URL-encoded', () => jsonAnswer(200, `https://x/?k=${encodeURIComponent(SECRET)}`)],
    [
      'in a kept header',
      () => jsonAnswer(200, {}, { Location: `/next?k=${encodeURIComponent(SECRET)}`, 'X-Request-Id': SECRET }),
    ],
    ['in a refusal', () => jsonAnswer(401, { message: `bad key ${SECRET}` })],
    [
      'compressed',
      () => httpAnswer(200, gzipSync(json), { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }),
    ],
    [
      'compressed otherwise',
      () => httpAnswer(200, brotliCompressSync(json), { 'Content-Type': 'application/json', 'Content-Encoding': 'br' }),
    ],
    [
      'split over chunks',
      () => {
        const chunks = [...json].map((character) => `${Buffer.byteLength(character).toString(16)}\r\n${character}\r\n`);
        return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
      },
    ],
  ];

  it.each(echoes)('%s: nothing of it is kept', async (_, answer) => {
    const text = JSON.stringify(await call(answer));
    expect(text).toContain('[redacted]');
    expect(text).not.toMatch(/secret|0123456789/);
  });

  it('a query credential is kept nowhere', async () => {
    const text = JSON.stringify(
      await call(
        ({ head }) => jsonAnswer(200, { url: head.split(' ')[1] ?? '' }, { Location: head.split(' ')[1] ?? '' }),
        {},
        { kind: 'query' },
      ),
    );
    expect(text).toContain('[redacted]');
    expect(text).not.toMatch(/secret|0123456789/);
  });

  it('sensitive arguments are redacted from the answer, numbers too', async () => {
    const pin = 10_000_000 + (randomBytes(2).readUInt16BE() % 1_000);
    const outcome = await call(({ body }) => httpAnswer(400, body, { 'Content-Type': 'application/json' }), {
      pin,
      note: 'my mother’s name',
    });
    expect(outcome.result).toMatchObject({ body: { pin: '[redacted]', note: '[redacted]' } });
    expect(JSON.stringify(outcome)).not.toMatch(new RegExp(`${pin}|mother`));
  });

  it('outcomes without an answer say nothing of the request', async () => {
    const outcome = await call(({ socket }) => {
      socket.end(`garbage ${SECRET}`);
      return null;
    });
    expect(JSON.stringify(outcome)).not.toMatch(/secret|0123456789|echo|upstream\.example/);
  });
});

it('a secret in the name of a header is redacted, in the lower case in which names are read', async () => {
  const headers = [['x-ratelimit-canary-token', '1']] as const;
  const answer = { status: 200, headers, body: Buffer.alloc(0), isDecoded: true };
  expect(JSON.parse(await recordedResult(answer, new Redactor(['Canary-Token'], [])))).toEqual({
    status: 200,
    headers: { 'x-ratelimit-[redacted]': '1' },
    body: null,
  });
});

describe('a long JSON body', () => {
  const answerOf = (body: string): EgressResponse => ({
    status: 200,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(body),
    isDecoded: true,
  });
  const none = new Redactor([], []);
  const [long, short] = [`[${'[[]],'.repeat(20_000)}1]`, '[1]'];
  const recordOf = (body: string): string =>
    `{"body":${body},"headers":{"content-type":"application/json"},"status":200}`;

  it('is recorded in turns, with others between them', async () => {
    let rounds = 0;
    let isOver = false;
    const others = (): void => {
      rounds += 1;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    const recorded = await recordedResult(answerOf(long), none);
    isOver = true;
    expect(recorded === recordOf(long)).toBe(true);
    // 40,001 values are ten pieces; redacting and writing follow.
    expect(rounds).toBeGreaterThan(10);
  });

  it('holds up no short one', async () => {
    const ended: string[] = [];
    const both = [long, short].map(async (body) => {
      const recorded = await recordedResult(answerOf(body), none);
      ended.push(recorded === recordOf(body) ? body.slice(0, 3) : 'wrong');
    });
    await Promise.all(both);
    expect(ended).toEqual(['[1]', '[[[']);
  });
});
