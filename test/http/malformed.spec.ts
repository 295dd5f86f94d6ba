import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEdge, type TestEdge } from './edge-harness.js';
import { eventually } from './edge-client.js';
import { errorOf, RawConnection, sendRaw } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;

beforeAll(async () => {
  edge = await startEdge({
    controllers: [SampleController],
    edge: {
      timeouts: { headersTimeoutMs: 300, requestTimeoutMs: 600, keepAliveTimeoutMs: 5_000, idleTimeoutMs: 10_000 },
    },
  });
});
afterAll(async () => edge.close());
beforeEach(() => {
  SampleController.ran = [];
  edge.lines.length = 0;
});

const HEALTH = 'GET /v1/health HTTP/1.1\r\nHost: x\r\n';
const SUBMIT =
  'POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nContent-Type: application/json\r\n';
const BODY = '{"tool":"a.b","args":{}}';

const expectClosed = async (connection: RawConnection): Promise<void> => {
  await connection.untilClosed();
  connection.close();
};

describe('what is no HTTP/1.1 request', () => {
  it.each([
    ['no HTTP', 'EHLO example\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a bad version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a method that does not exist', 'BREW /v1/health HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', `${HEALTH}nonsense\r\n\r\n`],
    ['a space before the colon', `${HEALTH}X-A : b\r\n\r\n`],
    ['a folded header', `${HEALTH}X-A: b\r\n c\r\n\r\n`],
    ['a NUL in a header', `${HEALTH}X-A: b\0c\r\n\r\n`],
    ['a bare CR in a header', `${HEALTH}X-A: b\rX-B: c\r\n\r\n`],
    ['two lengths', `${SUBMIT}Content-Length: ${BODY.length}\r\nContent-Length: 5\r\n\r\n${BODY}`],
    ['a length and chunks', `${SUBMIT}Content-Length: ${BODY.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks and a length', `${SUBMIT}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
    ['a negative length', `${SUBMIT}Content-Length: -1\r\n\r\n`],
    ['a length that is no number', `${SUBMIT}Content-Length: 0x10\r\n\r\n`],
    ['chunked that is not last', `${SUBMIT}Transfer-Encoding: chunked, gzip\r\n\r\n`],
    ['two transfer codings', `${SUBMIT}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['bare line feeds', 'GET /v1/health HTTP/1.1\nHost: x\n\n'],
    ['a bare line feed after a header', `${HEALTH}X-A: b\nX-C: d\r\n\r\n`],
    ['another protocol’s preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a proxy request', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
  ])('is answered with 400 in the envelope, and the connection closes: %s', async (_, request) => {
    const connection = await RawConnection.open(edge.port);
    connection.send(request);
    const answer = await connection.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([400, ['close']]);
    expect(errorOf(answer)).toMatchObject({ type: 'invalid_request_error', code: 'validation_failed', param: null });
    await expectClosed(connection);
    expect(SampleController.ran).toEqual([]);
  });

  it.each([
    ['a size that is no number', 'zz\r\n'],
    ['a chunk longer than its size', '2\r\n{"tool"\r\n0\r\n\r\n'],
    ['a bare LF after the size', `${BODY.length.toString(16)}\n${BODY}\r\n0\r\n\r\n`],
  ])('may also begin in the chunks of a body: %s', async (_, chunks) => {
    const connection = await RawConnection.open(edge.port);
    connection.send(`${SUBMIT}Transfer-Encoding: chunked\r\n\r\n${chunks}`);
    expect((await connection.answer()).status).toBe(400);
    await expectClosed(connection);
    expect(SampleController.ran).toEqual([]);
  });

  it.each([
    ['HTTP/1.0 with chunks', SUBMIT.replace('1.1', '1.0'), 'chunked'],
    ['a body in a coding that nobody undoes', SUBMIT, 'gzip, chunked'],
    ['a body in an unknown coding', SUBMIT, 'xchunked'],
  ])('is %s', async (_, head, coding) => {
    const body = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
    const answer = await sendRaw(edge.port, `${head}Transfer-Encoding: ${coding}\r\n\r\n${body}`);
    expect([answer.status, errorOf(answer)['param']]).toEqual([400, 'Transfer-Encoding']);
    expect(SampleController.ran).toEqual([]);
  });

  it('leaves an access line, with the id of the answer', async () => {
    const answer = await sendRaw(edge.port, 'nonsense\r\n\r\n');
    const requestId = answer.headers.get('service-request-id')?.[0];
    const written = edge.accessLines().filter(({ request_id }) => request_id === requestId);
    expect(written).toEqual([expect.objectContaining({ status: 400, route: 'unmatched', method: '', path: '' })]);
  });

  it('leaves one access line when it began in the body of a request', async () => {
    const answer = await sendRaw(edge.port, `${SUBMIT}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
    const requestId = answer.headers.get('service-request-id')?.[0];
    const written = () => edge.accessLines().filter(({ request_id }) => request_id === requestId);
    await eventually(written).toEqual([expect.objectContaining({ status: 400, route: '/v1/actions' })]);
    await eventually(() => edge.edge.drain.underWayCount).toBe(0);
  });
});

describe('Host', () => {
  const withHost = (lines: string, version = '1.1') =>
    sendRaw(edge.port, `GET /v1/health HTTP/${version}\r\n${lines}\r\n`);

  it.each([
    '',
    'Host: a\r\nHost: a\r\n',
    'Host:\r\n',
    'Host: a b\r\n',
    'Host: a/b\r\n',
    'Host: user@a\r\n',
    'Host: a:x\r\n',
    'Host: [::1\r\n',
  ])('is refused as %j with 400 and its name', async (lines) => {
    const answer = await withHost(lines);
    expect([answer.status, errorOf(answer)['code'], errorOf(answer)['param']]).toEqual([
      400,
      'validation_failed',
      'Host',
    ]);
    expect(answer.headers.has('service-request-id')).toBe(true);
  });

  it.each(['Host: a\r\n', 'Host: a.example:8080\r\n', 'Host: [::1]:80\r\n', 'Host: 127.0.0.1\r\n'])(
    'may be %j',
    async (lines) => {
      expect((await withHost(lines)).status).toBe(200);
    },
  );

  it('may be missing in HTTP/1.0', async () => {
    expect((await withHost('', '1.0')).status).toBe(200);
  });
});

describe('headers', () => {
  it('larger than 16 KiB are refused with 431', async () => {
    for (const request of [
      `${HEALTH}X: ${'x'.repeat(65_536)}\r\n\r\n`,
      `GET /${'x'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ]) {
      const answer = await sendRaw(edge.port, request);
      expect([answer.status, errorOf(answer)['code'], answer.headers.get('connection')]).toEqual([
        431,
        'request_too_large',
        ['close'],
      ]);
    }
  });

  it.each([
    ['of one name', () => 'X: y\r\n'],
    ['each of its own', (index: number) => `X-${index}: y\r\n`],
  ])('are taken up to 100, and refused with 431 from 101 on: %s', async (_, line) => {
    // `Host` is one of them.
    const withHeaders = (count: number) =>
      sendRaw(edge.port, `${HEALTH}${Array.from({ length: count - 1 }, (_, index) => line(index)).join('')}\r\n`);
    expect((await withHeaders(100)).status).toBe(200);
    for (const count of [101, 1_001]) {
      const answer = await withHeaders(count);
      expect([count, answer.status, errorOf(answer)['code']]).toEqual([count, 431, 'request_too_large']);
    }
  });
});

describe('slow senders', () => {
  it.each([
    ['of headers', HEALTH],
    ['of a body that somebody waits for', `${SUBMIT}Content-Length: 100\r\n\r\n{`],
  ])('%s are answered with 408 and cut off', async (_, beginning) => {
    const connection = await RawConnection.open(edge.port);
    connection.send(beginning);
    const answer = await connection.answer();
    expect([answer.status, errorOf(answer)['code'], answer.headers.get('connection')]).toEqual([
      408,
      'timeout',
      ['close'],
    ]);
    expect(answer.headers.get('service-version')).toEqual(['2026-10-01']);
    await expectClosed(connection);
  });

  it.each([
    ['headers', `${SUBMIT}X-A: `, `b\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`],
    ['its body', `${SUBMIT}Content-Length: ${BODY.length}\r\n\r\n{`, BODY.slice(1)],
  ])('were told to send again: what comes of %s after that is not served', async (_, beginning, rest) => {
    const connection = await RawConnection.open(edge.port);
    connection.send(beginning);
    expect((await connection.answer()).status).toBe(408);
    connection.send(rest);
    // By the time others were served, the server has read what came on the closed connection.
    for (let count = 0; count < 5; count += 1) expect((await fetch(`${edge.url}/v1/health`)).status).toBe(200);
    expect(SampleController.ran).toEqual([]);
    connection.close();
  });

  it('do not keep others from being served', async () => {
    const idle = await Promise.all(
      Array.from({ length: 500 }, async () => {
        const connection = await RawConnection.open(edge.port);
        connection.send('GET /v1/health HTTP/1.1\r\nX');
        return connection;
      }),
    );
    expect((await fetch(`${edge.url}/v1/health`)).status).toBe(200);
    await Promise.all(idle.map(async (connection) => expect((await connection.answer()).status).toBe(408)));
    for (const connection of idle) connection.close();
  });
});

describe('slow senders that never pause', () => {
  it('are cut off at the same limits, though they go on after the answer', async () => {
    const beginnings = ['GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: ', `${SUBMIT}Content-Length: 100000\r\n\r\n{`];
    const senders = await Promise.all(Array.from({ length: 200 }, () => RawConnection.open(edge.port)));
    const cutOff = Promise.all(senders.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve))));
    senders.forEach((sender, index) => sender.send(beginnings[index % 2] ?? ''));
    const trickle = setInterval(() => {
      for (const sender of senders) if (!sender.socket.destroyed) sender.send('a');
    }, 100);
    try {
      expect((await fetch(`${edge.url}/v1/health`)).status).toBe(200);
      await cutOff;
    } finally {
      clearInterval(trickle);
    }
    const answers = await Promise.all(senders.map((sender) => sender.answer()));
    expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(408));
    expect(SampleController.ran).toEqual([]);
  });
});

describe('a client that leaves in the middle of its body', () => {
  const beginBody = async (): Promise<RawConnection> => {
    const connection = await RawConnection.open(edge.port);
    connection.send(`${SUBMIT}Content-Length: 100\r\n\r\n{`);
    // By the time another request was served, this one is waiting for the rest of its body.
    await fetch(`${edge.url}/v1/health`);
    return connection;
  };
  const statuses = () =>
    edge
      .accessLines()
      .filter(({ method }) => method === 'POST')
      .map(({ status }) => status);

  it('leaves a line with status 499 and no handler run', async () => {
    (await beginBody()).socket.resetAndDestroy();
    await eventually(statuses).toEqual([499]);
    expect(SampleController.ran).toEqual([]);
  });

  it('but still listens is told so with 400', async () => {
    const connection = await beginBody();
    connection.socket.end();
    expect((await connection.answer()).status).toBe(400);
    connection.close();
    await eventually(statuses).toEqual([400]);
    expect(SampleController.ran).toEqual([]);
  });
});

describe('pipelined requests', () => {
  it('are answered in order, each with an id of its own', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(`${HEALTH}\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n${HEALTH}\r\n`);
    const answers = [await connection.answer(), await connection.answer(), await connection.answer()];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200]);
    expect(new Set(answers.map(({ headers }) => headers.get('service-request-id')?.[0])).size).toBe(3);
    connection.close();
  });

  it('of one connection share what listens to its end', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const connection = await RawConnection.open(edge.port);
    connection.send(`${HEALTH}\r\n`.repeat(30));
    for (let count = 0; count < 30; count += 1) expect((await connection.answer()).status).toBe(200);
    connection.close();
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});
