import { createHash } from 'node:crypto';
import { Controller, HttpCode, Param, Post, Res, Body } from '@nestjs/common';
import { IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '#libs/domain/kernel';
import { REMEMBERED_MS } from '#libs/infra/idempotency';
import { installSchemas } from '#libs/infra/schemas';
import { Exchange } from '../../apps/api/src/http/exchange.js';
import { RequestContext } from '../../apps/api/src/http/parameters.js';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { IfPresent } from '../../apps/api/src/http/shape.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { bearer, clientOf, eventually, type JsonAnswer } from './edge-client.js';
import { startEdge, type TestEdge } from './edge-harness.js';
import { errorOf, sendRaw } from './raw-http.js';

const since = '2026-10-01';
const SECRET = 'canary-secret';

class ThingShape {
  @IfPresent()
  @IsString()
  name?: string;
}

/** Waiting handlers, to be let go one by one. */
const waiting: (() => void)[] = [];
let runs = 0;

@Controller('v1/things')
class ThingsController {
  @Post()
  @Route({ auth: 'session_or_key', role: 'viewer', since })
  create(
    @Body() body: ThingShape,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    runs += 1;
    void reply.header('Location', '/v1/things/1').header('X-Other', 'not kept');
    return { object: 'thing', run: runs, name: body.name ?? null, command: exchange.commandId };
  }

  @Post('other')
  @HttpCode(200)
  @Route({ auth: 'session_or_key', role: 'viewer', since })
  other(@Body() body: ThingShape) {
    return { name: body.name ?? null };
  }

  @Post('keys')
  @Route({ auth: 'session_or_key', role: 'viewer', since })
  key() {
    return { object: 'api_key', secret: SECRET, config: { args: { secret: { in: 'body' } } } };
  }

  @Post('large/:bytes')
  @Route({ auth: 'session_or_key', role: 'viewer', since })
  large(@Param('bytes') bytes: string) {
    runs += 1;
    return { run: runs, padding: 'x'.repeat(Number(bytes)) };
  }

  @Post('nothing')
  @HttpCode(204)
  @Route({ auth: 'session_or_key', role: 'viewer', since })
  nothing() {
    runs += 1;
  }

  @Post('fail/:what')
  @Route({ auth: 'session_or_key', role: 'viewer', since, timeoutMs: 200 })
  async fail(@Param('what') what: string) {
    runs += 1;
    if (what === 'timeout') await new Promise(() => undefined);
    if (what === 'defect') throw new TypeError('broken');
    throw new DomainError(what as 'conflict', { retryAfterSeconds: what === 'conflict' ? 7 : 1 });
  }

  @Post('wait')
  @Route({ auth: 'session_or_key', role: 'viewer', since, timeoutMs: 60_000 })
  async wait(@RequestContext() exchange: Exchange) {
    const command = exchange.commandId;
    await new Promise<void>((resolve) => waiting.push(resolve));
    runs += 1;
    return { run: runs, command };
  }

  @Post('public')
  @Route({ auth: 'public', since })
  open() {
    runs += 1;
    return { run: runs };
  }
}

let database: TestDatabase;
let pool: pg.Pool;
let edge: TestEdge;
const client = clientOf(() => edge);

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString });
  await installSchemas(pool, ['idempotency']);
  edge = await startEdge({ controllers: [ThingsController], connectionString: database.connectionString });
  edge.clock.stop();
});
afterAll(async () => {
  await edge.close();
  await pool.end();
  await database.drop();
});

let key = '';
let keys = 0;
beforeEach(() => {
  key = `key-${(keys += 1)}`;
  runs = 0;
  edge.lines.length = 0;
});

const post = (
  path: string,
  body: string | null = '{}',
  change: { as?: string; key?: string } = {},
): Promise<JsonAnswer> =>
  client.post(`/v1/things${path}`, body, { ...bearer(change.as ?? 'agent'), 'Idempotency-Key': change.key ?? key });
const isReplay = (answer: JsonAnswer) => answer.headers.get('service-idempotent-replayed') === 'true';

describe('the same key with the same request', () => {
  it('gets the first answer again, without the handler', async () => {
    const first = await post('', '{"name":"a"}');
    const second = await post('', '{"name":"a"}');
    expect([first.status, second.status, runs]).toEqual([201, 201, 1]);
    expect(second.text).toBe(first.text);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(second.headers.get('location')).toBe('/v1/things/1');
    expect(second.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(second.headers.has('x-other')).toBe(false);
    expect(second.headers.get('service-request-id')).not.toBe(first.headers.get('service-request-id'));
  });

  it('is marked in the access log', async () => {
    await post('');
    await post('');
    await eventually(() => edge.accessLines().map(({ idempotent_replay: replay }) => replay)).toEqual(['', true]);
  });

  it.each([
    ['an agent', 'agent', 'rolled'],
    ['an admin', 'admin', 'rolled-admin'],
  ])('gets the same answer under the key that replaced a rolled one of %s', async (_, rolled, successor) => {
    const first = await post('', '{}', { as: rolled });
    expect((await post('', '{}', { as: successor })).text).toBe(first.text);
  });

  it('gets an answer without a body again', async () => {
    const [first, second] = [await post('/nothing', null), await post('/nothing', null)];
    expect([first.status, second.status, second.text, isReplay(second), runs]).toEqual([204, 204, '', true, 1]);
  });

  it('runs again after 24 hours, and not before', async () => {
    const first = await post('');
    edge.clock.advance(REMEMBERED_MS - 1);
    expect((await post('')).text).toBe(first.text);
    edge.clock.advance(1);
    expect((await post('')).json).toMatchObject({ run: 2 });
  });
});

describe('the same key with a different request', () => {
  const isConflict = ({ status, error }: JsonAnswer) =>
    expect([status, error['code'], error['type'], error['param']]).toEqual([
      422,
      'idempotency_conflict',
      'invalid_request_error',
      'Idempotency-Key',
    ]);

  it('is a conflict when one byte of the body differs, though it means the same', async () => {
    await post('', '{"name":"a"}');
    isConflict(await post('', '{"name": "a"}'));
  });

  it('is a conflict on another route or path', async () => {
    await post('');
    isConflict(await post('/other'));
    const other = `${key}-2`;
    await post('/large/1', null, { key: other });
    isConflict(await post('/large/2', null, { key: other }));
  });

  it.each(['neighbour', 'stranger', 'admin'])('is nobody’s business when %s sends it', async (as) => {
    await post('', '{"name":"a"}');
    expect((await post('', '{"name":"b"}', { as })).status).toBe(201);
  });
});

describe('the same key while the first request runs', () => {
  it('is told to come again in a second, as often as it asks', async () => {
    const first = post('/wait', null);
    await eventually(() => waiting.length).toBe(1);
    for (const { status, headers, error } of await Promise.all(Array.from({ length: 20 }, () => post('/wait', null)))) {
      expect([status, error['code'], error['param'], headers.get('retry-after')]).toEqual([
        409,
        'idempotency_key_in_use',
        'Idempotency-Key',
        '1',
      ]);
    }
    waiting.pop()?.();
    const answer = await first;
    expect((await post('/wait', null)).text).toBe(answer.text);
    expect(runs).toBe(1);
  });

  it('runs when the lock of the first ran out, under the same command id, and the late answer is not stored', async () => {
    const first = post('/wait', null);
    await eventually(() => waiting.length).toBe(1);
    edge.clock.advance(64_999);
    expect((await post('/wait', null)).status).toBe(409);
    edge.clock.advance(1);
    const second = post('/wait', null);
    await eventually(() => waiting.length).toBe(2);
    waiting.shift()?.();
    expect((await first).json).toMatchObject({ run: 1 });
    expect((await post('/wait', null)).status).toBe(409);
    waiting.shift()?.();
    expect((await second).json).toEqual({ run: 2, command: (await first).json?.['command'] });
    expect((await post('/wait', null)).json).toMatchObject({ run: 2 });
  });

  it('lets one of a hundred run', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => post('')));
    expect(runs).toBe(1);
    for (const { status } of answers) expect([201, 409]).toContain(status);
  });
});

describe('what is stored', () => {
  it.each([
    ['conflict', 409],
    ['validation_failed', 400],
    ['defect', 500],
    ['timeout', 504],
  ])('includes errors of the handler: %s', async (what, status) => {
    const [first, second] = [await post(`/fail/${what}`, null), await post(`/fail/${what}`, null)];
    expect([first.status, second.status, isReplay(second), runs]).toEqual([status, status, true, 1]);
    // The body keeps the first request's id; the header is the second's own.
    expect(second.text).toBe(first.text);
    expect(second.error['request_id']).not.toBe(second.headers.get('service-request-id'));
    if (what === 'conflict') expect(second.headers.get('retry-after')).toBe('7');
  });

  it.each([
    ['rate_limited', 429],
    ['service_unavailable', 503],
  ])('does not include %s', async (what, status) => {
    const [first, second] = [await post(`/fail/${what}`, null), await post(`/fail/${what}`, null)];
    expect([first.status, second.status, isReplay(second), runs]).toEqual([status, status, false, 2]);
  });

  it('does not include answers above 1 MiB', async () => {
    const overhead = '{"run":1,"padding":""}'.length;
    const atLimit = `/large/${1_048_576 - overhead}`;
    expect([isReplay(await post(atLimit, null)), isReplay(await post(atLimit, null))]).toEqual([false, true]);
    key += '-above';
    runs = 0;
    const above = `/large/${1_048_577 - overhead}`;
    expect([isReplay(await post(above, null)), isReplay(await post(above, null)), runs]).toEqual([false, false, 2]);
  });

  it('does not include what was refused before the handler: the corrected request is the first', async () => {
    expect((await post('', '{"name":1}')).status).toBe(400);
    expect((await post('', '{')).status).toBe(400);
    expect((await post('', '{"name":"a"}')).status).toBe(201);
  });

  it('holds nothing by which a body can be guessed: the fingerprint is kept under the pepper', async () => {
    const [path, body] = ['/v1/things', '{"name":"314159"}'];
    await post('', body);
    const plain = createHash('sha256').update(`4:POST${path.length}:${path}${path.length}:${path}${body}`);
    const { rows } = await pool.query<{ row: string }>('select request::text as row from idempotency.request');
    expect(rows.map(({ row }) => row).join()).not.toContain(plain.digest('hex'));
  });

  it('never includes a secret that was shown once', async () => {
    const [first, second] = [await post('/keys', null), await post('/keys', null)];
    expect(first.json).toMatchObject({ secret: SECRET });
    // What only has the name of one, inside of the object, is somebody's own.
    expect(second.json).toEqual({ object: 'api_key', secret: null, config: { args: { secret: { in: 'body' } } } });
    const { rows } = await pool.query<{ row: string }>('select request::text as row from idempotency.request');
    expect(rows.map(({ row }) => row).join()).not.toContain(SECRET);
  });
});

describe('the header', () => {
  it('is refused when it is empty, long, not printable or repeated', async () => {
    const request = (lines: string) =>
      `POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nContent-Type: application/json\r\nContent-Length: 2\r\n${lines}\r\n{}`;
    for (const lines of [
      'Idempotency-Key:\r\n',
      `Idempotency-Key: ${'x'.repeat(256)}\r\n`,
      'Idempotency-Key: \u00e9\r\n',
      'Idempotency-Key: a\r\nidempotency-key: a\r\n',
    ]) {
      const answer = await sendRaw(edge.port, request(lines));
      expect([answer.status, errorOf(answer)['code'], errorOf(answer)['param']]).toEqual([
        400,
        'idempotency_key_invalid',
        'Idempotency-Key',
      ]);
    }
    expect(runs).toBe(0);
  });

  it('is checked on a public POST and otherwise ignored', async () => {
    expect((await post('/public', null)).json).toEqual({ run: 1 });
    expect((await post('/public', null)).json).toEqual({ run: 2 });
    expect((await client.post('/v1/things/public', null, { 'Idempotency-Key': '' })).status).toBe(400);
  });

  it('may be left out: every request is its own', async () => {
    const send = () => client.post('/v1/things', '{}', bearer('agent'));
    const [first, second] = [await send(), await send()];
    expect(first.json?.['command']).not.toBe(second.json?.['command']);
    expect(runs).toBe(2);
  });
});

describe('without the database', () => {
  it('a request with a key is refused with 503 and runs nothing', async () => {
    const alone = await startEdge({ controllers: [ThingsController] });
    const { status, headers, error } = await clientOf(() => alone).post('/v1/things', '{}', {
      ...bearer('agent'),
      'Idempotency-Key': 'k',
    });
    await alone.close();
    expect([status, error['code'], headers.get('retry-after'), runs]).toEqual([503, 'service_unavailable', '1', 0]);
  });
});
