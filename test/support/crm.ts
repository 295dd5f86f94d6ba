import { expect } from 'vitest';
import type { RunningService } from './service.js';

/** What the upstream of these tests expects, and nobody else may ever see. */
export const UPSTREAM_TOKEN = 'upstream-canary-5f1d7c2b9a';

const POLICY = `version: 1
default: deny
rules:
  - id: never-delete
    match:
      tools:
        - crm.delete_*
    decision: deny
    message: Customers are never deleted by an agent.
  - id: crm
    match:
      tools:
        - crm.*
    decision: allow
`;

const idArg = { in: 'path', type: 'string', required: true };

const configOf = (baseUrl: string) => ({
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
    { name: 'delete_customer', method: 'DELETE', path: '/v1/customers/{id}', args: { id: idArg } },
  ],
});

/** A connector `crm` with its credential and an enforced policy, made over the API as an admin would. */
export const connectCrm = async (service: RunningService, upstreamUrl: string): Promise<void> => {
  const admin = { key: service.adminKey };
  const body = { type: 'rest', name: 'crm', config: configOf(upstreamUrl) };
  expect(await service.call('POST', '/v1/connectors', { ...admin, body })).toMatchObject({ status: 201 });
  const credential = { kind: 'bearer', secret: { token: UPSTREAM_TOKEN } };
  const stored = await service.call('PUT', '/v1/connectors/crm/credentials', { ...admin, body: credential });
  expect(stored).toMatchObject({ status: 200 });
  const policy = await service.call('POST', '/v1/policies', { ...admin, body: { name: 'CRM', source: POLICY } });
  expect(policy).toMatchObject({ status: 201 });
  const path = `/v1/policies/${String(policy.json['id'])}/versions/1/activate`;
  expect(await service.call('POST', path, { ...admin, body: { mode: 'enforce' } })).toMatchObject({ status: 200 });
};
