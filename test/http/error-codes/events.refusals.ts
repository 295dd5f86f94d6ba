import { EventStreamClient } from '../../support/event-stream-client.js';
import type { RefusalGroup } from './refusal.js';

/** Of a person or key (rule EVENT-4). */
export const OPEN_MAX = 8;

export const EVENTS: RefusalGroup = {
  title: 'the stream of events',
  refusals: [
    {
      rule: 'a type that there is not',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'types'],
      message: /comma list of event types and families.*action\.created/,
      provoke: ({ admin }) => admin('GET', '/v1/events?types=action.deleted'),
    },
    {
      rule: 'an agent’s key that asks for another’s events',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'agent'],
      provoke: ({ send, service }) => send('GET', `/v1/events?agent=agt_${'0'.repeat(26)}`, { key: service.agentKey }),
    },
    {
      rule: 'a cursor that no stream gave out',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'last_event_id'],
      provoke: ({ admin }) => admin('GET', '/v1/events?last_event_id=evt_1'),
    },
    {
      rule: 'the same in the header that browsers send',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'Last-Event-ID'],
      provoke: ({ admin }) => admin('GET', '/v1/events', { headers: { 'Last-Event-ID': 'evt_1' } }),
    },
    {
      rule: 'a parameter that it does not know',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'since'],
      provoke: ({ admin }) => admin('GET', '/v1/events?since=yesterday'),
    },
    {
      rule: 'one more stream than a key may have open',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': '5' },
      provoke: async ({ admin, service }) => {
        const key = { Authorization: `Bearer ${service.adminKey}` };
        const streams = await Promise.all(
          Array.from({ length: OPEN_MAX }, () => EventStreamClient.open(service.baseUrl, key)),
        );
        const answer = await admin('GET', '/v1/events');
        for (const stream of streams) stream.close();
        return answer;
      },
    },
  ],
};
