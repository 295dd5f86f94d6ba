import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../../../test/support/deferred.js';
import { testId } from '../../../../../test/support/given-log.js';
import type { WebhookId } from '../../kernel/index.js';
import type { ClaimTerms } from '../deliveries.port.js';
import type { ClaimedDelivery } from '../delivery.js';
import { WebhookDispatcher } from './webhook-dispatcher.js';

const [HANGING, QUICK] = [testId('whk', 1), testId('whk', 2)];

/** Endpoints with so many deliveries due, of which at most four are under way; those of `HANGING` end when they are let go. */
const dispatching = (due: ReadonlyMap<WebhookId, number>, underWayMax?: number) => {
  const left = new Map(due);
  const underWay = new Map<WebhookId, number>();
  const sent: WebhookId[] = [];
  const letGo = deferred();
  const faults: unknown[] = [];
  let number = 0;
  const claim = (webhook: WebhookId, { limit }: ClaimTerms): Promise<readonly ClaimedDelivery[]> => {
    const free = Math.min(limit, 4 - (underWay.get(webhook) ?? 0), left.get(webhook) ?? 0);
    left.set(webhook, (left.get(webhook) ?? 0) - free);
    underWay.set(webhook, (underWay.get(webhook) ?? 0) + free);
    const claimed = Array.from({ length: free }, () => ({ webhook, event: testId('evt', (number += 1)) }));
    return Promise.resolve(claimed as unknown as readonly ClaimedDelivery[]);
  };
  const send = async ({ webhook }: ClaimedDelivery): Promise<void> => {
    sent.push(webhook);
    if (webhook === HANGING) await letGo.promise;
    underWay.set(webhook, (underWay.get(webhook) ?? 0) - 1);
  };
  const termsOf = (limit: number) => ({ limit }) as ClaimTerms;
  const watch = { met: (error: unknown) => void faults.push(error), over: () => undefined };
  const dispatcher = new WebhookDispatcher({ send, termsOf }, { claim }, watch, underWayMax);
  return { dispatcher, sent, letGo, faults, left };
};
const settled = async (): Promise<void> => {
  for (let round = 0; round < 20; round += 1) await turn();
};

describe('the dispatcher', () => {
  it('goes on with an endpoint until nothing is due to it, rung once', async () => {
    const { dispatcher, sent } = dispatching(new Map([[QUICK, 11]]));
    dispatcher.ring(QUICK);
    await dispatcher.idle();
    expect(sent).toHaveLength(11);
  });

  it('keeps one endpoint waiting for no other that hangs', async () => {
    const { dispatcher, sent, letGo } = dispatching(
      new Map([
        [HANGING, 20],
        [QUICK, 20],
      ]),
    );
    dispatcher.ring(HANGING);
    dispatcher.ring(QUICK);
    await settled();
    expect(sent.filter((webhook) => webhook === QUICK)).toHaveLength(20);
    expect(sent.filter((webhook) => webhook === HANGING)).toHaveLength(4);
    letGo.resolve();
    await dispatcher.idle();
    expect(sent).toHaveLength(40);
  });

  it('has no more under way than it may, and gives the next place to whoever waits longest', async () => {
    const { dispatcher, sent, letGo } = dispatching(
      new Map([
        [HANGING, 8],
        [QUICK, 1],
      ]),
      4,
    );
    dispatcher.ring(HANGING);
    await settled();
    dispatcher.ring(QUICK);
    await settled();
    expect(sent).toEqual([HANGING, HANGING, HANGING, HANGING]);
    letGo.resolve();
    await dispatcher.idle();
    expect(sent.indexOf(QUICK)).toBe(4);
    expect(sent).toHaveLength(9);
  });

  it('takes up nothing more once it is closed, and ends with what is under way', async () => {
    const { dispatcher, sent, letGo } = dispatching(new Map([[HANGING, 20]]));
    dispatcher.ring(HANGING);
    await settled();
    dispatcher.close();
    letGo.resolve();
    await dispatcher.idle();
    dispatcher.ring(HANGING);
    await dispatcher.idle();
    expect(sent).toHaveLength(4);
  });

  it('tells of a claim that fails, and goes on', async () => {
    const faults: unknown[] = [];
    let claims = 0;
    const claim = (): Promise<readonly ClaimedDelivery[]> => {
      claims += 1;
      return claims === 1 ? Promise.reject(new Error('no database')) : Promise.resolve([]);
    };
    const watch = { met: (error: unknown) => void faults.push(error), over: () => undefined };
    const sender = { send: () => Promise.resolve(), termsOf: () => ({}) as ClaimTerms };
    const dispatcher = new WebhookDispatcher(sender, { claim }, watch);
    dispatcher.ring(QUICK);
    await dispatcher.idle();
    dispatcher.ring(QUICK);
    await dispatcher.idle();
    expect([faults.length, claims]).toEqual([1, 2]);
  });
});
