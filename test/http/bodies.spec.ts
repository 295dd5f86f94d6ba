import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer, clientOf } from './edge-client.js';
import { startEdge, type TestEdge } from './edge-harness.js';
import { errorOf, sendRaw } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;
const { post, send } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({ controllers: [SampleController] });
});
afterAll(async () => edge.close());
beforeEach(() => {
  SampleController.ran = [];
  edge.authenticator.asked.length = 0;
});

const SUBMIT = '{"tool":"crm.get","args":{}}';
const submit = (body: string | Uint8Array<ArrayBuffer>) => post('/v1/actions', body, bearer('agent'));
const withArgs = (args: string) => `{"tool":"crm.get","args":${args}}`;
const HEAD = 'POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\n';

describe('the content type', () => {
  const sendTyped = (headers: string) =>
    sendRaw(edge.port, `${HEAD}${headers}Content-Length: ${SUBMIT.length}\r\n\r\n${SUBMIT}`);

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
    'application/json ;\tcharset="utf-8"',
  ])('may be %s', async (type) => {
    expect((await sendTyped(`Content-Type: ${type}\r\n`)).status).toBe(200);
  });

  it.each([
    ...[
      '',
      'application/json;',
      'application/json; charset=utf-16',
      'application/json; charset=utf8',
      'application/json; charset=utf-8; x=1',
    ],
    ...[
      'application/json garbage',
      'application/json,text/plain',
      'application/json, application/json',
      'application/jsonx',
      'application/json; x=1',
    ],
    ...[
      'application/vnd.api+json',
      'text/json',
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'application',
    ],
    ...[
      'application/json\tx',
      'application/json; charset',
      'application/json; charset=',
      'a/b/c',
      '*/*',
      'application/json;charset=utf-8,',
      '\u00e9',
    ],
    ...[
      'application/json; charset="utf-8',
      'json',
      '/',
      ';',
      'application /json',
      'application/ json',
      'application/json\u0000',
    ],
  ])('is refused with 415 as %j, before the key is read', async (type) => {
    const answer = await sendTyped(`Content-Type: ${type}\r\n`);
    expect(answer.status).toBe(type.includes('\u0000') ? 400 : 415);
    if (answer.status === 415)
      expect(errorOf(answer)).toMatchObject({
        code: 'unsupported_media_type',
        param: null,
        type: 'invalid_request_error',
      });
    expect(edge.authenticator.asked).toEqual([]);
  });

  it('is refused when missing, or sent twice', async () => {
    expect((await sendTyped('')).status).toBe(415);
    expect((await sendTyped('Content-Type: application/json\r\ncontent-type: application/json\r\n')).status).toBe(415);
  });

  it('is judged where there is no body too: a cross-site form cannot reach a route without fields', async () => {
    const answer = await sendRaw(
      edge.port,
      'POST /v1/actions/act_1/cancel HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n',
    );
    expect(answer.status).toBe(415);
  });

  it('goes with no content encoding', async () => {
    expect((await sendTyped('Content-Type: application/json\r\nContent-Encoding: gzip\r\n')).status).toBe(415);
  });
});

describe('the body', () => {
  it('has no place on GET and DELETE', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const path = method === 'DELETE' ? '/v1/policies/pol_1' : '/v1/actions';
      for (const framing of ['Content-Length: 2\r\n\r\n{}', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n']) {
        const answer = await sendRaw(
          edge.port,
          `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n${framing}`,
        );
        expect(answer.status).toBe(413);
      }
      const empty = await sendRaw(
        edge.port,
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nContent-Length: 0\r\n\r\n`,
      );
      expect(empty.status).toBe(200);
    }
  });

  it.each(['', '/', 'application', 'application/json garbage', 'text/plain', 'application/json'])(
    'has no type to judge on GET and DELETE, where there is none: %j',
    async (type) => {
      for (const target of ['GET /v1/actions', 'DELETE /v1/policies/pol_1']) {
        const head = `${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n`;
        const answer = await sendRaw(edge.port, `${head}Content-Type: ${type}\r\n\r\n`);
        expect([target, answer.status]).toEqual([target, 200]);
      }
    },
  );

  it('may be left out, or be the empty object, where nothing is required', async () => {
    const cancel = (body: string | null) => post('/v1/actions/act_1/cancel', body, bearer('agent'));
    expect((await cancel(null)).status).toBe(200);
    expect((await cancel('{}')).status).toBe(200);
    expect((await post('/v1/actions/act_1/note', null, bearer('agent'))).json).toEqual({ note: null });
    expect((await cancel('{"x":1}')).error).toMatchObject({ code: 'validation_failed', param: 'x' });
    expect((await cancel('nonsense')).error).toMatchObject({ code: 'invalid_json' });
  });

  it('takes no more memory than its bytes, in chunks of one', async () => {
    const before = process.memoryUsage().rss;
    const body = withArgs(JSON.stringify({ text: 'x'.repeat(250_000) })).padEnd(1_048_576);
    const chunks = body.replaceAll(/[^]/g, '1\r\n$&\r\n');
    const framing = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect((await sendRaw(edge.port, `${HEAD}${framing}${chunks}0\r\n\r\n`)).status).toBe(200);
    // 400 MiB where each is kept as it came.
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1_048_576);
  });

  it.each([
    ...[
      '',
      ' ',
      '{',
      '}',
      '{"tool"',
      '{tool:"x"}',
      "{'tool':'x'}",
      '{"tool":"x",}',
      '{"tool":"x"}{}',
      '{"tool":"x"} x',
      '// c\n{}',
    ],
    ...[
      'NaN',
      '{"args":NaN}',
      '{"args":Infinity}',
      '{"args":+1}',
      '{"args":01}',
      '{"args":.5}',
      '{"args":1.}',
      '\ufeff{}',
      'undefined',
    ],
    ...[
      '{"tool":"a","tool":"a"}',
      '{"tool":"a","\\u0074ool":"a"}',
      '{"args":{"a":1,"a":1}}',
      '{"args":{"a":{"b":1,"\\u0062":2}}}',
    ],
  ])('is refused as %j with 400 invalid_json', async (body) => {
    const { status, error } = await submit(body);
    expect([status, error['code'], error['param']]).toEqual([400, 'invalid_json', null]);
  });

  it.each([null, '', ' ', '\r\n\t'])('is told to be empty where something is required: %j', async (body) => {
    const { status, error } = await post('/v1/actions', body, bearer('agent'));
    expect([status, error['code'], error['param']]).toEqual([400, 'invalid_json', null]);
    expect(error['message']).toBe('The body is empty. Send a JSON object with the fields of this endpoint.');
  });

  it('is refused for a value in it by the name of its field', async () => {
    const { error } = await submit('{"tool":"a.b","args":{"x":1e400}}');
    expect([error['code'], error['param']]).toEqual(['validation_failed', 'args']);
    expect(error['message']).toBe('A number in the field args does not fit a double. See byte 26 of the body.');
  });

  it.each([[[0x22, 0xff, 0x22]], [[0xc0, 0x80]], [[0xed, 0xa0, 0x80]], [[0xf8, 0x88, 0x80, 0x80, 0x80]]])(
    'is refused with bytes that are not UTF-8: %j',
    async (bytes) => {
      const body = new Uint8Array([...Buffer.from('{"tool":"'), ...bytes, ...Buffer.from('"}')]);
      expect((await submit(body)).error).toMatchObject({ code: 'invalid_json' });
    },
  );

  it.each([
    [withArgs('{"n":9007199254740992}'), 'args'],
    [withArgs('{"n":-9007199254740992}'), 'args'],
    [withArgs('{"n":1e400}'), 'args'],
    [withArgs('{"t":"\\ud800"}'), 'args'],
    [withArgs('{"\\udc00":1}'), 'args'],
    ['{"wait":18446744073709551616}', 'wait'],
    [withArgs('{"a":'.repeat(32) + '{}' + '}'.repeat(32)), 'args'],
    [withArgs('['.repeat(1_000)), 'args'],
    ['['.repeat(100_000), null],
    ['[]', null],
    ['null', null],
    ['"text"', null],
    ['12', null],
  ])('is refused with 400 validation_failed naming the field: %.40s', async (body, param) => {
    const { status, error } = await submit(body);
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', param]);
  });

  it('may nest arguments 32 deep', async () => {
    expect((await submit(withArgs('{"a":'.repeat(31) + '{}' + '}'.repeat(31)))).status).toBe(200);
  });

  it('keeps members named like parts of objects as data', async () => {
    const args =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toString":3,"hasOwnProperty":4,"then":5,"toJSON":6}';
    const { text } = await submit(withArgs(args));
    expect(text).toContain(args);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('names the first field that is wrong, wherever it stands', async () => {
    const body = '{"tool":"a.b","args":{},"config":{"tools":[{"name":"ok"},{"name":"NO"}]},"wait":99}';
    const { status, error } = await submit(body);
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', 'config.tools[1].name']);
    expect(error['message']).toBe('The field config.tools[1].name must be lower case. The body has 1 more problem.');
  });

  it('refuses fields that the endpoint does not have', async () => {
    expect((await submit('{"tool":"a.b","args":{},"tol":1}')).error).toMatchObject({
      code: 'validation_failed',
      param: 'tol',
    });
  });

  it('reaches the handler as an instance, as it was sent', async () => {
    const { json } = await submit('{"tool":"a.b","args":{"z":1,"a":[1.50,-0]},"wait":0}');
    expect(json).toMatchObject({ is_instance: true, args: { z: 1, a: [1.5, 0] }, wait: 0 });
  });
});

const vectors = process.env['VECTORS_DIR'];

describe.skipIf(vectors === undefined)('the JSON test suite (VECTORS_DIR)', () => {
  const folder = join(vectors ?? '', 'json-testsuite');
  const files =
    vectors === undefined
      ? []
      : (readdirSync(folder, { recursive: true }) as string[]).filter((name) => /(^|\/)n_.*\.json$/.test(name));

  it('refuses every n_ file with 400', async () => {
    expect(files.length).toBeGreaterThan(150);
    for (const name of files) {
      const body = new Uint8Array(readFileSync(join(folder, name)));
      const { status, error } = await submit(body);
      // Deep nesting is refused for its depth, long before its syntax.
      expect([name, status, ['invalid_json', 'validation_failed'].includes(error['code'] as string)]).toEqual([
        name,
        body.byteLength > 1_048_576 ? 413 : 400,
        true,
      ]);
    }
  });
});

describe('bombs', () => {
  it('of many members and items answer without holding the loop for long', async () => {
    const members = JSON.stringify({
      tool: 'a.b',
      args: Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, 1])),
    });
    const items = `{"tool":"a.b","args":{"a":[${'1,'.repeat(500_000)}1]}}`;
    const unknown = `{${Array.from({ length: 80_000 }, (_, index) => `"${index}":1`).join()}}`;
    for (const [body, status] of [
      [members, 200],
      [items, 200],
      [unknown, 400],
    ] as const) {
      const startedAt = performance.now();
      expect(
        (
          await send('POST', '/v1/actions', {
            body,
            headers: { 'Content-Type': 'application/json', ...bearer('agent') },
          })
        ).status,
      ).toBe(status);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    }
  });
});
