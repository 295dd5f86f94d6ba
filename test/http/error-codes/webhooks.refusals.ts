import type { RefusalGroup } from './refusal.js';
import type { Stage } from './stage.js';

const VAULT = 'lock table vault_secrets in access exclusive mode';

const asked = ({ lab }: Stage, changes: object = {}) => ({
  url: `${lab.upstream.baseUrl}/hooks`,
  events: ['decoder.alert'],
  ...changes,
});

const made = async (stage: Stage): Promise<string> =>
  String((await stage.change('POST', '/v1/webhooks', asked(stage)))['id']);

/** Puts an endpoint away, so that others find room. */
const away = (stage: Stage, id: string) => stage.admin('DELETE', `/v1/webhooks/${id}`);

export const WEBHOOKS: RefusalGroup = {
  title: 'a webhook endpoint’s routes',
  refusals: [
    {
      rule: 'a URL with a password',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'url'],
      provoke: (stage) =>
        stage.admin('POST', '/v1/webhooks', { json: asked(stage, { url: 'https://a:b@hooks.example.com' }) }),
    },
    {
      rule: 'an event type that there is not',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'events[1]'],
      provoke: (stage) =>
        stage.admin('POST', '/v1/webhooks', { json: asked(stage, { events: ['deed.sealed', 'deed.seeled'] }) }),
    },
    {
      rule: 'an address inside of a network',
      verdict: [400, 'invalid_request_error', 'destination_blocked', 'url'],
      provoke: (stage) =>
        stage.admin('POST', '/v1/webhooks', { json: asked(stage, { url: 'http://169.254.169.254/latest' }) }),
    },
    {
      rule: 'a filter that there is not, which would pass for one that found all of them',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'status'],
      provoke: (stage) => stage.admin('GET', '/v1/webhooks?status=disabled'),
    },
    {
      rule: 'a seventeenth endpoint',
      verdict: [409, 'invalid_request_error', 'conflict', null],
      provoke: async (stage) => {
        const ids = [];
        for (let count = 0; count < 16; count += 1) ids.push(await made(stage));
        const answer = await stage.admin('POST', '/v1/webhooks', { json: asked(stage) });
        for (const id of ids) await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'an endpoint whose secret it cannot store',
      verdict: [503, 'api_error', 'vault_unavailable', null],
      provoke: (stage) => stage.whileLocked(VAULT, () => stage.admin('POST', '/v1/webhooks', { json: asked(stage) })),
    },
    {
      rule: 'a new secret that it cannot store',
      verdict: [503, 'api_error', 'vault_unavailable', null],
      provoke: async (stage) => {
        const id = await made(stage);
        const answer = await stage.whileLocked(VAULT, () =>
          stage.admin('POST', `/v1/webhooks/${id}/roll`, { json: {} }),
        );
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'a change to a URL of an address inside',
      verdict: [400, 'invalid_request_error', 'destination_blocked', 'url'],
      provoke: async (stage) => {
        const id = await made(stage);
        const answer = await stage.admin('PATCH', `/v1/webhooks/${id}`, { json: { url: 'http://169.254.169.254' } });
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'a status that there is not',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'status'],
      provoke: async (stage) => {
        const id = await made(stage);
        const answer = await stage.admin('PATCH', `/v1/webhooks/${id}`, { json: { status: 'paused' } });
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'to read one that there is not',
      verdict: [404, 'invalid_request_error', 'not_found', null],
      provoke: ({ admin }) => admin('GET', `/v1/webhooks/whk_${'0'.repeat(26)}`),
    },
    {
      rule: 'an overlap of more than seven days',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'overlap_seconds'],
      provoke: async (stage) => {
        const id = await made(stage);
        const answer = await stage.admin('POST', `/v1/webhooks/${id}/roll`, { json: { overlap_seconds: 604_801 } });
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'a sixth secret that signs at once',
      verdict: [409, 'invalid_request_error', 'conflict', null],
      provoke: async (stage) => {
        const id = await made(stage);
        const roll = () => stage.admin('POST', `/v1/webhooks/${id}/roll`, { json: {} });
        for (let count = 0; count < 4; count += 1) await roll();
        const answer = await roll();
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'an eleventh test in a minute',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': /^\d+$/ },
      provoke: async (stage) => {
        const id = await made(stage);
        const test = () => stage.admin('POST', `/v1/webhooks/${id}/test`);
        for (let count = 0; count < 10; count += 1) await test();
        const answer = await test();
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'to send again what is no event',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'event'],
      provoke: async (stage) => {
        const id = await made(stage);
        const answer = await stage.admin('POST', `/v1/webhooks/${id}/redeliver`, { json: { event: 'evt_1' } });
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'to send again what was never sent',
      verdict: [404, 'invalid_request_error', 'not_found', 'event'],
      provoke: async (stage) => {
        const id = await made(stage);
        const json = { event: `evt_${'0'.repeat(26)}` };
        const answer = await stage.admin('POST', `/v1/webhooks/${id}/redeliver`, { json });
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'to send something to one that is disabled',
      verdict: [409, 'invalid_request_error', 'conflict', null],
      provoke: async (stage) => {
        const id = await made(stage);
        await stage.admin('PATCH', `/v1/webhooks/${id}`, { json: { status: 'disabled' } });
        const json = { event: `evt_${'0'.repeat(26)}` };
        const answer = await stage.admin('POST', `/v1/webhooks/${id}/redeliver`, { json });
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'a list with a limit that is none',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'limit'],
      provoke: ({ admin }) => admin('GET', '/v1/webhooks?limit=0'),
    },
    {
      rule: 'a list of deliveries with a limit that is none',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'limit'],
      provoke: async (stage) => {
        const id = await made(stage);
        const answer = await stage.admin('GET', `/v1/webhooks/${id}/deliveries?limit=0`);
        await away(stage, id);
        return answer;
      },
    },
    {
      rule: 'a list of deliveries in a status that there is not',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'status'],
      provoke: async (stage) => {
        const id = await made(stage);
        const answer = await stage.admin('GET', `/v1/webhooks/${id}/deliveries?status=lost`);
        await away(stage, id);
        return answer;
      },
    },
  ],
};
