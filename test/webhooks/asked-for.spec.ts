import { DeleteWebhook } from '#libs/domain/webhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DELIVERIES_KEPT_MS } from '#libs/infra/webhooks';
import { undescribedBy } from '../http/described-answer.js';
import { HOOK_ORG, ok, refused, type WebhookProcess, WebhookScene } from '../support/webhook-scene.js';

const HOUR_MS = 3_600_000;

let scene: WebhookScene;
let worker: WebhookProcess;

beforeAll(async () => {
  scene = await WebhookScene.start();
});
afterAll(() => scene.close());
beforeEach(async () => {
  worker = scene.process();
  scene.answer = ok;
  for (const { id } of await worker.endpoints.list(HOOK_ORG)) {
    await worker.commands.execute(new DeleteWebhook(HOOK_ORG, id, scene.metadata()));
  }
  await scene.fold(worker);
});

const heardSince = (index: number) => scene.receiver.requests.slice(index);
const oneDelivery = async (webhook: Parameters<typeof scene.deliveriesOf>[1]) => {
  const [delivery, ...others] = await scene.deliveriesOf(worker, webhook);
  expect(others).toEqual([]);
  return delivery;
};

describe('a test', () => {
  it('is sent whatever the endpoint is subscribed to, and answers with what came of it', async () => {
    const { webhook } = await scene.endpoint(worker, { events: ['deed.sealed'] });
    const before = scene.receiver.requests.length;
    const metadata = scene.metadata();
    expect(await worker.asked.test(HOOK_ORG, webhook.id, metadata)).toMatchObject({
      type: 'webhook.test',
      status: 'delivered',
      httpStatus: 204,
      attempt: 1,
    });
    const sent: unknown = JSON.parse(heardSince(before)[0]?.body ?? '');
    expect([sent, undescribedBy('Event', sent)]).toEqual([
      expect.objectContaining({
        type: 'webhook.test',
        data: { object: { object: 'webhook', id: webhook.id, status: 'active' } },
      }),
      [],
    ]);
    // A retried request is answered with the same test.
    await worker.asked.test(HOOK_ORG, webhook.id, metadata);
    expect(heardSince(before)).toHaveLength(1);
    scene.answer = refused;
    expect(await worker.asked.test(HOOK_ORG, webhook.id, scene.metadata())).toMatchObject({
      status: 'dead',
      httpStatus: 500,
      attempt: 1,
    });
    expect(await worker.asked.failingSince([webhook])).toEqual([null]);
  });

  it('is refused while four deliveries are under way', async () => {
    const { webhook } = await scene.endpoint(worker);
    for (let count = 0; count < 4; count += 1) await scene.happen();
    await scene.fold(worker);
    await worker.deliveries.claim(webhook.id, worker.sender.termsOf(4));
    await expect(worker.asked.test(HOOK_ORG, webhook.id, scene.metadata())).rejects.toMatchObject({
      code: 'rate_limited',
    });
  });
});

describe('a delivery that is asked for again', () => {
  it('begins anew where it was over, and goes on at once where it waits', async () => {
    const { webhook } = await scene.endpoint(worker);
    const evt = await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    expect(await worker.asked.redeliver(HOOK_ORG, webhook.id, evt)).toMatchObject({ status: 'pending', attempt: 0 });
    scene.answer = refused;
    await scene.send(worker);
    expect(await oneDelivery(webhook)).toMatchObject({ status: 'retrying', attempt: 1 });
    expect(await worker.asked.redeliver(HOOK_ORG, webhook.id, evt)).toMatchObject({
      status: 'retrying',
      attempt: 1,
      nextAttemptAt: new Date(scene.clock.ms).toISOString(),
    });
    scene.answer = ok;
    await scene.send(worker);
    expect(await oneDelivery(webhook)).toMatchObject({ status: 'delivered', attempt: 2 });
  });
});

describe('what waits for its first attempt', () => {
  it('tells since when, and is dead after eight days', async () => {
    const { webhook } = await scene.endpoint(worker);
    expect(await worker.asked.waitingSince([webhook])).toEqual([null]);
    const firstAt = new Date(scene.clock.ms).toISOString();
    await scene.happen();
    await scene.fold(worker);
    scene.clock.ms += HOUR_MS;
    await scene.happen();
    await scene.fold(worker);
    expect(await worker.asked.waitingSince([webhook])).toEqual([firstAt]);
    const endStale = (ms: number): Promise<number> => {
      scene.clock.ms += ms;
      return worker.deliveries.endStale(scene.clock.ms - DELIVERIES_KEPT_MS, scene.clock.ms);
    };
    expect(await endStale(DELIVERIES_KEPT_MS - HOUR_MS)).toBe(0);
    expect(await endStale(1)).toBe(1);
    const states = (await scene.deliveriesOf(worker, webhook)).map(({ status, attempt }) => `${status} ${attempt}`);
    expect(states).toEqual(['pending 0', 'dead 0']);
    const { rows } = await worker.deliveries.page(webhook.id, { limit: 10, after: null, statuses: ['dead'] });
    expect(rows).toMatchObject([{ createdAt: firstAt, status: 'dead', deliveredAt: null }]);
    await scene.send(worker);
    expect(await worker.asked.waitingSince([webhook])).toEqual([null]);
  });
});
