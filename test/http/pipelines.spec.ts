import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Controller, Get } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_WAITING_REQUESTS } from '../../apps/api/src/http/pipeline.js';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { type Deferred, deferred } from '../support/deferred.js';
import { eventually } from './edge-client.js';
import { startEdge, type TestEdge } from './edge-harness.js';
import { RawConnection } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

/** Answers when the test says so. */
@Controller('v1')
class HeldController {
  static begun: Deferred<void>[] = [];
  static isOpen = false;

  static open(): void {
    HeldController.isOpen = true;
    for (const { resolve } of HeldController.begun) resolve();
  }

  @Get('held')
  @Route({ auth: 'public', since: '2026-10-01' })
  async held() {
    const answer = deferred();
    HeldController.begun.push(answer);
    if (!HeldController.isOpen) await answer.promise;
    return { number: HeldController.begun.indexOf(answer) };
  }
}

let edge: TestEdge;
/** With limits that a test waits for. */
let hasty: TestEdge;
/** The server's ends of the connections, in order. */
const accepted: Socket[] = [];

beforeAll(async () => {
  const controllers = [SampleController, HeldController];
  edge = await startEdge({ controllers });
  edge.app.getHttpServer().on('connection', (socket: Socket) => accepted.push(socket));
  const timeouts = { headersTimeoutMs: 500, requestTimeoutMs: 500 };
  hasty = await startEdge({ controllers, edge: { timeouts } });
});
afterAll(() => Promise.all([edge?.close(), hasty?.close()]));
beforeEach(() => {
  HeldController.begun = [];
  HeldController.isOpen = false;
  edge.lines.length = 0;
  accepted.length = 0;
});

const HELD = 'GET /v1/held HTTP/1.1\r\nHost: x\r\n\r\n';
const begunCount = (): number => HeldController.begun.length;
/** By the time another is answered, the server has read and handed out what was sent before. */
const serveAnother = async (): Promise<void> => {
  expect((await fetch(`${edge.url}/v1/health`)).status).toBe(200);
};

describe('requests that are sent ahead on one connection', () => {
  it('begin one after another, each when the one before it is answered', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(HELD.repeat(5));
    for (let number = 0; number < 5; number += 1) {
      await eventually(begunCount).toBe(number + 1);
      await serveAnother();
      expect(begunCount()).toBe(number + 1);
      HeldController.begun[number]?.resolve();
      expect(JSON.parse((await connection.answer()).body)).toEqual({ number });
    }
    connection.close();
  });

  it('are served as far as may wait; the last answer closes, and what lies behind is not read', async () => {
    const parsed = vi.fn<(request: IncomingMessage) => void>();
    edge.app.getHttpServer().on('request', parsed);
    const connection = await RawConnection.open(edge.port);
    connection.send(HELD.repeat(100_000));
    await eventually(begunCount).toBe(1);
    await serveAnother();
    HeldController.open();
    const answers = (await connection.untilClosed()).split('HTTP/1.1 ').slice(1);
    expect(answers.map((answer) => answer.slice(0, 3))).toEqual(Array(1 + MAX_WAITING_REQUESTS).fill('200'));
    expect(answers.map((answer) => /^connection: (.*)$/im.exec(answer)?.[1])).toEqual([
      ...Array<string>(MAX_WAITING_REQUESTS).fill('keep-alive'),
      'close',
    ]);
    expect(begunCount()).toBe(1 + MAX_WAITING_REQUESTS);
    expect(edge.accessLines().filter(({ route }) => route === '/v1/held')).toHaveLength(begunCount());
    // Of 3.8 million bytes.
    expect(accepted[0]?.bytesRead).toBeLessThan(300_000);
    connection.close();
    // What is read at once holds 1,800; the one behind the last that may wait says that the last is whole.
    const fromHere = parsed.mock.calls.filter(([{ url }]) => url === '/v1/held');
    expect(fromHere).toHaveLength(1 + MAX_WAITING_REQUESTS + 1);
    edge.app.getHttpServer().off('request', parsed);
  });

  it('that are fewer are all answered, and the connection stays', async () => {
    HeldController.open();
    const connection = await RawConnection.open(edge.port);
    connection.send(HELD.repeat(MAX_WAITING_REQUESTS));
    for (let number = 0; number < MAX_WAITING_REQUESTS; number += 1) {
      expect((await connection.answer()).headers.get('connection')).toEqual(['keep-alive']);
    }
    connection.send(HELD);
    expect((await connection.answer()).status).toBe(200);
    connection.close();
  });

  it('are forgotten when their sender leaves', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(HELD.repeat(5));
    await eventually(begunCount).toBe(1);
    connection.socket.resetAndDestroy();
    await eventually(() => edge.edge.drain.underWayCount).toBe(0);
    HeldController.open();
    await serveAnother();
    expect(begunCount()).toBe(1);
  });
});

describe('what is no request, behind one that is being served', () => {
  const submit = (framing: string) =>
    `POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${framing}\r\n`;

  /** The server has found that something on this connection is no request. */
  const noticedOn = ({ socket: { localPort } }: RawConnection): Promise<void> =>
    new Promise((resolve) => {
      hasty.app.getHttpServer().on('clientError', (_error: Error, { remotePort }: Socket) => {
        if (remotePort === localPort) resolve();
      });
    });

  it.each([
    ['bytes that are no HTTP', 400, 'nonsense\r\n\r\n'],
    ['a request without an end', 408, 'GET /v1/health HT'],
    ['a body without an end', 408, `${submit('Content-Length: 100\r\n')}{`],
    ['a body in broken chunks', 400, `${submit('Transfer-Encoding: chunked\r\n')}zz\r\n`],
  ])('is refused after the answer to that, and ends the connection: %s', async (_, status, bytes) => {
    hasty.lines.length = 0;
    const connection = await RawConnection.open(hasty.port);
    const noticed = noticedOn(connection);
    connection.send(`${HELD}${HELD}${bytes}`);
    await noticed;
    HeldController.open();
    const answers = [await connection.answer(), await connection.answer(), await connection.answer()];
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, status]);
    expect(answers.map(({ headers }) => headers.get('connection'))).toEqual([
      ['keep-alive'],
      ['keep-alive'],
      ['close'],
    ]);
    const ids = answers.map(({ headers }) => headers.get('service-request-id')?.[0]);
    await eventually(() => hasty.accessLines().map(({ request_id: id }) => id)).toEqual(ids);
    expect(await connection.untilClosed()).toBe('');
    connection.close();
  });
});

describe('a client that ends its side when its request is sent', () => {
  it('is taken for gone: the connection closes, and the access line says so', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send(HELD);
    connection.socket.end();
    expect(await connection.untilClosed()).toBe('');
    await eventually(() => edge.accessLines().map(({ status }) => status)).toEqual([499]);
    connection.close();
  });
});
