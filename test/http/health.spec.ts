import { Controller, Get } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { appendEvents, START, timestampOf } from '#libs/domain/kernel';
import { LedgerTails, UnsealedEvents } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import {
  type HealthCheck,
  projectionsCheck,
  sealingCheck,
  type SealingSource,
} from '../../apps/api/src/health/health-check.js';
import { HealthModule } from '../../apps/api/src/health/health.module.js';
import { Exchange } from '../../apps/api/src/http/exchange.js';
import { RequestContext } from '../../apps/api/src/http/parameters.js';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { PinoLogger } from '#libs/infra/logging';
import { metadataAt } from '../support/given.js';
import { HeldProgress, LedgerBench, newOrg, SetClock } from '../support/ledger-fixtures.js';
import { newEvent } from '../support/new-event.js';
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
    imports: [HealthModule.forRoot({ checks: [check('database'), check('projections')], clock, logger })],
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
    });
  });
});

/** A log that grows at the times of a clock that stands still. */
class GrowingLog {
  readonly clock = new TestClock();
  readonly store = new MemoryEventStore();
  /** What was read of it, by the number of events asked for. */
  readonly reads: number[] = [];
  private revision = -1;

  constructor() {
    this.clock.stop();
    const readAll = this.store.readAll.bind(this.store);
    vi.spyOn(this.store, 'readAll').mockImplementation(async (after, limit) => {
      this.reads.push(limit);
      return readAll(after, limit);
    });
  }

  /** @param head where it ends after that long */
  async grow(byMs: number, head: bigint): Promise<void> {
    this.clock.advance(byMs);
    const metadata = { ...metadataAt(timestampOf(this.clock.nowMs())), org: null };
    while ((await this.store.head()) < head) {
      const expected = this.revision < 0 ? 'no_stream' : this.revision;
      await appendEvents(this.store, 'user-one', expected, [{ type: 'PersonCreated', data: {} }], metadata);
      this.revision += 1;
    }
  }
}

describe('the projections check', () => {
  let log: GrowingLog;
  let reached: bigint;
  beforeEach(() => {
    log = new GrowingLog();
  });
  const checkOf = ({ store, clock: time }: GrowingLog) =>
    projectionsCheck({ store, projected: async () => reached, patienceMs: 2_000, clock: time });

  it('is degraded only when what was there two seconds ago has not been reached', async () => {
    const projections = checkOf(log);
    const next = async (byMs: number, to: { head: bigint; reached: bigint }) => {
      await log.grow(byMs, to.head);
      ({ reached } = to);
      return projections.check();
    };
    expect(await next(0, { head: 5n, reached: 5n })).toBe('ok');
    expect(await next(1_000, { head: 100n, reached: 5n })).toBe('ok');
    // Always something on the way, but never for long.
    expect(await next(2_500, { head: 200n, reached: 150n })).toBe('ok');
    expect(await next(2_500, { head: 300n, reached: 250n })).toBe('ok');
    expect(await next(2_500, { head: 300n, reached: 299n })).toBe('degraded');
    expect(await next(100, { head: 300n, reached: 300n })).toBe('ok');
  });

  it('is degraded where they have reached what the log does not hold', async () => {
    await log.grow(0, 5n);
    reached = 6n;
    expect(await checkOf(log).check()).toBe('degraded');
    reached = 5n;
    expect(await checkOf(log).check()).toBe('ok');
  });

  it('says so at its first answer, and reads one event for it, once', async () => {
    await log.grow(0, 5n);
    await log.grow(2_000, 9n);
    reached = 5n;
    expect(await checkOf(log).check()).toBe('ok');
    reached = 4n;
    const projections = checkOf(log);
    log.reads.length = 0;
    expect([await projections.check(), await projections.check()]).toEqual(['degraded', 'degraded']);
    expect(log.reads).toEqual([1]);
  });

  it('is ok of a log in which nothing happens, and of an empty one, without a read', async () => {
    reached = START;
    expect(await checkOf(log).check()).toBe('ok');
    await log.grow(0, 5n);
    reached = 5n;
    await log.grow(3_600_000, 5n);
    expect(await checkOf(log).check()).toBe('ok');
    expect(log.reads).toEqual([]);
  });
});

describe('the sealing check', () => {
  const LIMIT_MS = 10_000;
  let bench: LedgerBench;
  let progress: HeldProgress;
  beforeEach(async () => {
    bench = new LedgerBench(new MemoryEventStore(new SetClock()));
    await bench.activateKey();
    progress = new HeldProgress();
  });
  const unsealed = () => new UnsealedEvents(bench.store, progress, new LedgerTails(bench.store));
  const checkWith = (source: Partial<SealingSource> = {}) =>
    sealingCheck({
      hasActiveKey: async () => true,
      parked: async () => [],
      head: () => bench.store.head(),
      unsealed: unsealed(),
      patienceMs: LIMIT_MS,
      clock: bench.clock,
      ...source,
    });

  it('is degraded where nobody seals what has been waiting for a while', async () => {
    const sealing = checkWith();
    expect(await sealing.check()).toBe('ok');
    await bench.recordAction(newOrg());
    expect(await sealing.check()).toBe('ok');
    bench.clock.ms += LIMIT_MS - 1;
    expect(await sealing.check()).toBe('ok');
    bench.clock.ms += 1;
    expect(await sealing.check()).toBe('degraded');
    await bench.feed(bench.sealer(), await bench.log());
    expect(await sealing.check()).toBe('ok');
  });

  it('says so at its first answer', async () => {
    await bench.recordAction(newOrg(), 'executed');
    bench.clock.ms += LIMIT_MS - 1;
    expect(await checkWith().check()).toBe('ok');
    bench.clock.ms += 1;
    expect(await checkWith().check()).toBe('degraded');
  });

  it('goes by when it saw the log grow, where clocks differ', async () => {
    const sealing = checkWith();
    await sealing.check();
    // Of one whose clock is behind, and of one whose clock is ahead.
    bench.clock.ms += 60_000;
    await sealing.check();
    await bench.recordAction(newOrg());
    expect([await sealing.check(), await checkWith().check()]).toEqual(['ok', 'degraded']);
    bench.clock.ms -= 120_000;
    const ahead = checkWith();
    expect(await ahead.check()).toBe('ok');
    bench.clock.ms += LIMIT_MS;
    expect(await ahead.check()).toBe('degraded');
  });

  it('is degraded where nobody is sealed past an event that does not say whose it is', async () => {
    const foreign = {
      stream: 'orders-1',
      expectedRevision: 'no_stream' as const,
      events: [newEvent({ metadata: '' })],
    };
    await bench.store.append(foreign);
    bench.clock.ms += LIMIT_MS;
    expect(await checkWith().check()).toBe('degraded');
  });

  it('is degraded where more waits to be looked at than there is time for, until it was', async () => {
    await bench.recordAction(newOrg());
    await bench.feed(bench.sealer(), await bench.log());
    bench.clock.ms += LIMIT_MS;
    const sealing = checkWith();
    // Each event takes a second.
    const monotonicMs = vi.spyOn(bench.clock, 'monotonicMs').mockImplementation(() => (bench.clock.ms += 1_000));
    expect(await sealing.check()).toBe('degraded');
    monotonicMs.mockRestore();
    expect(await sealing.check()).toBe('ok');
  });

  it.each([
    ['no seal key is active', { hasActiveKey: async () => false }],
    ['an organization is parked', { parked: async () => ['org'] }],
  ])('is degraded where %s', async (_, source) => {
    expect(await checkWith().check()).toBe('ok');
    expect(await checkWith(source).check()).toBe('degraded');
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
