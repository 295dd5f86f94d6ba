import { configOf, POLICY } from './lab.js';
import type { Refusal, RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';

const TESTS_A_MINUTE = 10;

const NOT_FOUND: Verdict = [404, 'invalid_request_error', 'not_found', null];
const invalid = (param: string): Verdict => [400, 'invalid_request_error', 'validation_failed', param];
const conflict = (param: string | null): Verdict => [409, 'invalid_request_error', 'conflict', param];
const BLOCKED: Verdict = [400, 'invalid_request_error', 'destination_blocked', 'config.base_url'];

const connector = (changes: object) => ({
  type: 'rest',
  name: 'new',
  config: configOf('http://127.0.0.1:9'),
  ...changes,
});
/** Nothing listens there. */
const server = (name: string) => ({
  type: 'mcp_http',
  name,
  config: { url: 'http://127.0.0.1:9/mcp', auth: { kind: 'none' } },
});
const ANOTHER_POLICY = `${POLICY}# Another version.\n`;
const MISSPELT = POLICY.replace('default: deny', 'default: denied');

export const CONNECTORS: RefusalGroup = {
  title: 'a connector’s routes',
  refusals: [
    {
      rule: 'a name that a connector has',
      verdict: conflict('name'),
      provoke: ({ admin }) => admin('POST', '/v1/connectors', { json: connector({ name: 'lab' }) }),
    },
    {
      rule: 'tools of a connector that there is not',
      verdict: [404, 'invalid_request_error', 'not_found', 'connector'],
      provoke: ({ agent }) => agent('POST', '/v1/tools/resolve', { json: { connector: 'nobody' } }),
    },
    {
      rule: 'an eleventh test within a minute',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': /^\d+$/ },
      provoke: async ({ admin }) => {
        for (let count = 0; count < TESTS_A_MINUTE; count += 1) await admin('POST', '/v1/connectors/lab/test');
        return admin('POST', '/v1/connectors/lab/test');
      },
    },
    {
      rule: 'a checklist to be made anew after ten tests within a minute',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': /^\d+$/ },
      provoke: async ({ admin }) => {
        await admin('POST', '/v1/connectors', { json: connector({ name: 'watched' }) });
        for (let count = 0; count < TESTS_A_MINUTE; count += 1) await admin('POST', '/v1/connectors/watched/test');
        await admin('PATCH', '/v1/connectors/watched', { json: { config: configOf('http://127.0.0.1:10') } });
        return admin('GET', '/v1/connectors/watched/readiness');
      },
    },
    {
      rule: 'asking for the decoder of a connector without a witness',
      verdict: [409, 'invalid_request_error', 'witness_not_configured', null],
      provoke: ({ admin }) => admin('GET', '/v1/connectors/lab/witness'),
    },
    {
      rule: 'accepting a definition that no server shows',
      verdict: conflict('tools[0].definition_digest'),
      provoke: ({ admin }) => {
        const tools = [{ name: 'search', definition_digest: `sha256:${'0'.repeat(64)}` }];
        return admin('POST', '/v1/connectors/lab/tools/accept', { json: { tools } });
      },
    },
    {
      rule: 'asking for tools that the config names',
      verdict: conflict(null),
      provoke: ({ admin }) => admin('POST', '/v1/connectors/lab/tools/refresh'),
    },
    {
      rule: 'asking a server for its tools that does not answer',
      verdict: [503, 'api_error', 'connector_unavailable', null],
      provoke: async ({ admin }) => {
        await admin('POST', '/v1/connectors', { json: server('silent') });
        return admin('POST', '/v1/connectors/silent/tools/refresh');
      },
    },
    {
      rule: 'asking a server for its tools an eleventh time within a minute',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': /^\d+$/ },
      provoke: async ({ admin }) => {
        await admin('POST', '/v1/connectors', { json: server('asked') });
        for (let count = 0; count < TESTS_A_MINUTE; count += 1)
          await admin('POST', '/v1/connectors/asked/tools/refresh');
        return admin('POST', '/v1/connectors/asked/tools/refresh');
      },
    },
    {
      rule: 'a name that means the service',
      verdict: invalid('name'),
      provoke: ({ admin }) => admin('POST', '/v1/connectors', { json: connector({ name: 'mcp' }) }),
    },
    {
      rule: 'a type that is not served',
      verdict: invalid('type'),
      provoke: ({ admin }) => admin('POST', '/v1/connectors', { json: connector({ type: 'chat' }) }),
    },
    {
      rule: 'a config with a problem, by its path',
      verdict: invalid('config.tools[0].method'),
      provoke: ({ admin }) => {
        const config = configOf('http://127.0.0.1:9', { tools: [{ name: 'a', method: 'TRACE', path: '/cases' }] });
        return admin('POST', '/v1/connectors', { json: connector({ config }) });
      },
    },
    {
      rule: 'an address of a cloud’s metadata',
      verdict: BLOCKED,
      provoke: ({ admin }) =>
        admin('POST', '/v1/connectors', { json: connector({ config: configOf('http://169.254.169.254') }) }),
    },
    {
      rule: 'the service itself as a destination',
      verdict: BLOCKED,
      provoke: ({ admin, service }) =>
        admin('PATCH', '/v1/connectors/lab', { json: { config: configOf(service.baseUrl) } }),
    },
    {
      rule: 'a change of a config that has changed',
      verdict: conflict('expected_config_hash'),
      provoke: ({ admin }) =>
        admin('PATCH', '/v1/connectors/lab', { json: { expected_config_hash: `sha256:${'0'.repeat(64)}` } }),
    },
    {
      rule: 'to delete one while an action on it executes',
      verdict: conflict(null),
      provoke: async ({ act, admin, lab }) => {
        lab.hold();
        await act('held.write', 'held', { wait: 0 });
        const refused = await admin('DELETE', '/v1/connectors/held');
        lab.release();
        return refused;
      },
    },
    {
      rule: 'a credential of another kind than the config asks for',
      verdict: invalid('kind'),
      provoke: ({ admin }) =>
        admin('PUT', '/v1/connectors/bare/credentials', { json: { kind: 'query', secret: { value: 'x' } } }),
    },
    {
      rule: 'a credential that no header could carry, without a word of it',
      verdict: invalid('secret.token'),
      provoke: ({ admin }) =>
        admin('PUT', '/v1/connectors/bare/credentials', { json: { kind: 'bearer', secret: { token: 'a b' } } }),
    },
    {
      rule: 'a key of live mode, for payments',
      verdict: [400, 'invalid_request_error', 'payments_live_key_refused', 'secret'],
      provoke: async ({ admin }) => {
        const config = { api_version: '2025-09-30.clover', refund_limits: {} };
        await admin('POST', '/v1/connectors', { json: { type: 'payments', name: 'payments', config } });
        return admin('PUT', '/v1/connectors/payments/credentials', {
          json: { kind: 'bearer', secret: { token: `sk_live_${'a'.repeat(24)}` } },
        });
      },
    },
    {
      rule: 'one that there is not',
      verdict: NOT_FOUND,
      provoke: ({ admin }) => admin('GET', '/v1/connectors/absent'),
    },
    {
      rule: 'a type that there is not',
      verdict: NOT_FOUND,
      provoke: ({ admin }) => admin('GET', '/v1/connector-types/telepathy'),
    },
  ],
};

export const POLICIES: RefusalGroup = {
  title: 'a policy’s and the ledger’s routes',
  refusals: [
    {
      rule: 'a source with an error, whose line and hint are told',
      verdict: [400, 'invalid_request_error', 'policy_invalid', 'source'],
      carries: 'diagnostics',
      provoke: ({ admin }) => admin('POST', '/v1/policies', { json: { name: 'Misspelt', source: MISSPELT } }),
    },
    {
      rule: 'a version with an error',
      verdict: [400, 'invalid_request_error', 'policy_invalid', 'source'],
      carries: 'diagnostics',
      provoke: ({ admin, policy }) => admin('POST', `/v1/policies/${policy}/versions`, { json: { source: MISSPELT } }),
    },
    {
      rule: 'a version onto one that is not the latest',
      verdict: conflict('expected_latest_version'),
      provoke: ({ admin, policy }) =>
        admin('POST', `/v1/policies/${policy}/versions`, {
          json: { source: `${POLICY}# Late.\n`, expected_latest_version: `pv_${'0'.repeat(26)}` },
        }),
    },
    {
      rule: 'a name of two lines',
      verdict: invalid('name'),
      provoke: ({ admin }) => admin('POST', '/v1/policies', { json: { name: 'a\nb', source: POLICY } }),
    },
    {
      rule: 'a second version in shadow',
      verdict: [409, 'invalid_request_error', 'shadow_slot_taken', 'mode'],
      provoke: async ({ admin, policy }) => {
        const shadow = (version: number) =>
          admin('POST', `/v1/policies/${policy}/versions/${version}/activate`, { json: { mode: 'shadow' } });
        await admin('POST', `/v1/policies/${policy}/versions`, { json: { source: ANOTHER_POLICY } });
        await shadow(2);
        const refused = await shadow(1);
        await admin('POST', `/v1/policies/${policy}/deactivate`, { json: { mode: 'shadow' } });
        return refused;
      },
    },
    {
      rule: 'a reason of two lines',
      verdict: invalid('reason'),
      provoke: ({ admin, policy }) =>
        admin('POST', `/v1/policies/${policy}/deactivate`, { json: { mode: 'enforce', reason: 'a\nb' } }),
    },
    {
      rule: 'a version that there is not',
      verdict: NOT_FOUND,
      provoke: ({ admin, policy }) => admin('GET', `/v1/policies/${policy}/versions/99`),
    },
    {
      rule: 'another organization’s, as if it were not there',
      verdict: NOT_FOUND,
      provoke: async (stage) => {
        const { object } = await stage.ags('org', 'create', 'Neighbours');
        return stage.send('GET', `/v1/policies/${stage.policy}`, { key: String(object['admin_key']) });
      },
    },
    {
      rule: 'a label of two lines for a file',
      verdict: invalid('label'),
      provoke: ({ admin }) => {
        const file = { sha256: `sha256:${'0'.repeat(64)}`, bytes: 1, media_type: 'text/plain' };
        return admin('POST', '/v1/deeds/files', { json: { ...file, label: 'a\nb' } });
      },
    },
    {
      rule: 'a deed that there is not',
      verdict: NOT_FOUND,
      provoke: ({ agent }) => agent('GET', `/v1/deeds/deed_${'0'.repeat(26)}`),
    },
  ],
};

const linted = { json: { source: POLICY } };

/** Of an Idempotency-Key (rules API-10 to API-12). */
export const REPEATS: RefusalGroup = {
  title: 'the memory of requests',
  refusals: [
    {
      rule: 'one sent twice',
      verdict: [400, 'invalid_request_error', 'idempotency_key_invalid', 'Idempotency-Key'],
      provoke: ({ raw, service }) => {
        const lines = ['Host: localhost', `Authorization: Bearer ${service.adminKey}`, 'Idempotency-Key: a'];
        return raw(['POST /v1/policies/lint HTTP/1.1', ...lines, 'Idempotency-Key: a', '', ''].join('\r\n'));
      },
    },
    {
      rule: 'a different request under a key that was used',
      verdict: [422, 'invalid_request_error', 'idempotency_conflict', 'Idempotency-Key'],
      provoke: async ({ admin }) => {
        const headers = { 'Idempotency-Key': 'used' };
        await admin('POST', '/v1/policies/lint', { ...linted, headers });
        return admin('POST', '/v1/policies/lint', { json: { source: ANOTHER_POLICY }, headers });
      },
    },
    {
      rule: 'the same request while the first still runs',
      verdict: [409, 'invalid_request_error', 'idempotency_key_in_use', 'Idempotency-Key'],
      headers: { 'retry-after': '1' },
      provoke: (stage) => {
        const sent = { json: { name: 'Slow', source: POLICY }, headers: { 'Idempotency-Key': 'running' } };
        const { admin, database } = stage;
        let first: Promise<unknown> = Promise.resolve();
        // Appends take turns under this lock (libs/infra/src/event-store): the first request waits in its handler.
        const answer = stage.whileLocked('select pg_advisory_xact_lock(4701)', async () => {
          first = admin('POST', '/v1/policies', sent);
          const running = 'select from idempotency.request where answer_status is null';
          while ((await database.query(running)).rowCount === 0);
          return admin('POST', '/v1/policies', sent);
        });
        return answer.finally(() => first);
      },
    },
    {
      rule: 'the same refused request again, as it was refused',
      verdict: conflict('name'),
      headers: { 'service-idempotent-replayed': 'true' },
      provoke: async ({ admin }) => {
        const sent = { json: connector({ name: 'lab' }), headers: { 'Idempotency-Key': 'taken' } };
        await admin('POST', '/v1/connectors', sent);
        return admin('POST', '/v1/connectors', sent);
      },
    },
    {
      rule: 'a change that others keep getting ahead of',
      verdict: conflict(null),
      provoke: raced,
    },
  ],
};

/** Each try loses to another change that won; a hundred at once leave some that lost all their tries. */
async function raced({ admin, policy }: Stage): ReturnType<Refusal['provoke']> {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      admin('POST', `/v1/policies/${policy}/versions`, { json: { source: `${POLICY}# ${index}\n` } }),
    ),
  );
  const [loser] = answers.filter(({ status }) => status === 409);
  if (!loser) throw new Error('each of a hundred changes at once found its turn');
  return loser;
}
