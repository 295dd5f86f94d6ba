import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GivenLog, started, testId } from '../support/given-log.js';
import { headerOf, HOOK_ORG, type WebhookProcess, WebhookScene } from '../support/webhook-scene.js';

let scene: WebhookScene;
let worker: WebhookProcess;
beforeAll(async () => {
  scene = await WebhookScene.start();
  worker = scene.process();
});
afterAll(() => scene.close());

describe('a delivery', () => {
  it('names the trace of the call that its event is about, and each event a parent of its own', async () => {
    await scene.endpoint(worker);
    const trace = { id: '4bf92f3577b34da6a3ce929d0e0e4736', sampled: true };
    const events = started(7_001, { org: HOOK_ORG, trace });
    await new GivenLog(scene.store).append(`action-${testId('act', 7_001)}`, ...events);
    await scene.happen();
    const before = scene.receiver.requests.length;
    await scene.fold(worker);
    await scene.send(worker);
    const named = new Map(
      scene.receiver.requests
        .slice(before)
        .map((request) => [headerOf(request, 'Service-Event-Type'), headerOf(request, 'traceparent')]),
    );
    const [created, decided] = [named.get('action.created'), named.get('action.decided')];
    for (const traceparent of [created, decided]) {
      expect(traceparent).toMatch(new RegExp(`^00-${trace.id}-[0-9a-f]{16}-01$`));
    }
    expect(created).not.toBe(decided);
    expect([...named].filter(([type]) => type?.startsWith('org.')).map(([, traceparent]) => traceparent)).toEqual(['']);
  });
});
