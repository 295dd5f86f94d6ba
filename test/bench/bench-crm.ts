import type { BenchService } from './bench-service.js';

export const BENCH_POLICY = `version: 1
default: deny
rules:
  - id: crm
    match:
      tools:
        - crm.*
    decision: allow
`;

/** A connector `crm` without a credential, and a policy that allows it. */
export const connectBenchCrm = async (service: BenchService, upstreamUrl: string): Promise<void> => {
  const key = service.adminKey;
  const config = {
    base_url: upstreamUrl,
    allowed_methods: ['POST'],
    allowed_path_prefixes: ['/v1/customers'],
    tools: [
      {
        name: 'add_note',
        method: 'POST',
        path: '/v1/customers/{id}/notes',
        args: { id: { in: 'path', type: 'string', required: true }, text: { in: 'body', type: 'string' } },
      },
    ],
  };
  await done(service.call('POST', '/v1/connectors', { key, body: { type: 'rest', name: 'crm', config } }));
  await allowBenchCrm(service);
};

export const allowBenchCrm = async (service: BenchService): Promise<void> => {
  const key = service.adminKey;
  const policy = await done(
    service.call('POST', '/v1/policies', { key, body: { name: 'Bench', source: BENCH_POLICY } }),
  );
  const path = `/v1/policies/${String(policy['id'])}/versions/1/activate`;
  await done(service.call('POST', path, { key, body: { mode: 'enforce' } }));
};

const done = async (call: ReturnType<BenchService['call']>): Promise<Readonly<Record<string, unknown>>> => {
  const answer = await call;
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.json;
};
