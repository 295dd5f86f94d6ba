import type { Answer, RunningService } from './service.js';

/** What the upstream of these tests expects, and nobody else may ever see. */
export const UPSTREAM_TOKEN = 'upstream-canary-5f1d7c2b9a';

/** A note that begins so waits for a person. */
export const ASKS_A_PERSON = 'A person is to read this, ';

/** How many calls of `crm.check_customer` its budget has room for: fewer than a round of calls makes at once. */
const CHECKS_A_MONTH = 3;

const POLICY = `version: 1
default: deny
rules:
  - id: never-delete
    match:
      tools:
        - crm.delete_*
    decision: deny
    message: Customers are never deleted by an agent.
  - id: asked
    match:
      tools:
        - crm.add_note
    when: has(args.text) && type(args.text) == string && args.text.startsWith("${ASKS_A_PERSON}")
    decision: require_approval
  - id: crm
    match:
      tools:
        - crm.*
    decision: allow
budgets:
  - id: checks
    match:
      tools:
        - crm.check_customer
    period: month
    max_calls: ${CHECKS_A_MONTH}
`;

const idArg = { in: 'path', type: 'string', required: true };

const configOf = (baseUrl: string, timeoutMs: number) => ({
  timeout_ms: timeoutMs,
  base_url: baseUrl,
  auth: { kind: 'bearer' },
  allowed_methods: ['GET', 'POST', 'DELETE'],
  allowed_path_prefixes: ['/v1/customers'],
  tools: [
    { name: 'get_customer', method: 'GET', path: '/v1/customers/{id}', args: { id: idArg } },
    {
      name: 'add_note',
      method: 'POST',
      path: '/v1/customers/{id}/notes',
      args: { id: idArg, text: { in: 'body', type: 'string', required: true } },
    },
    {
      name: 'set_name',
      method: 'POST',
      path: '/v1/customers/{id}/name',
      idempotency_header: 'Idempotency-Key',
      args: { id: idArg, text: { in: 'body', type: 'string', required: true } },
    },
    { name: 'get_status', method: 'GET', path: '/v1/customers/{id}/status', args: { id: idArg } },
    {
      name: 'set_status',
      method: 'POST',
      path: '/v1/customers/{id}/status',
      args: { id: idArg, text: { in: 'body', type: 'string', required: true } },
      readback: { tool: 'get_status', args: { id: '{{args.id}}' }, expect: { 'body.text': '{{args.text}}' } },
    },
    { name: 'check_customer', method: 'POST', path: '/v1/customers/{id}/checks', args: { id: idArg } },
    { name: 'delete_customer', method: 'DELETE', path: '/v1/customers/{id}', args: { id: idArg } },
  ],
});

/** A connector `crm` with its credential and an enforced policy, made over the API as an admin would. */
export const connectCrm = async (
  service: Pick<RunningService, 'call' | 'adminKey'>,
  upstreamUrl: string,
  { timeoutMs = 10_000 }: { timeoutMs?: number } = {},
): Promise<void> => {
  const asAdmin = async (method: string, path: string, body: unknown): Promise<Answer['json']> => {
    const answer = await service.call(method, path, { key: service.adminKey, body });
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.text}`);
    return answer.json;
  };
  await asAdmin('POST', '/v1/connectors', { type: 'rest', name: 'crm', config: configOf(upstreamUrl, timeoutMs) });
  const credential = { kind: 'bearer', secret: { token: UPSTREAM_TOKEN } };
  await asAdmin('PUT', '/v1/connectors/crm/credentials', credential);
  const policy = await asAdmin('POST', '/v1/policies', { name: 'CRM', source: POLICY });
  await asAdmin('POST', `/v1/policies/${String(policy['id'])}/versions/1/activate`, { mode: 'enforce' });
};
