import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallOutcome, LiveConnector, TrippedBreaker } from '#libs/domain/connectors';
import { connectorDecider, connectorStreamId } from '#libs/domain/connectors';
import type { Action, LivingAction } from '#libs/domain/gate';
import { StoreUnavailable, streamOf, streamRef } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [{ name: 'pay', method: 'POST', path: '/v1/refunds', args: {} }];
const LIVE: TrippedBreaker = { reason: 'livemode_detected', upstreamRequestId: 'req_live' };
const isRecorded = (action: Action): boolean => action.state === 'recorded';

/** A store that takes no event of a connector while `isAway` is set. */
class ForgetfulStore extends MemoryEventStore {
  isAway = false;
  refused = 0;

  override async append(...args: Parameters<MemoryEventStore['append']>): ReturnType<MemoryEventStore['append']> {
    if (this.isAway && JSON.stringify(args).includes('ConnectorDisabled')) {
      this.refused += 1;
      throw new StoreUnavailable('the store is away');
    }
    return super.append(...args);
  }
}

let store: ForgetfulStore;
let upstream: Upstream;
let benches: GateBench[];

/** The driver of a process, whose answers trip the breaker. */
const tripping = (bench: GateBench): GateBench => {
  const driver = bench.gate.registry.driverOf('rest');
  if (driver === null) throw new Error('there is no REST driver');
  const send = driver.send.bind(driver);
  Object.assign(driver, {
    send: async (call: Parameters<typeof send>[0]): Promise<CallOutcome> => {
      const outcome = await send(call);
      return outcome.hasSent
        ? { ...outcome, status: 'unknown', errorCode: 'payments_livemode_detected', breaker: LIVE }
        : outcome;
    },
  });
  benches.push(bench);
  return bench;
};

beforeEach(async () => {
  [store, upstream, benches] = [new ForgetfulStore(), await startUpstream(), []];
  await tripping(new GateBench(store)).prepare(upstream.baseUrl, TOOLS);
});
afterEach(async () => {
  for (const bench of benches) bench.close();
  await upstream.close();
});

const first = (): GateBench => benches[0] as GateBench;
const ended = async (bench = first()): Promise<LivingAction> =>
  (await bench.action((await bench.submit({ tool: 'crm.pay' })).action, isRecorded)) as LivingAction;
const connector = async (): Promise<LiveConnector> =>
  (await first().streams.load(streamRef(connectorDecider, connectorStreamId(first().org, 'crm'))))
    .state as LiveConnector;
const disabled = async (): Promise<readonly object[]> =>
  (await store.readStream(streamOf('connector', connectorStreamId(first().org, 'crm'))))
    .filter(({ type }) => type === 'ConnectorDisabled')
    .map(({ data }) => JSON.parse(data) as object);

describe('an answer that trips the breaker of its connector', () => {
  it('disables it, by the system, before the outcome is recorded', async () => {
    expect(await ended()).toMatchObject({ outcome: { status: 'unknown', error_code: 'payments_livemode_detected' } });
    expect(await connector()).toMatchObject({ status: 'disabled', disabledReason: 'livemode_detected' });
    expect(await disabled()).toMatchObject([{ reason: 'livemode_detected', upstream_request_id: 'req_live' }]);
    expect(await ended()).toMatchObject({ decision: { outcome: 'deny', code: 'tool_unknown' } });
    expect(upstream.seen).toHaveLength(1);
  });

  it('disables it once, however many see it', async () => {
    const other = tripping(new GateBench(store));
    Object.assign(other, { org: first().org, agent: first().agent, key: first().key });
    await Promise.all([ended(), ended(other), ended(), ended(other)]);
    expect(await disabled()).toHaveLength(1);
  });

  it('lets the connector work again once a person has enabled it', async () => {
    await ended();
    await first().setConnector('active');
    expect(await ended()).toMatchObject({ outcome: { status: 'unknown' } });
    expect(upstream.seen).toHaveLength(2);
    expect(await disabled()).toHaveLength(2);
  });

  it('disables it with the next call where the log could not be written', async () => {
    const { breakers } = first().gate;
    store.isAway = true;
    await expect(breakers.trip(await connector(), LIVE)).rejects.toThrow('the store is away');
    expect(await ended()).toMatchObject({ outcome: { status: 'failed', error_code: 'connector_unavailable' } });
    expect(await disabled()).toHaveLength(0);
    store.isAway = false;
    expect(await ended()).toMatchObject({ outcome: { status: 'failed', error_code: 'connector_unavailable' } });
    expect(await disabled()).toMatchObject([{ reason: 'livemode_detected' }]);
    expect(upstream.seen).toHaveLength(0);
    await first().setConnector('active');
    expect(await ended()).toMatchObject({ outcome: { status: 'unknown' } });
  });

  it('holds back a request that was built before it was tripped', async () => {
    const driver = first().gate.registry.driverOf('rest');
    const send = driver?.send.bind(driver) as NonNullable<typeof driver>['send'];
    Object.assign(driver ?? {}, {
      send: async (call: Parameters<typeof send>[0]): Promise<CallOutcome> => {
        store.isAway = true;
        await first()
          .gate.breakers.trip(call.connector, LIVE)
          .catch(() => undefined);
        return send(call);
      },
    });
    expect(await ended()).toMatchObject({ outcome: { status: 'failed', error_code: 'connector_unavailable' } });
    expect(upstream.seen).toHaveLength(0);
  });

  it('keeps its process from sending more while the log does not say so', async () => {
    store.isAway = true;
    const { action } = await first().submit({ tool: 'crm.pay' });
    await expect.poll(() => store.refused).toBeGreaterThan(0);
    expect(await ended()).toMatchObject({ outcome: { status: 'failed', error_code: 'connector_unavailable' } });
    expect(upstream.seen).toHaveLength(1);
    store.isAway = false;
    expect(await first().action(action, isRecorded)).toMatchObject({ outcome: { status: 'unknown' } });
    expect(await disabled()).toHaveLength(1);
  });
});
