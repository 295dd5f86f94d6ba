import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEdge, type TestEdge } from './edge-harness.js';
import { errorOf, RawConnection } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;

beforeAll(async () => {
  edge = await startEdge({ controllers: [SampleController] });
});
afterAll(() => edge.close());
beforeEach(() => {
  SampleController.ran = [];
});

const HEAD = [
  'POST /v1/actions HTTP/1.1',
  'Host: x',
  'Authorization: Bearer agent',
  'Content-Type: application/json',
  'Transfer-Encoding: chunked',
  '\r\n',
].join('\r\n');
const BODY = '{"tool":"a.b","args":{}}';
const SIZE = BODY.length.toString(16);
const LAST = '0\r\n\r\n';
/** What a front that reads the framing in another way would take for a request of its own. */
const HIDDEN = 'GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n';

/** A connection on which the chunks were sent. */
const send = async (chunks: string): Promise<RawConnection> => {
  const connection = await RawConnection.open(edge.port);
  connection.send(`${HEAD}${chunks}`);
  return connection;
};

describe('a chunked body', () => {
  // RFC 9112, section 7.1.1: a recipient MUST ignore chunk extensions that it does not recognize; we recognize none.
  it.each([
    ['a name', `${SIZE};a\r\n${BODY}\r\n${LAST}`],
    ['names and values, one quoted', `${SIZE};a=b;c="d;\\"e"\r\n${BODY}\r\n${LAST}`],
    ['one on the last chunk', `${SIZE}\r\n${BODY}\r\n0;a=b\r\n\r\n`],
  ])('may carry extensions, which are ignored: %s', async (_, chunks) => {
    const connection = await send(chunks);
    expect((await connection.answer()).status).toBe(200);
    expect(SampleController.ran).toEqual(['submit']);
    connection.close();
  });

  it('may have trailers, which change nothing: who calls stays who called', async () => {
    const connection = await send(`${SIZE}\r\n${BODY}\r\n0\r\nAuthorization: Bearer admin\r\nX-A: b\r\n\r\n`);
    const answer = await connection.answer();
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, expect.objectContaining({ caller: 'agent' })]);
    connection.close();
  });
});

describe('chunks that two readers could read in two ways', () => {
  it.each([
    ['a bare LF at the end of an extension', `${SIZE};a\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare LF within an extension', `${SIZE};a\nb\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare LF after the = of an extension', `${SIZE};a=\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare LF in the value of an extension', `${SIZE};a=b\nc\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare LF in a quoted value', `${SIZE};a="b\nc"\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare LF after a quoted value', `${SIZE};a="b"\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare LF after the semicolon', `${SIZE};\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare CR in an extension', `${SIZE};a\rb\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare CR in the value of an extension', `${SIZE};a=b\rc\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare CR in a quoted value', `${SIZE};a="b\rc"\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a NUL in an extension', `${SIZE};a\0\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['an extension without a name', `${SIZE};\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a quoted value that does not end', `${SIZE};a="b\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a space before an extension', `${SIZE} ;a\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare LF after the size', `${SIZE}\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare CR after the size', `${SIZE}\r${BODY}\r\n${LAST}${HIDDEN}`],
    ['two CR after the size', `${SIZE}\r\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a bare LF after the data', `${SIZE}\r\n${BODY}\n${LAST}${HIDDEN}`],
    ['a bare CR after the data', `${SIZE}\r\n${BODY}\r${LAST}${HIDDEN}`],
    ['no line end after the data', `${SIZE}\r\n${BODY}${LAST}${HIDDEN}`],
    ['a bare LF after the last size', `${SIZE}\r\n${BODY}\r\n0\n\r\n${HIDDEN}`],
    ['a bare LF at the end', `${SIZE}\r\n${BODY}\r\n0\r\n\n${HIDDEN}`],
    ['a bare LF after a trailer', `${SIZE}\r\n${BODY}\r\n0\r\nX-A: b\n\r\n${HIDDEN}`],
    ['a bare CR in a trailer', `${SIZE}\r\n${BODY}\r\n0\r\nX-A: b\rc\r\n\r\n${HIDDEN}`],
    ['a folded trailer', `${SIZE}\r\n${BODY}\r\n0\r\nX-A: b\r\n c\r\n\r\n${HIDDEN}`],
    ['a length in the trailers', `${SIZE}\r\n${BODY}\r\n0\r\nContent-Length: 5\r\n\r\n${HIDDEN}`],
    ['a size with 0x', `0x${SIZE}\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a size with a sign', `+${SIZE}\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a size after a space', ` ${SIZE}\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a size before a space', `${SIZE} \r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['no size', `\r\n${BODY}\r\n${LAST}${HIDDEN}`],
    ['a size that no 64 bits hold', `1${SIZE.padStart(16, '0')}\r\n${BODY}\r\n${LAST}${HIDDEN}`],
  ])('end the connection with 400, and what follows is not served: %s', async (_, chunks) => {
    const connection = await send(chunks);
    const answer = await connection.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([400, ['close']]);
    expect(errorOf(answer)).toMatchObject({ type: 'invalid_request_error', code: 'validation_failed', param: null });
    expect(await connection.untilClosed()).toBe('');
    expect(SampleController.ran).toEqual([]);
    connection.close();
  });

  it('extensions that go on and on are 413, and end the connection', async () => {
    const connection = await send(`${SIZE};a=${'b'.repeat(20_000)}\r\n${BODY}\r\n${LAST}`);
    const answer = await connection.answer();
    expect([answer.status, errorOf(answer)['code'], answer.headers.get('connection')]).toEqual([
      413,
      'request_too_large',
      ['close'],
    ]);
    connection.close();
  });
});
