import { PassThrough } from 'node:stream';
import { DomainError, orgChannel, StoreUnavailable } from '#libs/domain/kernel';
import { CallEnd } from '#libs/infra/runtime';
import { InProcessBus, SystemClock } from '#libs/infra/runtime';
import type { FastifyReply } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testId } from '../../../../test/support/given-log.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import type { Exchange } from '../http/exchange.js';
import { EventFeed } from './event-feed.js';
import { EventFilter } from './event-filter.js';
import type { EventReader } from './event-reader.js';
import { EventStreams } from './event-streams.js';

const ORG = testId('org', 1);
const reply = { hijack: () => undefined } as unknown as FastifyReply;
const request = { filter: new EventFilter(null, null, null), cursor: null };

let bus: InProcessBus;
let streams: EventStreams;
let feedOf: ReturnType<typeof vi.fn<() => Promise<EventFeed>>>;
let written: string;
let response: PassThrough;
let drain: CallEnd;
let stillAllowed: ReturnType<typeof vi.fn<() => Promise<void>>>;

beforeEach(() => {
  bus = new InProcessBus(silentLogger);
  feedOf = vi.fn(() => Promise.resolve(new EventFeed(0n, 0)));
  streams = new EventStreams({ feedOf, instance: 'abc' } as unknown as EventReader, bus, new SystemClock());
  [written, response, drain] = ['', new PassThrough(), new CallEnd()];
  response.on('data', (chunk: Buffer) => (written += chunk.toString()));
  stillAllowed = vi.fn(() => Promise.resolve());
});
afterEach(() => {
  response.destroy();
});

const begin = (): Promise<void> => {
  const head = Object.assign(response, { writeHead: () => undefined, flushHeaders: () => undefined });
  const caller = { kind: 'admin_key', org: ORG, key: testId('key', 1) };
  const exchange = {
    request: { method: 'GET' },
    response: head,
    caller,
    waitingOver: drain,
    stillAllowed: () => stillAllowed(),
    stillAllowedIfOld: () => Promise.resolve(),
  };
  return streams.begin(exchange as unknown as Exchange, reply, request);
};
const types = (): readonly string[] => [...written.matchAll(/^event: (\S+)$/gm)].map(([, type]) => type as string);

describe('an open stream', () => {
  it('is told at once that its credential ended while it was opened: no bell rings for that any more', async () => {
    stillAllowed.mockRejectedValue(new DomainError('api_key_revoked'));
    await begin();
    await vi.waitFor(() => expect(types()).toEqual(['hello', 'session_ended']), { timeout: 20_000 });
    expect(response.writableEnded).toBe(true);
  });

  it('goes on while the store does not say whether its credential holds, and asks at the next bell', async () => {
    stillAllowed.mockRejectedValueOnce(new StoreUnavailable('away'));
    await begin();
    await vi.waitFor(() => expect(stillAllowed).toHaveBeenCalledTimes(1), { timeout: 20_000 });
    expect([types(), response.writableEnded]).toEqual([['hello'], false]);
    stillAllowed.mockRejectedValueOnce(new DomainError('org_stopped'));
    bus.publish(orgChannel(ORG), 'organization');
    await vi.waitFor(() => expect(types()).toEqual(['hello', 'session_ended']), { timeout: 20_000 });
  });

  it('ends with a drain, also with one that began while it was opened', async () => {
    drain.abort();
    await begin();
    await vi.waitFor(() => expect(response.writableEnded).toBe(true), { timeout: 20_000 });
    expect(types()).toEqual(['hello']);
  });

  it('that could not be begun takes no place', async () => {
    feedOf.mockRejectedValueOnce(new StoreUnavailable('away'));
    await expect(begin()).rejects.toThrow(StoreUnavailable);
    for (let count = 0; count < 8; count += 1) await begin();
    await expect(begin()).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 });
  });
});
