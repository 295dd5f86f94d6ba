import { describe, expect, it } from 'vitest';
import {
  type CallAsAdmin,
  type DemoDatabase,
  DemoConnectorRefused,
  ensureDemoConnector,
  untilDemoIsReady,
} from './index.js';

const DEMO: DemoDatabase = {
  host: '127.0.0.1',
  port: 20_001,
  database: 'shop',
  agent: { username: 'ags_agent', password: 'agent-password' },
  witness: { username: 'ags_witness', password: 'witness-password' },
  isNew: false,
  ownerConnectionString: 'postgres://127.0.0.1:20001/shop',
  release: () => Promise.resolve(),
};

type Asked = readonly [method: string, path: string, body?: object];
type Said = Awaited<ReturnType<CallAsAdmin>>;

/** What the API of a service says to each request, in the order in which they are made. */
const asked = async (demo: DemoDatabase, ...answers: readonly Said[]): Promise<[status: unknown, Asked[]]> => {
  const requests: Asked[] = [];
  const call: CallAsAdmin = (method, path, body) => {
    requests.push(body === undefined ? [method, path] : [method, path, body]);
    const answer = answers[requests.length - 1];
    if (answer === undefined) throw new Error(`one request too many: ${method} ${path}`);
    return Promise.resolve(answer);
  };
  return [await ensureDemoConnector(call, demo), requests];
};

const absent: Said = { status: 404, json: { error: { code: 'not_found' } } };
const fine: Said = { status: 200, json: {} };
const connector = (over: object = {}): Said => ({
  status: 200,
  json: {
    type: 'database',
    config: { host: '127.0.0.1', port: 20_001, database: 'shop', max_rows_changed: 5 },
    config_hash: 'sha256:0',
    credential: { kind: 'database' },
    health: { status: 'passing' },
    ...over,
  },
});
const CREDENTIAL = {
  kind: 'database',
  secret: {
    username: 'ags_agent',
    password: 'agent-password',
    witness_username: 'ags_witness',
    witness_password: 'witness-password',
  },
};
const PUT = ['PUT', '/v1/connectors/demo/credentials', CREDENTIAL] as const;

describe('the connector demo', () => {
  it('is made with both roles, and with a witness on the slot and publication of the demo', async () => {
    const [status, requests] = await asked(DEMO, absent, fine, fine);
    expect(status).toBe('done');
    expect(requests.slice(1)).toEqual([
      [
        'POST',
        '/v1/connectors',
        {
          type: 'database',
          name: 'demo',
          description: 'An invented shop, to try agents on',
          config: {
            host: '127.0.0.1',
            port: 20_001,
            database: 'shop',
            ssl: 'disable',
            schemas: ['public'],
            witness: { enabled: true, slot: 'ags_demo', publication: 'ags_demo' },
            watch_bypass: true,
          },
        },
      ],
      PUT,
    ]);
  });

  it('stays as it is where it leads to the database', async () => {
    const [status, requests] = await asked(DEMO, connector());
    expect([status, requests.length]).toEqual(['skipped', 1]);
  });

  it('is led to where the database listens now, and keeps what an admin has set', async () => {
    const [status, requests] = await asked({ ...DEMO, port: 20_002 }, connector(), fine, fine);
    expect(status).toBe('changed');
    expect(requests.slice(1)).toEqual([
      [
        'PATCH',
        '/v1/connectors/demo',
        {
          config: { host: '127.0.0.1', port: 20_002, database: 'shop', max_rows_changed: 5 },
          expected_config_hash: 'sha256:0',
        },
      ],
      PUT,
    ]);
  });

  it.each([
    ['the database was made anew', { ...DEMO, isNew: true }, {}],
    ['an interrupted run has stored none', DEMO, { credential: null }],
    ['its last test failed', DEMO, { health: { status: 'failing' } }],
  ])('gets its credential again where %s', async (_, demo, over) => {
    const [status, requests] = await asked(demo, connector(over), fine);
    expect([status, requests.slice(1)]).toEqual(['changed', [PUT]]);
  });

  it('is left alone where somebody has given the name to another connector', async () => {
    const [status, requests] = await asked(DEMO, connector({ type: 'rest' }));
    expect([status, requests.length]).toEqual(['taken', 1]);
  });

  it('is ready once its decoder follows, and its test has passed', async () => {
    const requests: string[] = [];
    const statuses = ['down', 'healthy'];
    await untilDemoIsReady((method, path) => {
      requests.push(`${method} ${path}`);
      const json = method === 'POST' ? { status: 'warnings' } : { witness: { status: statuses.shift() } };
      return Promise.resolve({ status: 200, json });
    });
    const look = 'GET /v1/connectors/demo';
    expect(requests).toEqual([look, look, 'POST /v1/connectors/demo/test']);
  });

  it('is not, in the words of its test, where that fails', async () => {
    const checks = [
      { check: 'version', status: 'passed', detail: 'PostgreSQL 18.' },
      { check: 'slot', status: 'failed', detail: 'There is no replication slot "ags_demo".' },
    ];
    const call: CallAsAdmin = () => Promise.resolve({ status: 200, json: { status: 'failing', checks } });
    await expect(untilDemoIsReady(call, 0)).rejects.toThrow(
      'The connector demo is not ready: There is no replication slot "ags_demo".',
    );
  });

  it('says in the words of the API why it was refused', async () => {
    const refused: Said = { status: 422, json: { error: { code: 'validation_failed', message: 'No.' } } };
    const attempt = asked(DEMO, absent, refused);
    await expect(attempt).rejects.toThrow(DemoConnectorRefused);
    await expect(attempt).rejects.toThrow('The connector demo was refused (validation_failed): No.');
  });
});
