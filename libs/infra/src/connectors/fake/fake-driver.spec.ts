import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { type ConnectorCall, type LiveConnector, readConfig } from '#libs/domain/connectors';
import { idOf } from '#libs/domain/kernel';
import { SystemClock } from '#libs/infra/runtime';
import { FakeDriver } from './fake-driver.js';

const clock = new SystemClock();
const driver = new FakeDriver({ clock });
const connectorOf = (config: JsonObject): LiveConnector =>
  ({ type: 'fake', config: readConfig('fake', config, { isProduction: false }).config }) as LiveConnector;

const send = (toolName: string, config: JsonObject = {}, changes: Partial<ConnectorCall> = {}) =>
  driver.send({
    ...{ org: idOf('org', randomBytes(16)), action: idOf('act', randomBytes(16)), agent: idOf('agt', randomBytes(16)) },
    ...{ connector: connectorOf(config), toolName, args: { note: 'hello' }, attempt: 1, traceparent: null },
    deadlineMonotonicMs: clock.monotonicMs() + 10_000,
    mayStillSend: () => Promise.resolve(null),
    recordProgress: () => Promise.resolve(null),
    ...changes,
  });

describe('a fake connector', () => {
  it('has a tool of each side effect, and no other', () => {
    const tools = driver.toolsOf(connectorOf({}));
    expect(tools.map(({ name, sideEffect }) => [name, sideEffect])).toEqual([
      ['read', 'read'],
      ['write', 'write'],
      ['destroy', 'destructive'],
    ]);
    expect(driver.toolOf(connectorOf({}), 'reads')).toBeNull();
  });

  it.each([
    ['succeeded', null],
    ['failed', 'upstream_error'],
    ['unknown', 'upstream_error'],
  ] as const)('ends each call as its config says: %s', async (outcome, errorCode) => {
    expect(await send('write', { outcome })).toMatchObject({ status: outcome, errorCode, retryAfterMs: null });
  });

  it('gives back what it was told', async () => {
    const { result } = await send('write');
    expect(JSON.parse(result ?? '')).toEqual({ status: 200, headers: {}, body: { did: 'write', note: 'hello' } });
  });

  it('does nothing where it may not, or its arguments do not fit', async () => {
    const held = await send('write', {}, { mayStillSend: () => Promise.resolve('agent_stopped') });
    expect(held).toMatchObject({ status: 'failed', errorCode: 'agent_stopped', hasSent: false });
    const unfit = await send('write', {}, { args: { note: 'x'.repeat(201) } });
    expect(unfit).toMatchObject({ status: 'failed', errorCode: 'validation_failed', hasSent: false });
  });

  it('waits as long as it is told, and no longer than a call may take', async () => {
    const before = clock.monotonicMs();
    const ended = await send('write', { delay_ms: 30_000 }, { deadlineMonotonicMs: before + 20 });
    expect(ended).toMatchObject({ status: 'unknown', errorCode: 'timeout' });
  });
});

describe('its config', () => {
  it.each<[JsonObject, string]>([
    [{ outcome: 'perhaps' }, 'config.outcome'],
    [{ delay_ms: -1 }, 'config.delay_ms'],
    [{ delay_ms: 30_001 }, 'config.delay_ms'],
    [{ url: 'https://example.com' }, 'config.url'],
  ])('%j is refused', (config, param) => {
    expect(() => connectorOf(config)).toThrow(expect.objectContaining({ code: 'validation_failed', param }) as Error);
  });
});
