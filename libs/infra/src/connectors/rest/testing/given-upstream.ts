/** A connector with one tool of each kind, around an upstream that answers what the test says. */
import { afterEach } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import { type RawAnswer, type RawUpstream, startRawUpstream } from '../../../../../../test/support/raw-upstream.js';
import { type CallHarness, givenCall, type GivenCall, type GivenCredential } from './given-call.js';

export const cleanups: (() => Promise<void> | void)[] = [];
/** Once in each spec file. */
export const cleanUpAfterEach = (): void => {
  afterEach(async () => {
    for (const clean of cleanups.splice(0)) await clean();
  });
};

const TOOLS: JsonObject[] = [
  { name: 'get', method: 'GET', path: '/v1/users/{id}', args: { id: { in: 'path', type: 'string' } } },
  { name: 'list', method: 'GET', path: '/v1/users', args: { q: { in: 'query', type: 'string' } } },
  { name: 'head', method: 'HEAD', path: '/v1/users' },
  { name: 'create', method: 'POST', path: '/v1/users', args: { pin: { in: 'body', type: 'string', sensitive: true } } },
  { name: 'pay', method: 'POST', path: '/v1/pay', idempotency_header: 'Idempotency-Key' },
  { name: 'put', method: 'PUT', path: '/v1/users', idempotent: true },
  { name: 'remove', method: 'DELETE', path: '/v1/users' },
];

export const given = async (
  answer: RawAnswer,
  { config = {}, basePath = '', ...rest }: Partial<GivenCall> & { readonly basePath?: string } = {},
): Promise<CallHarness & { server: RawUpstream }> => {
  const server = await startRawUpstream(answer);
  const harness = await givenCall({
    config: {
      base_url: `http://upstream.example:${server.port}${basePath}`,
      allowed_methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      allowed_path_prefixes: ['/v1'],
      tools: TOOLS,
      ...config,
    },
    ...rest,
  });
  cleanups.push(() => server.close());
  cleanups.push(() => {
    harness.close();
  });
  return { ...harness, server };
};

export const bearer: GivenCredential = { kind: 'bearer', values: { token: 'canary-token-0123456789' } };
