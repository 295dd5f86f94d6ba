import { DeleteWebhook, RollWebhookSecret } from '#libs/domain/webhooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import Stripe from 'stripe';
import { RETRY_DELAYS_MS } from '../../libs/domain/src/webhooks/delivery-attempts.js';
import {
  headerOf,
  HOOK_ORG,
  ok,
  refused,
  signatureOf,
  type WebhookProcess,
  WebhookScene,
} from '../support/webhook-scene.js';
import { undescribedBy } from '../http/described-answer.js';
import { DELIVERIES_KEPT_MS } from '#libs/infra/webhooks';
import { httpAnswer } from '../support/raw-upstream.js';

const HOUR_MS = 3_600_000;

let scene: WebhookScene;
let worker: WebhookProcess;

beforeAll(async () => {
  scene = await WebhookScene.start({ settings: { timeoutMs: 300 } });
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

describe('a delivery', () => {
  it('is the event object, with its headers, signed over its raw bytes (rule HOOK-3)', async () => {
    const { webhook, secret } = await scene.endpoint(worker);
    const evt = await scene.happen();
    const before = scene.receiver.requests.length;
    expect(await scene.fold(worker)).toEqual([webhook.id]);
    await scene.send(worker);
    const [request, ...others] = heardSince(before);
    if (!request) throw new Error('nothing was sent');
    expect(others).toEqual([]);
    expect(request.head).toMatch(/^POST \/hooks HTTP\/1\.1/);
    expect({
      type: headerOf(request, 'Content-Type'),
      agent: headerOf(request, 'User-Agent'),
      event: headerOf(request, 'Service-Event-Id'),
      kind: headerOf(request, 'Service-Event-Type'),
      webhook: headerOf(request, 'Service-Webhook-Id'),
    }).toEqual({
      type: 'application/json',
      agent: 'Service-Webhooks/1.0',
      event: evt,
      kind: expect.stringMatching(/^org\./),
      webhook: webhook.id,
    });
    expect(headerOf(request, 'Service-Signature')).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
    expect(headerOf(request, 'Service-Signature')).toBe(signatureOf(request, secret));
    expect(JSON.parse(request.body)).toEqual({
      object: 'event',
      id: evt,
      type: headerOf(request, 'Service-Event-Type'),
      api_version: '2026-10-01',
      created_at: expect.stringMatching(/Z$/),
      livemode: true,
      org: HOOK_ORG,
      data: { object: { object: 'organization', id: HOOK_ORG, status: expect.any(String) } },
    });
    expect(undescribedBy('Event', JSON.parse(request.body))).toEqual([]);
    expect(await oneDelivery(webhook)).toMatchObject({
      event: evt,
      status: 'delivered',
      attempt: 1,
      httpStatus: 204,
      errorCode: null,
      nextAttemptAt: null,
    });
  });

  it('passes the verifier of the stripe SDK, with either secret while a roll overlaps', async () => {
    const { webhook, secret } = await scene.endpoint(worker);
    const rolled = await worker.commands.execute(new RollWebhookSecret(HOOK_ORG, webhook.id, 3_600, scene.metadata()));
    await scene.happen();
    const before = scene.receiver.requests.length;
    await scene.fold(worker);
    await scene.send(worker);
    const [request] = heardSince(before);
    if (!request) throw new Error('nothing was sent');
    const header = headerOf(request, 'Service-Signature');
    expect(header).toMatch(/^t=\d{10},v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    const seconds = Math.floor(scene.clock.ms / 1000);
    const { webhooks } = new Stripe('sk_test_unused');
    for (const each of [secret, String(rolled.secret)]) {
      const verified = webhooks.constructEvent(request.body, header, each, 300, undefined, seconds * 1000);
      expect(verified.id).toBe(headerOf(request, 'Service-Event-Id'));
    }
    expect(() => webhooks.constructEvent(request.body, header, `${secret}x`, 300, undefined, seconds * 1000)).toThrow();
    expect(() =>
      webhooks.constructEvent(request.body, header, secret, 300, undefined, (seconds + 301) * 1000),
    ).toThrow();
    scene.clock.ms += HOUR_MS;
    const again = scene.receiver.requests.length;
    await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    expect(headerOf(heardSince(again)[0] ?? request, 'Service-Signature')).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
  });

  it('goes to whoever was subscribed when it happened, and to nobody else', async () => {
    const { webhook: early } = await scene.endpoint(worker);
    const { webhook: other } = await scene.endpoint(worker, { events: ['deed.sealed', 'agent.*'] });
    const evt = await scene.happen();
    const { webhook: late } = await scene.endpoint(worker);
    await scene.fold(worker);
    for (const [webhook, events] of [
      [early, [evt]],
      [other, []],
      [late, []],
    ] as const) {
      expect((await scene.deliveriesOf(worker, webhook)).map(({ event }) => event)).toEqual(events);
    }
  });

  it('is made once, however often its event is folded', async () => {
    const { webhook } = await scene.endpoint(worker);
    await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    const heard = scene.receiver.requests.length;
    // As after the log has moved to another store.
    await scene.pool.query(`update webhooks.checkpoint set store_id = 'another'`);
    await scene.fold(scene.process());
    await scene.send(worker);
    expect(await oneDelivery(webhook)).toMatchObject({ status: 'delivered' });
    expect(scene.receiver.requests).toHaveLength(heard);
  });
});

describe('what is folded once more', () => {
  it('is not sent again where it is so old that its delivery is kept no more', async () => {
    const { webhook } = await scene.endpoint(worker);
    await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    scene.clock.ms += 9 * 24 * HOUR_MS;
    expect(await worker.deliveries.removeEnded(scene.clock.ms - DELIVERIES_KEPT_MS)).toBeGreaterThan(0);
    const recent = await scene.happen();
    await scene.pool.query(`update webhooks.checkpoint set store_id = 'another'`);
    await scene.fold(scene.process());
    expect((await scene.deliveriesOf(worker, webhook)).map(({ event }) => event)).toEqual([recent]);
    // And from then on, also after another start.
    await scene.fold(scene.process());
    expect(await scene.deliveriesOf(worker, webhook)).toHaveLength(1);
  });

  it('goes to the endpoints as they were then, also when they are gone by now', async () => {
    const { webhook } = await scene.endpoint(worker);
    const { rows } = await scene.pool.query<{ seq: string }>(`select seq from webhooks.checkpoint`);
    const evt = await scene.happen();
    await scene.fold(worker);
    await worker.commands.execute(new DeleteWebhook(HOOK_ORG, webhook.id, scene.metadata()));
    await scene.happen();
    await scene.fold(worker);
    // As if none of it had been written.
    await scene.pool.query(`delete from webhooks.deliveries where webhook = $1`, [webhook.id]);
    await scene.pool.query(`update webhooks.checkpoint set seq = $1`, [rows[0]?.seq]);
    await scene.fold(worker);
    expect((await scene.deliveriesOf(worker, webhook)).map(({ event }) => event)).toEqual([evt]);
  });
});

describe('a receiver that', () => {
  const attempt = async () => {
    const { webhook } = await scene.endpoint(worker);
    await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    return oneDelivery(webhook);
  };

  it.each<[string, typeof ok, object]>([
    ['fails', refused, { status: 'retrying', httpStatus: 500, errorCode: 'upstream_error' }],
    ['limits', () => httpAnswer(429), { status: 'retrying', httpStatus: 429, errorCode: 'upstream_rate_limited' }],
    ['is gone', () => httpAnswer(410), { status: 'retrying', httpStatus: 410, errorCode: 'upstream_error' }],
    ['hangs', () => null, { status: 'retrying', httpStatus: null, errorCode: 'timeout' }],
    [
      'closes',
      ({ socket }) => {
        socket.destroy();
        return null;
      },
      { status: 'retrying', httpStatus: null, errorCode: 'upstream_error' },
    ],
    [
      'drips',
      ({ socket }) => {
        socket.write('HTTP/1.1 200 Said\r\nContent-Length: 1000000\r\n\r\n');
        const drip = setInterval(() => void socket.write('.'), 20);
        socket.once('close', () => clearInterval(drip));
        return null;
      },
      { status: 'delivered', httpStatus: 200 },
    ],
    [
      'drips without a length',
      ({ socket }) => {
        socket.write('HTTP/1.1 200 Said\r\n\r\n');
        const drip = setInterval(() => void socket.write('.'), 20);
        socket.once('close', () => clearInterval(drip));
        return null;
      },
      { status: 'retrying', httpStatus: null, errorCode: 'timeout' },
    ],
    ['says exactly 64 KiB', () => httpAnswer(200, 'x'.repeat(65_536)), { status: 'delivered', httpStatus: 200 }],
    ['says more than 64 KiB', () => httpAnswer(200, 'x'.repeat(65_537)), { status: 'delivered', httpStatus: 200 }],
    [
      'says more than 64 KiB of a failure',
      () => httpAnswer(500, 'x'.repeat(1_000_000)),
      { status: 'retrying', httpStatus: 500, errorCode: 'upstream_error' },
    ],
  ])('%s', async (_what, answer, expected) => {
    scene.answer = answer;
    expect(await attempt()).toMatchObject({ attempt: 1, ...expected });
  });

  it('redirects is not followed', async () => {
    const elsewhere = vi.fn();
    scene.answer = (request) => {
      if (!request.head.startsWith('POST /hooks')) elsewhere();
      return httpAnswer(307, '', { Location: `${scene.url}/other` });
    };
    expect(await attempt()).toMatchObject({ status: 'retrying', httpStatus: 307, errorCode: 'upstream_error' });
    expect(elsewhere).not.toHaveBeenCalled();
  });
});

describe('retries', () => {
  it('follow the schedule, give or take 20 %, carry the same bytes and event id, and end after eight attempts', async () => {
    const { webhook } = await scene.endpoint(worker);
    const evt = await scene.happen();
    scene.answer = refused;
    const before = scene.receiver.requests.length;
    await scene.fold(worker);
    for (const delayMs of RETRY_DELAYS_MS.slice(0, 7)) {
      await scene.send(worker);
      const { nextAttemptAt } = (await oneDelivery(webhook)) ?? {};
      const waitMs = Date.parse(String(nextAttemptAt)) - scene.clock.ms;
      expect(waitMs).toBeGreaterThanOrEqual(0.8 * delayMs);
      expect(waitMs).toBeLessThanOrEqual(1.2 * delayMs);
      scene.clock.ms += waitMs - 1;
      await scene.send(worker);
      scene.clock.ms += 1;
    }
    await scene.send(worker);
    expect(await oneDelivery(webhook)).toMatchObject({ status: 'dead', attempt: 8, nextAttemptAt: null });
    scene.clock.ms += 24 * HOUR_MS;
    await scene.send(worker);
    const heard = heardSince(before);
    expect(heard).toHaveLength(8);
    expect(new Set(heard.map((request) => headerOf(request, 'Service-Event-Id')))).toEqual(new Set([evt]));
    expect(new Set(heard.map(({ body }) => body)).size).toBe(1);
    // Each signs the time of its own.
    expect(new Set(heard.map((request) => headerOf(request, 'Service-Signature'))).size).toBe(8);
  });

  it('of at most four are under way to an endpoint, whoever claims', async () => {
    const { webhook } = await scene.endpoint(worker);
    // Its row, which is the lock, is there from the first one on.
    await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    for (let count = 0; count < 20; count += 1) await scene.happen();
    await scene.fold(worker);
    for (let round = 0; round < 5; round += 1) {
      const claims = Array.from({ length: 8 }, () => worker.deliveries.claim(webhook.id, worker.sender.termsOf(4)));
      const claimed = (await Promise.all(claims)).flat();
      expect(claimed).toHaveLength(4);
      expect(new Set(claimed.map(({ event }) => event)).size).toBe(4);
      const at = { nowMs: scene.clock.ms, aimedAtMs: 0 };
      for (const each of claimed) {
        await worker.deliveries.settle(each, { isDelivered: true, httpStatus: 204 }, { status: 'delivered' }, at);
      }
    }
  });

  it('reach the receiver four at a time, from however many processes', async () => {
    const { webhook } = await scene.endpoint(worker);
    for (let count = 0; count < 17; count += 1) await scene.happen();
    await scene.fold(worker);
    let [open, most] = [0, 0];
    scene.answer = ({ socket }) => {
      open += 1;
      most = Math.max(most, open);
      // Others that may come, come meanwhile.
      void sleep(20).then(() => {
        open -= 1;
        socket.write(httpAnswer(204, '', { Connection: 'close' }));
      });
      return null;
    };
    await Promise.all([worker, scene.process(), scene.process()].map((each) => scene.send(each)));
    expect((await scene.deliveriesOf(worker, webhook)).map(({ status, attempt }) => `${status} ${attempt}`)).toEqual(
      Array(17).fill('delivered 1'),
    );
    expect(most).toBe(4);
  });
});

describe('an endpoint all of whose deliveries fail', () => {
  it('is disabled at the first failure after 72 hours, once, and what is open to it is cancelled', async () => {
    scene.answer = refused;
    const { webhook } = await scene.endpoint(worker);
    const before = await scene.recorded('WebhookDisabled');
    const failOnce = async () => {
      await scene.happen();
      await scene.fold(worker);
      await scene.send(worker);
    };
    await failOnce();
    const [since] = await worker.asked.failingSince([webhook]);
    expect(since).toBe(new Date(scene.clock.ms).toISOString());
    scene.clock.ms += 72 * HOUR_MS - 1;
    // A whole day of dead deliveries, and not one too many.
    await failOnce();
    expect(await worker.endpoints.get(HOOK_ORG, webhook.id)).toMatchObject({ status: 'active' });
    scene.clock.ms += 1;
    await failOnce();
    expect(await worker.endpoints.get(HOOK_ORG, webhook.id)).toMatchObject({
      status: 'disabled',
      disabledFailingSince: since,
    });
    expect(await scene.recorded('WebhookDisabled')).toBe(before + 1);
    expect(new Set((await scene.deliveriesOf(worker, webhook)).map(({ status }) => status))).toEqual(
      new Set(['cancelled']),
    );
    const heard = scene.receiver.requests.length;
    await failOnce();
    scene.clock.ms += 24 * HOUR_MS;
    await scene.send(worker);
    expect(scene.receiver.requests).toHaveLength(heard);
  });

  it('stays as long as nothing fails, and after one success has its 72 hours anew', async () => {
    scene.answer = refused;
    const { webhook } = await scene.endpoint(worker);
    await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    scene.clock.ms += 30 * 24 * HOUR_MS;
    expect(await worker.endpoints.get(HOOK_ORG, webhook.id)).toMatchObject({ status: 'active' });
    scene.answer = ok;
    await scene.send(worker);
    expect(await worker.asked.failingSince([webhook])).toEqual([null]);
    scene.answer = refused;
    await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    expect(await worker.endpoints.get(HOOK_ORG, webhook.id)).toMatchObject({ status: 'active' });
  });
});

describe('after a delete', () => {
  it('no attempt begins: neither of what is due nor of what is being connected', async () => {
    const { webhook } = await scene.endpoint(worker);
    await scene.happen();
    await scene.fold(worker);
    const [claimed] = await worker.deliveries.claim(webhook.id, worker.sender.termsOf(4));
    if (!claimed) throw new Error('nothing was due');
    await scene.process().commands.execute(new DeleteWebhook(HOOK_ORG, webhook.id, scene.metadata()));
    const bytes = scene.receiver.receivedBytes;
    await worker.sender.send(claimed);
    expect(scene.receiver.receivedBytes).toBe(bytes);
    expect(await oneDelivery(webhook)).toMatchObject({ status: 'cancelled', attempt: 1 });
  });
});
