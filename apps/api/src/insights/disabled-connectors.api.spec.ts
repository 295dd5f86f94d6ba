import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PaymentsWire, WIRE_KEY, WIRE_VERSION } from '../../../../test/support/payments-wire.js';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

const PATIENCE = { timeout: 20_000, interval: 50 };

let wire: PaymentsWire;
let bench: PeopleBench;
let owner: Browser;

beforeAll(async () => {
  wire = await PaymentsWire.start();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  owner = await bench.ownerBrowser();
});
afterAll(async () => {
  await bench?.close();
  await wire?.close();
});

const connected = async (name: string): Promise<string> => {
  const config = { api_version: WIRE_VERSION, refund_limits: { eur: 1_000 }, base_url: wire.baseUrl };
  const made = await owner.post('/v1/connectors', { type: 'payments', name, config });
  expect(made.status).toBe(201);
  const credential = { kind: 'bearer', secret: { token: WIRE_KEY } };
  expect((await owner.send('PUT', `/v1/connectors/${name}/credentials`, credential)).status).toBe(200);
  return made.json['id'] as string;
};

it('a connector that the service disabled needs attention, one that a person disabled does not', async () => {
  const [id] = [await connected('pay'), await connected('paused')];
  await owner.send('PATCH', '/v1/connectors/paused', { status: 'disabled' });
  wire.quirk = () => ({ status: 200, body: { object: 'list', data: [{ object: 'charge', livemode: true }] } });
  await owner.send('POST', '/v1/connectors/pay/test');
  await vi.waitFor(async () => {
    const { json } = await owner.get('/v1/connectors');
    expect(json['data']).toMatchObject([
      { name: 'paused', status: 'disabled', health: { reason: null } },
      { name: 'pay', status: 'disabled', health: { reason: 'livemode_detected' } },
    ]);
  }, PATIENCE);
  const since = expect.stringMatching(/^20\d\d-/) as string;
  expect((await owner.get('/v1/overview')).json['attention']).toEqual([
    { kind: 'connector_disabled', ids: [id], connector: 'pay', reason: 'livemode_detected', since },
  ]);
});
