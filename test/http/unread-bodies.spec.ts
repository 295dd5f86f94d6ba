import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer, clientOf, eventually } from './edge-client.js';
import { startEdge, type TestEdge } from './edge-harness.js';
import { errorOf, RawConnection } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;
const { post } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({ controllers: [SampleController] });
});
afterAll(async () => edge.close());
beforeEach(() => {
  SampleController.ran = [];
  edge.lines.length = 0;
  edge.authenticator.asked.length = 0;
  edge.authenticator.revoked.clear();
});

const SUBMIT = '{"tool":"crm.get","args":{}}';
const submit = (body: string) => post('/v1/actions', body, bearer('agent'));
const HEAD = 'POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\n';

describe('the size', () => {
  const limit = 1_048_576;
  const sized = (bytes: number) => `{"tool":"crm.get","args":{}}${' '.repeat(bytes - SUBMIT.length)}`;

  it('may be the limit of the route and not a byte more', async () => {
    expect((await submit(sized(limit))).status).toBe(200);
    const { status, error } = await submit(sized(limit + 1));
    expect([status, error['code'], error['type']]).toEqual([413, 'request_too_large', 'invalid_request_error']);
    expect(error['message']).toContain('1048576 bytes');
  });

  it('is 64 KiB at most where a route says nothing', async () => {
    expect((await post('/v1/login', sized(65_536))).status).toBe(202);
    expect((await post('/v1/login', sized(65_537))).status).toBe(413);
  });

  it('is counted where it was not declared', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(`${HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = ' '.repeat(0x10000);
    for (let count = 0; count < 17; count += 1) connection.send(`10000\r\n${chunk}\r\n`);
    const answer = await connection.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([413, ['close']]);
    connection.close();
  });

  it('is judged by its declaration before the key is read, and nothing of it is taken in', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(`${HEAD}Content-Type: application/json\r\nContent-Length: 104857600\r\n\r\n`);
    const answer = await connection.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([413, ['close']]);
    expect(edge.authenticator.asked).toEqual([]);
    connection.close();
  });
});

describe('a body behind a refusal', () => {
  it('is not read: the answer comes at once, and the connection closes', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(
      'POST /v1/actions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{',
    );
    const answer = await connection.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([401, ['close']]);
    expect(await connection.untilClosed()).toBe('');
  });

  it('costs no memory, however much is sent, and its sender can still read the answer', async () => {
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    const megabyte = new Uint8Array(1_048_576).fill(0x20);
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const connection = await RawConnection.open(edge.port);
        connection.send(
          `POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${100 * megabyte.byteLength}\r\n\r\n`,
        );
        for (let count = 0; count < 100 && !connection.isClosed; count += 1) {
          connection.send(megabyte);
          await connection.flushed();
        }
        const answer = await connection.answer();
        connection.close();
        return answer;
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(404));
    const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    expect(after - before).toBeLessThan(64 * 1_048_576);
  });

  it('leaves the connection open when it was read whole', async () => {
    const connection = await RawConnection.open(edge.port);
    for (const body of ['{', SUBMIT, '[]']) {
      connection.send(`${HEAD}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      expect((await connection.answer()).headers.get('connection')).toEqual(['keep-alive']);
    }
    connection.close();
  });

  it('is not served as a second request when it looks like one', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(
      'GET /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    expect((await connection.answer()).status).toBe(413);
    connection.send(
      `0\r\n\r\n${HEAD}Content-Type: application/json\r\nContent-Length: ${SUBMIT.length}\r\n\r\n${SUBMIT}`,
    );
    expect(await connection.untilClosed()).toBe('');
    // By the time others were served, the server has read what came on the closed connection.
    await Promise.all(Array.from({ length: 5 }, () => post('/v1/login', SUBMIT)));
    expect(SampleController.ran).toEqual([]);
    connection.close();
  });

  it('does not tear down the connection under an answer that was not read yet', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.socket.pause();
    connection.send('POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n');
    connection.send('x'.repeat(3_999_999));
    await eventually(() => edge.accessLines().some(({ path }) => path === '/v1/nothing')).toBe(true);
    // The whole body goes out although nobody reads it, and only then does this client look at what came back.
    await connection.flushed();
    connection.socket.resume();
    expect((await connection.answer()).status).toBe(404);
    connection.close();
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (length: number) =>
    `Content-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;

  it('is answered when the body is wanted', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(`${HEAD}${expecting(SUBMIT.length)}`);
    expect((await connection.answer()).status).toBe(100);
    connection.send(SUBMIT);
    expect((await connection.answer()).status).toBe(200);
    connection.close();
  });

  it('is not answered when the request is refused before its body', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(`POST /v1/actions HTTP/1.1\r\nHost: x\r\n${expecting(SUBMIT.length)}`);
    expect((await connection.answer()).status).toBe(401);
    connection.close();
  });
});

describe('a body that trickles in', () => {
  const begin = async (): Promise<RawConnection> => {
    const connection = await RawConnection.open(edge.port);
    connection.send(`${HEAD}Content-Type: application/json\r\nContent-Length: ${SUBMIT.length}\r\n\r\n{`);
    await eventually(() => edge.authenticator.asked).toEqual(['agent']);
    return connection;
  };

  it('for longer than a second has its key judged again: one that was revoked meanwhile does nothing', async () => {
    const connection = await begin();
    edge.authenticator.revoked.add('agent');
    edge.clock.advance(1_001);
    connection.send(SUBMIT.slice(1));
    expect(errorOf(await connection.answer())).toMatchObject({ code: 'api_key_revoked' });
    expect([edge.authenticator.asked.length, SampleController.ran]).toEqual([2, []]);
    connection.close();
  });

  it('for less is believed', async () => {
    const connection = await begin();
    connection.send(SUBMIT.slice(1));
    expect((await connection.answer()).status).toBe(200);
    expect(edge.authenticator.asked).toEqual(['agent']);
    connection.close();
  });
});
