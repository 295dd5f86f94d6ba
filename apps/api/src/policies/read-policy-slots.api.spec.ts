import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { PoliciesModule } from './policies.module.js';

type Json = Record<string, unknown>;

let bench: ApiBench;

beforeAll(async () => {
  bench = await ApiBench.start([PoliciesModule]);
  await bench.ownAdminKey();
});
afterAll(() => bench.close());

const post = async (path: string, body: unknown): Promise<Json> => {
  const headers = { ...bearer('admin'), 'Content-Type': 'application/json' };
  const { status, json } = await bench.send('POST', path, { headers, body: JSON.stringify(body) });
  expect([200, 201]).toContain(status);
  return json as Json;
};
const slots = async (): Promise<Json | null> =>
  (await bench.send('GET', '/v1/policies/slots', { headers: bearer('admin') })).json;
const made = (name: string): Promise<Json> =>
  post('/v1/policies', { name, source: `# ${name}\nversion: 1\ndefault: deny\n` });
const put = (policy: Json, mode: string): Promise<Json> =>
  post(`/v1/policies/${String(policy['id'])}/versions/1/activate`, { mode });
const takeOut = (policy: Json, mode: string): Promise<Json> =>
  post(`/v1/policies/${String(policy['id'])}/deactivate`, { mode });

describe('GET /v1/policies/slots', () => {
  it('tells what is in each, since when and by whom', async () => {
    expect(await slots()).toEqual({ object: 'policy_slots', enforced: null, shadow: null });
    const [decides, tried] = [await made('Decides'), await made('Tried')];
    await put(decides, 'enforce');
    await put(tried, 'shadow');
    const held = (policy: Json) => ({
      policy: { id: policy['id'], name: policy['name'] },
      policy_version: (policy['latest_version'] as Json)['id'],
      version: 1,
      since: expect.stringMatching(/Z$/),
      by: { type: 'admin_key', id: expect.stringMatching(/^key_/) },
    });
    expect(await slots()).toEqual({ object: 'policy_slots', enforced: held(decides), shadow: held(tried) });
    await takeOut(tried, 'shadow');
    expect(await slots()).toMatchObject({ enforced: held(decides), shadow: null });
    await put(tried, 'enforce');
    expect(await slots()).toMatchObject({ enforced: held(tried), shadow: null });
  });
});
