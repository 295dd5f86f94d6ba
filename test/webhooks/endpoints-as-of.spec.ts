import { describe, expect, it } from 'vitest';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GivenLog, TEST_ORG, testId, testTime } from '../support/given-log.js';
import { webhooksDecider } from '../../libs/domain/src/webhooks/webhook.decider.js';
import type { WebhookEvent } from '../../libs/domain/src/webhooks/webhook.events.js';
import { EndpointsAsOf } from '../../libs/domain/src/webhooks/handlers/endpoints-as-of.js';

const STREAM = `${webhooksDecider.category}-${TEST_ORG}`;
const created = (number: number): WebhookEvent => ({
  type: 'WebhookCreated',
  data: {
    org: TEST_ORG,
    webhook: testId('whk', number),
    at: testTime(0),
    url: 'https://example.com',
    events: ['*'],
    description: null,
    secret_version: 'v1',
    secret_hint: 'abcd',
  },
});
const deleted = (number: number): WebhookEvent => ({
  type: 'WebhookDeleted',
  data: { org: TEST_ORG, webhook: testId('whk', number), at: testTime(0), secret_versions: [] },
});

describe('the endpoints as of a position', () => {
  it('are those of just before it, as a fold of the whole log has them, however the positions are cut into batches', async () => {
    const log = new GivenLog(new MemoryEventStore());
    const changes = [created(1), created(2), deleted(1), created(3), deleted(3), deleted(2)];
    for (const change of changes) await log.append(STREAM, change);
    const head = await log.store.head();
    const expected = Array.from({ length: Number(head) + 2 }, (_, position) => [
      ...changes
        .slice(0, Math.max(0, position - Number(head) + changes.length - 1))
        .reduce(webhooksDecider.evolve, webhooksDecider.initialState())
        .endpoints.keys(),
    ]);
    for (const batch of [1, 2, 100]) {
      const asOf = new EndpointsAsOf(log.store);
      const found: string[][] = [];
      for (let first = 0; first <= Number(head) + 1; first += batch) {
        const positions = Array.from(
          { length: Math.min(batch, Number(head) + 2 - first) },
          (_, index) => first + index,
        );
        const states = await asOf.at(positions.map((position) => ({ org: TEST_ORG, position: BigInt(position) })));
        found.push(...states.map(({ endpoints }) => [...endpoints.keys()]));
      }
      expect(found).toEqual(expected);
    }
  });

  it('of an organization without any are none', async () => {
    const [state] = await new EndpointsAsOf(new MemoryEventStore()).at([{ org: TEST_ORG, position: 5n }]);
    expect(state?.endpoints.size).toBe(0);
  });
});
