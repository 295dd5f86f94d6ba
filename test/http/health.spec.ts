import { Controller, Get } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HealthCheck } from '../../apps/api/src/health/health-check.js';
import { HealthModule } from '../../apps/api/src/health/health.module.js';
import { Exchange } from '../../apps/api/src/http/exchange.js';
import { RequestContext } from '../../apps/api/src/http/parameters.js';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { PinoLogger } from '#libs/infra/logging';
import { clientOf, eventually } from './edge-client.js';
import { startEdge, TestClock, type TestEdge } from './edge-harness.js';
import { RawConnection } from './raw-http.js';

/** What each thing says of itself, and how often it was asked. */
const states: Record<string, 'ok' | 'degraded' | Error | 'silent'> = {};
let asked = 0;

const check = (name: string): HealthCheck => ({
  name,
  ...(name === 'database' ? { isVital: true } : {}),
  check: async () => {
    asked += 1;
    const state = states[name] ?? 'ok';
    if (state instanceof Error) throw state;
    return state === 'silent' ? new Promise(() => undefined) : state;
  },
});

const waiting: (() => void)[] = [];

@Controller('v1')
class WorkController {
  @Get('work')
  @Route({ auth: 'public', since: '2026-10-01' })
  async work() {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { done: true };
  }

  @Get('poll')
  @Route({ auth: 'public', since: '2026-10-01' })
  async poll(@RequestContext() exchange: Exchange) {
    waiting.push(() => undefined);
    await new Promise<void>((resolve) => exchange.waitingOver.addEventListener('abort', () => resolve()));
    return { done: true };
  }
}

let edge: TestEdge;
const { get } = clientOf(() => edge);
const clock = new TestClock();
const lines: Record<string, unknown>[] = [];

beforeEach(async () => {
  for (const name of Object.keys(states)) delete states[name];
  asked = 0;
  waiting.length = 0;
  lines.length = 0;
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  const logger = new PinoLogger({ level: 'info', format: 'json', destination });
  edge = await startEdge({
    controllers: [WorkController],
    imports: [
      HealthModule.forRoot({
        checks: [check('database'), check('projections')],
        clock,
        logger,
        docsUrl: 'https://docs.example/ags',
      }),
    ],
  });
});
afterEach(async () => edge.close());

describe('GET /v1/health', () => {
  it('says ok with the status of each check', async () => {
    const { status, json } = await get('/v1/health');
    expect([status, json]).toEqual([
      200,
      { object: 'health', status: 'ok', checks: { database: 'ok', projections: 'ok' } },
    ]);
  });

  it('says degraded with 200', async () => {
    states['projections'] = 'degraded';
    const { status, json } = await get('/v1/health');
    expect([status, json?.['status'], json?.['checks']]).toEqual([
      200,
      'degraded',
      { database: 'ok', projections: 'degraded' },
    ]);
  });

  it('says down with 503 when a check fails, and why only in the log', async () => {
    states['database'] = new Error('postgres://ags:canary@db refused');
    const { status, headers, json, text } = await get('/v1/health');
    expect([status, headers.get('retry-after'), json?.['status']]).toEqual([503, '1', 'down']);
    expect(text).not.toContain('refused');
    expect(lines).toEqual([
      expect.objectContaining({ level: 'error', message: 'health check failed', check: 'database' }),
    ]);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  it('does not wait for a check that never answers', async () => {
    states['database'] = 'silent';
    expect((await get('/v1/health')).json).toMatchObject({
      status: 'down',
      checks: { database: 'down', projections: 'ok' },
    });
    expect(JSON.stringify(lines)).toContain('no answer within');
    expect(JSON.stringify(lines)).not.toContain('stack');
  });

  it('says degraded where what is not vital cannot be told', async () => {
    states['projections'] = new Error('gone');
    const { status, json } = await get('/v1/health');
    expect([status, json?.['checks']]).toEqual([200, { database: 'ok', projections: 'degraded' }]);
    expect(lines).toEqual([expect.objectContaining({ message: 'health check failed', check: 'projections' })]);
  });

  it('asks once a second at most, whoever comes', async () => {
    clock.stop();
    await Promise.all(Array.from({ length: 50 }, () => get('/v1/health')));
    expect(asked).toBe(2);
    clock.advance(1_000);
    states['database'] = new Error('gone');
    expect((await get('/v1/health')).status).toBe(503);
    expect(asked).toBe(4);
  });

  it('is never stored by a cache', async () => {
    expect((await get('/v1/health')).headers.get('cache-control')).toBe('no-store');
  });
});

describe('GET /v1/version', () => {
  it('says what was built, on what it runs and what it serves', async () => {
    const { status, json } = await get('/v1/version');
    expect(status).toBe(200);
    expect(json).toEqual({
      object: 'version',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      commit: expect.stringMatching(/^([0-9a-f]{40}|unknown)$/),
      built_at: json?.['built_at'] === null ? null : expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      node: process.version,
      api_versions: ['2026-10-01'],
      default_api_version: '2026-10-01',
      docs_url: 'https://docs.example/ags',
    });
  });
});

describe('draining', () => {
  it('serves on once it is announced, and sends whoever comes elsewhere from the next time', async () => {
    edge.edge.drain.announce();
    const health = await get('/v1/health');
    expect([health.status, health.json?.['status']]).toEqual([503, 'draining']);
    const served = await get('/v1/version');
    expect([served.status, served.headers.get('connection')]).toEqual([200, 'close']);
    const polling = get('/v1/poll');
    await eventually(() => waiting.length).toBe(1);
    expect(await edge.edge.drain.drain(30_000)).toBe(true);
    expect((await polling).json).toEqual({ done: true });
    expect((await get('/v1/version')).status).toBe(503);
  });

  it('refuses new work with 503, says so in health, and lets what is under way finish', async () => {
    const working = get('/v1/work');
    await eventually(() => waiting.length).toBe(1);
    const drained = edge.edge.drain.drain(30_000);
    const refused = await get('/v1/version');
    expect([
      refused.status,
      refused.error['code'],
      refused.headers.get('retry-after'),
      refused.headers.get('connection'),
    ]).toEqual([503, 'service_unavailable', '1', 'close']);
    expect((await get('/nothing')).status).toBe(503);
    // An operator who stops a service is not told that it failed.
    expect(edge.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
    expect(edge.lines.filter(({ message }) => message === 'request refused, shutting down')).toHaveLength(2);
    const health = await get('/v1/health');
    expect([health.status, health.json?.['status'], health.headers.get('connection')]).toEqual([
      503,
      'draining',
      'close',
    ]);
    expect(health.headers.get('service-version')).toBe('2026-10-01');
    waiting.pop()?.();
    expect((await working).json).toEqual({ done: true });
    expect(await drained).toBe(true);
  });

  it('ends waits, so that a long poll holds nobody up', async () => {
    const polling = get('/v1/poll');
    await eventually(() => waiting.length).toBe(1);
    expect(await edge.edge.drain.drain(30_000)).toBe(true);
    expect((await polling).json).toEqual({ done: true });
  });

  it('gives up when its grace is over', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send('GET /v1/work HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => waiting.length).toBe(1);
    expect(await edge.edge.drain.drain(20)).toBe(false);
    waiting.pop()?.();
    expect((await connection.answer()).headers.get('connection')).toEqual(['close']);
    connection.close();
  });
});
