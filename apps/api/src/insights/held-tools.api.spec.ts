import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { type ScriptedServer, startScriptedServer, TOOL } from '../../../../test/support/mcp-server.js';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

const PATIENCE = { timeout: 20_000, interval: 50 };

let server: ScriptedServer;
let bench: PeopleBench;
let owner: Browser;

beforeAll(async () => {
  server = await startScriptedServer();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  owner = await bench.ownerBrowser();
});
afterAll(async () => {
  await bench?.close();
  await server?.close();
});

const refresh = (name: string) => owner.send('POST', `/v1/connectors/${name}/tools/refresh`);

/** A connector whose server has changed both of its tools since they were accepted. */
const changedConnector = async (name: string): Promise<string> => {
  const [one, two] = [
    { ...TOOL, name: 'one' },
    { ...TOOL, name: 'two' },
  ];
  const lists = (...tools: readonly JsonObject[]) => server.set({ 'tools/list': () => ({ tools: [...tools] }) });
  lists(one, two);
  const config = { url: server.url.replace('mcp.example', '127.0.0.1'), auth: { kind: 'none' } };
  const made = await owner.post('/v1/connectors', { type: 'mcp_http', name, config });
  expect(made.status).toBe(201);
  expect((await refresh(name)).json).toMatchObject({ held_tools: 0, tools: [{ name: `${name}.one` }, {}] });
  lists({ ...one, title: 'Other' }, { ...two, title: 'Other' });
  expect((await refresh(name)).json).toMatchObject({ held_tools: 2, tools: [] });
  return made.json['id'] as string;
};

describe('tools that their server changed', () => {
  it('need attention while their connector is active', async () => {
    const id = await changedConnector('issues');
    await changedConnector('paused');
    await owner.send('PATCH', '/v1/connectors/paused', { status: 'disabled' });
    await vi.waitFor(async () => {
      const { json } = await owner.get('/v1/connectors');
      expect(json['data']).toMatchObject([
        { name: 'paused', status: 'disabled', held_tools: 2 },
        { name: 'issues', held_tools: 2 },
      ]);
    }, PATIENCE);
    const { json } = await owner.get('/v1/overview');
    expect(json['attention']).toEqual([{ kind: 'tools_held', ids: [id], connector: 'issues', tools: 2 }]);
  });
});
