import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PeopleBench } from '../../../../test/support/people-bench.js';
import { startUpstream, type Upstream } from '../../../../test/support/upstream.js';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { runProgram } from '../program.js';

let upstream: Upstream;
let bench: PeopleBench;
beforeAll(async () => {
  upstream = await startUpstream();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  const owner = await bench.ownerBrowser();
  const config = {
    base_url: upstream.baseUrl,
    allowed_methods: ['GET'],
    allowed_path_prefixes: ['/v1'],
    tools: [{ name: 'get', method: 'GET', path: '/v1/x' }],
  };
  const made = [
    await owner.post('/v1/connectors', { type: 'rest', name: 'crm', config }),
    await owner.post('/v1/connectors', { type: 'rest', name: 'bare', config: { ...config, auth: { kind: 'bearer' } } }),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
});
afterAll(async () => {
  await bench?.close();
  await upstream?.close();
});
afterEach(() => vi.unstubAllEnvs());

const ags = async (args: readonly string[], key = bench.prepared.adminKey ?? '') => {
  vi.stubEnv('AGS_API_KEY', key);
  const { terminal, out, err } = writtenTerminal({ isTTY: false });
  const code = await runProgram(['connectors', 'test', ...args, '--url', bench.url], terminal);
  return { code, out: out(), err: err() };
};

describe('ags connectors test', () => {
  it('ends with 0 where the connector passes, and says what each check found', async () => {
    const { code, out, err } = await ags(['crm']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^check +status +detail\nconfig +passed +The config keeps/);
    expect(out).toMatch(/\nThe connector crm passes its test\.\n$/);
  });

  it('ends with 1 where it fails, and says what to do', async () => {
    const { code, out } = await ags(['bare']);
    expect([code, out]).toEqual([1, expect.stringContaining('credentials: Store a credential of kind bearer')]);
    expect(out).toMatch(/auth +skipped +Skipped, because the check credentials failed/);
  });

  it('prints the answer of the service as one JSON object', async () => {
    const { code, out } = await ags(['bare', '--json']);
    expect([code, JSON.parse(out)]).toMatchObject([1, { object: 'connector_test', status: 'failing' }]);
  });

  it('tells a connector that is not there, a word that is no name, and a key that is refused', async () => {
    expect(await ags(['absent'])).toMatchObject({ code: 1, err: expect.stringContaining('no connector absent') });
    expect(await ags(['../policies'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('The name of a connector'),
    });
    expect(await ags(['crm'], 'svc_live_nobody')).toMatchObject({ code: 3 });
  });
});
