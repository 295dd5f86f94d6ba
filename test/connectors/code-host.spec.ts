import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CodeHostWire, WIRE_TOKEN } from '../support/code-host-wire.js';
import type { Answer } from '../support/service.js';
import { type ServiceHere, startServiceHere } from '../support/service-here.js';

/** The policy of the guide. */
const [, POLICY = ''] =
  /```yaml\n([\s\S]*?)```/.exec(readFileSync(new URL('../../docs/connectors-code-host.md', import.meta.url), 'utf8')) ??
  [];

let service: ServiceHere;
let wire: CodeHostWire;

const asAdmin = (method: string, path: string, body?: unknown): Promise<Answer> =>
  service.call(method, path, { key: service.adminKey, body });
const call = async (tool: string, args: object): Promise<Answer['json']> => {
  const body = { tool: `code.${tool}`, args: { repository: 'acme/shop', ...args }, wait: 20 };
  return (await service.call('POST', '/v1/actions', { key: service.agentKey, body })).json;
};
const store = (token: string): Promise<Answer> =>
  asAdmin('PUT', '/v1/connectors/code/credentials', { kind: 'bearer', secret: { token } });

beforeAll(async () => {
  [service, wire] = await Promise.all([startServiceHere(), CodeHostWire.start()]);
  const config = { repositories: ['acme/shop'], base_url: wire.baseUrl };
  expect((await asAdmin('POST', '/v1/connectors', { type: 'code_host', name: 'code', config })).status).toBe(201);
  expect((await store(WIRE_TOKEN)).status).toBeLessThan(300);
  const { json } = await asAdmin('POST', '/v1/policies', { name: 'Code', source: POLICY });
  const path = `/v1/policies/${String(json['id'])}/versions/1/activate`;
  expect((await asAdmin('POST', path, { mode: 'enforce' })).status).toBeLessThan(300);
});
afterAll(async () => {
  await service?.stop();
  await wire?.close();
});
afterEach(() => {
  wire.quirk = () => null;
});

describe('a code host behind the service', () => {
  it('is tested', async () => {
    const { json } = await asAdmin('POST', '/v1/connectors/code/test');
    const checks = json['checks'] as readonly { readonly check: string; readonly status: string }[];
    expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['auth', 'repositories', 'permissions', 'protection']),
    );
  });

  it('is tested further where one of its repositories is not seen', async () => {
    const config = { repositories: ['acme/secret', 'acme/shop'], base_url: wire.baseUrl };
    expect((await asAdmin('POST', '/v1/connectors', { type: 'code_host', name: 'two', config })).status).toBe(201);
    await asAdmin('PUT', '/v1/connectors/two/credentials', { kind: 'bearer', secret: { token: WIRE_TOKEN } });
    const { json } = await asAdmin('POST', '/v1/connectors/two/test');
    const checks = json['checks'] as readonly { readonly check: string; readonly status: string }[];
    expect(json['status']).toBe('warnings');
    expect(Object.fromEntries(checks.map(({ check, status }) => [check, status]))).toMatchObject({
      ...{ auth: 'passed', repositories: 'failed', permissions: 'passed', protection: 'passed' },
    });
  });

  it('amends nothing where a later read cannot tell whether the thing is gone', async () => {
    const { id, witness } = await call('create_issue', { title: 'Kept', body: 'b' });
    expect(witness).toMatchObject({ verdict: 'VERIFIED' });
    wire.quirk = () => ({ status: 404, body: { message: 'Not Found' } });
    const again = await asAdmin('POST', `/v1/actions/${String(id)}/witness`);
    expect(again).toMatchObject({ status: 503, json: { error: { code: 'connector_unavailable' } } });
    expect((await asAdmin('GET', `/v1/actions/${String(id)}`)).json).toMatchObject({
      witness: { verdict: 'VERIFIED' },
    });
  });

  it('keeps its token where another is refused', async () => {
    expect(await store(`ghp_${'a'.repeat(36)}`)).toMatchObject({
      ...{ status: 400, json: { error: { code: 'validation_failed', param: 'secret.token' } } },
    });
    expect(await call('list_issues', {})).toMatchObject({ status: 'executed' });
  });

  it('is written to by what the policy of the guide allows, and every write is confirmed', async () => {
    wire.shop.branch('fix');
    for (const [tool, args] of [
      ['create_issue', { title: 'T', body: 'b' }],
      ['put_file', { branch: 'fix', path: 'docs/a.md', content: 'hä\n', message: 'Say more' }],
      ['create_pull_request', { head: 'fix', base: 'main', title: 'T', draft: false }],
    ] as const) {
      const action = await call(tool, args);
      expect(action).toMatchObject({ status: 'executed', witness: { level: 'L1', verdict: 'VERIFIED' } });
    }
    expect(wire.shop.file('fix', 'docs/a.md')).toBe('hä\n');
  });

  it('has a comment found by its mark where the answer was lost', async () => {
    wire.quirk = ({ method }) => (method === 'POST' ? 'answer_lost' : null);
    const before = wire.shop.comments.size;
    const action = await call('create_comment', { number: 1, body: 'Seen.' });
    expect(action).toMatchObject({ execution: { status: 'unknown' }, witness: { verdict: 'VERIFIED' } });
    expect(wire.shop.comments.size).toBe(before + 1);
  });

  it('takes a file as large as the config may allow, with its lines', async () => {
    const line = `${'x'.repeat(39)}\n`;
    const content = line.repeat(4_915) + 'x'.repeat(196_608 - 4_915 * 40);
    const action = await call('put_file', { branch: 'fix', path: 'docs/large.md', content, message: 'Say much' });
    expect(action).toMatchObject({ status: 'executed', witness: { verdict: 'VERIFIED' } });
    expect(
      await call('put_file', { branch: 'fix', path: 'docs/larger.md', content: `${content}x`, message: 'm' }),
    ).toMatchObject({
      status: 'failed',
      execution: { error_code: 'validation_failed' },
    });
  });

  it('is merged into by nobody but a person, and written to past the rules by no policy', async () => {
    const head_sha = wire.shop.branches.get('fix');
    expect(await call('merge_pull_request', { number: 2, head_sha, base: 'main', method: 'squash' })).toMatchObject({
      status: 'pending_approval',
    });
    const before = wire.requests.length;
    const args = { path: 'a', content: 'x', message: 'm' };
    for (const branch of ['main', 'refs/heads/main', 'MAIN']) {
      const action = await call('put_file', { ...args, branch });
      expect(action).toMatchObject({ status: 'failed', execution: { error_code: 'validation_failed' } });
    }
    expect(wire.requests).toHaveLength(before);
    expect(wire.shop.file('main', 'a')).toBeNull();
  });
});
