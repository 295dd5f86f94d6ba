import { digestOf } from '#libs/crypto';
import type { ConnectorEvent } from '#libs/domain/connectors';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { undescribedBy } from '../http/described-answer.js';
import { GivenLog, testId, testTime } from '../support/given-log.js';
import { headerOf, HOOK_ORG, WebhookScene } from '../support/webhook-scene.js';

let scene: WebhookScene;

beforeAll(async () => {
  scene = await WebhookScene.start();
});
afterAll(() => scene?.close());

const CONNECTOR = testId('con', 1);
const of = { org: HOOK_ORG, connector: CONNECTOR, name: 'issues', at: testTime(5) };
const created: ConnectorEvent = {
  type: 'ConnectorCreated',
  data: { ...of, type: 'mcp_http', description: null, config: {}, config_hash: digestOf('{}') },
};
/** A list of one tool, with a word for its definition. */
const listed = (word: string, ...accepted: readonly string[]): ConnectorEvent => ({
  type: 'ConnectorToolsRecorded',
  data: {
    ...{ ...of, protocol: '2026-07-28', list_digest: digestOf(word), accepted, left_out: [] },
    tools: [
      {
        ...{ name: 'search', definition: digestOf(word) },
        hints: { read_only: false, destructive: true, idempotent: false, open_world: true },
      },
    ],
  },
});

it('an endpoint that takes what happens to connectors hears which tool a server changed', async () => {
  const worker = scene.process();
  const log = new GivenLog(scene.store);
  await log.append(`connector-${HOOK_ORG}-issues`, created, listed('one', 'search'));
  const subscribed = await scene.endpoint(worker, { events: ['connector.*'] });
  const other = await scene.endpoint(worker, { events: ['policy.*'] });
  await log.append(`connector-${HOOK_ORG}-issues`, listed('two'));
  await scene.project();
  expect(await scene.fold(worker)).toEqual([subscribed.webhook.id]);
  await scene.send(worker);
  const [request, ...others] = scene.receiver.requests;
  expect(others).toEqual([]);
  if (!request) throw new Error('nothing was sent');
  expect(headerOf(request, 'Service-Event-Type')).toBe('connector.tools_changed');
  const body = JSON.parse(request.body) as { data: object };
  expect(body.data).toEqual({
    object: {
      ...{ object: 'connector', id: CONNECTOR, name: 'issues', has_more: false },
      tools: [{ name: 'search', status: 'changed' }],
      counts: { accepted: 0, new: 0, changed: 1, gone: 0 },
    },
  });
  expect(undescribedBy('Event', body)).toEqual([]);
  expect(await scene.deliveriesOf(worker, other.webhook)).toEqual([]);
});
