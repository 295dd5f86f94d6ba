import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type { RunningService } from '../../support/service.js';
import { startUpstream, type Upstream } from '../../support/upstream.js';

/** Bytes that an answer of the laboratory's connector may have; the upstream's `large` has more. */
const MAX_RESPONSE_BYTES = 1_024;
/** Of every call but those that are held: one of them waits for it, and none may run into it on a busy machine. */
const TIMEOUT_MS = 3_000;
const HELD_TIMEOUT_MS = 30_000;

const id = { in: 'path', type: 'string', required: true };
const tool = (name: string, method: string, path: string) => ({ name, method, path, args: { id } });

/** A config with one tool for each method. */
export const configOf = (baseUrl: string, changes: object = {}) => ({
  base_url: baseUrl,
  auth: { kind: 'none' },
  allowed_methods: ['GET', 'POST', 'DELETE'],
  allowed_path_prefixes: ['/cases'],
  timeout_ms: TIMEOUT_MS,
  max_response_bytes: MAX_RESPONSE_BYTES,
  redirects: 'same_host',
  tools: [
    tool('read', 'GET', '/cases/{id}'),
    tool('write', 'POST', '/cases/{id}'),
    tool('remove', 'DELETE', '/cases/{id}'),
    tool('archive', 'POST', '/cases/{id}/archive'),
    tool('judged', 'POST', '/cases/{id}/judged'),
    tool('metered', 'POST', '/cases/{id}/metered'),
    tool('ask', 'POST', '/cases/{id}/ask'),
    tool('ask_all', 'POST', '/cases/{id}/ask'),
    // Confirmed by a read that the upstream never answers well.
    { ...tool('confirmed', 'POST', '/cases/{id}/confirmed'), readback: { tool: 'read', args: { id: '500' } } },
  ],
  ...changes,
});

export const NEVER_REMOVED = 'Cases are never removed by an agent. Ask their owner.';

/** `lab.judged` has a condition that nothing can be said about where the arguments build no request. */
export const POLICY = `version: 1
default: deny
rules:
  - id: never-remove
    match:
      tools:
        - lab.remove
    decision: deny
    message: ${NEVER_REMOVED}
  - id: no-archive
    match:
      tools:
        - lab.archive
    decision: deny
  - id: judged
    match:
      tools:
        - lab.judged
    when: request.http.path == "/cases/closed/judged"
    decision: deny
  - id: asked
    match:
      tools:
        - lab.ask
    decision: require_approval
    approval:
      required: 2
      expires_in: 1m
  - id: nobody
    match:
      tools:
        - lab.ask_all
    decision: require_approval
    approval:
      required: 10
  - id: work
    match:
      tools:
        - lab.*
        - held.*
        - bare.*
        - sealed.*
        - nowhere.*
    decision: allow
budgets:
  - id: none-left
    match:
      tools:
        - lab.metered
    period: month
    max_calls: 0
`;

/** What agents of these tests act on: the case in a path says how it is answered. */
export interface Lab {
  readonly upstream: Upstream;
  /** Answers every call that was held, and from then on each at once until `hold`. */
  release(): void;
  hold(): void;
  close(): Promise<void>;
}

export const startLab = async (): Promise<Lab> => {
  let isHolding = true;
  const held = new Set<ServerResponse>();
  const finish = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}');
  };
  const upstream = await startUpstream(({ path }, response) => {
    const name = path.split('/')[2] ?? '';
    if (/^[1-5]\d\d$/.test(name)) return void response.writeHead(Number(name)).end('{"error":"as asked"}');
    if (name === 'elsewhere') return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    if (name === 'large') return void response.writeHead(200).end('x'.repeat(2 * MAX_RESPONSE_BYTES));
    if (name === 'silent') return;
    if (name === 'held' && isHolding) return void held.add(response);
    finish(response);
  });
  return {
    upstream,
    release: () => {
      isHolding = false;
      held.forEach(finish);
      held.clear();
    },
    hold: () => {
      isHolding = true;
    },
    close: () => upstream.close(),
  };
};

/** Connectors and an enforced policy, made over the API as an admin would. Answers with the policy's id. */
export const furnish = async (service: RunningService, lab: Lab): Promise<string> => {
  const key = service.adminKey;
  const { baseUrl } = lab.upstream;
  const bearer = { auth: { kind: 'bearer' } };
  const connectors: [string, object][] = [
    ['lab', configOf(baseUrl)],
    ['held', configOf(baseUrl, { timeout_ms: HELD_TIMEOUT_MS })],
    ['bare', configOf(baseUrl, bearer)],
    ['sealed', configOf(baseUrl, bearer)],
    // Nobody listens there: port 9 is `discard` (RFC 863), long out of use.
    ['nowhere', configOf('http://127.0.0.1:9')],
  ];
  for (const [name, config] of connectors) {
    const body = { type: 'rest', name, config };
    expect(await service.call('POST', '/v1/connectors', { key, body })).toMatchObject({ status: 201 });
  }
  const credential = { kind: 'bearer', secret: { token: 'an-upstream-token-of-the-lab' } };
  const stored = await service.call('PUT', '/v1/connectors/sealed/credentials', { key, body: credential });
  expect(stored).toMatchObject({ status: 200 });
  const made = await service.call('POST', '/v1/policies', { key, body: { name: 'Laboratory', source: POLICY } });
  expect(made).toMatchObject({ status: 201 });
  const policy = String(made.json['id']);
  const path = `/v1/policies/${policy}/versions/1/activate`;
  expect(await service.call('POST', path, { key, body: { mode: 'enforce' } })).toMatchObject({ status: 200 });
  return policy;
};
