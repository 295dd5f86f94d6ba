import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bearer, type JsonAnswer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { PaymentsWire, WIRE_KEY, WIRE_VERSION } from '../../../../test/support/payments-wire.js';
import { ConnectorsModule } from './connectors.module.js';

let bench: ApiBench;
let wire: PaymentsWire;
let numbers = 0;

beforeAll(async () => {
  bench = await ApiBench.start([ConnectorsModule], {
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  wire = await PaymentsWire.start();
});
afterAll(async () => {
  await wire?.close();
  await bench?.close();
});
afterEach(() => {
  wire.quirk = () => null;
  wire.version = WIRE_VERSION;
});

const send = (method: string, path: string, body?: unknown): Promise<JsonAnswer> =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const made = async (): Promise<string> => {
  const name = `pay-${(numbers += 1)}`;
  const config = { api_version: WIRE_VERSION, refund_limits: { eur: 10_000 }, base_url: wire.baseUrl };
  expect((await send('POST', '/v1/connectors', { type: 'payments', name, config })).status).toBe(201);
  return name;
};
const store = (name: string, token: string) =>
  send('PUT', `/v1/connectors/${name}/credentials`, { kind: 'bearer', secret: { token } });
const stored = async (): Promise<string> => {
  const name = await made();
  expect((await store(name, WIRE_KEY)).status).toBe(200);
  return name;
};
const test = (name: string) => send('POST', `/v1/connectors/${name}/test`);
const connector = async (name: string) => (await send('GET', `/v1/connectors/${name}`)).json as Record<string, unknown>;
interface TestedLine {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly fix: string | null;
}
const linesOf = ({ json }: JsonAnswer): readonly TestedLine[] => json?.['checks'] as readonly TestedLine[];
const lineOf = (answer: JsonAnswer, name: string): TestedLine | undefined =>
  linesOf(answer).find(({ check }) => check === name);
const errorOf = ({ json }: JsonAnswer) => json?.['error'] as Record<string, unknown>;
const events = async (): Promise<string> =>
  (
    await bench.pool.query<{ text: string }>(
      `select coalesce(string_agg(data::text, ' '), '') as text from event_store.events`,
    )
  ).rows[0]?.text ?? '';

describe('the key of a payments connector', () => {
  const RANDOM = 'a1B2c3D4e5F6g7H8i9J0k1L2';

  it.each([
    ['live', `sk_live_${RANDOM}`],
    ['live and restricted', `rk_live_${RANDOM}`],
    ['in capitals', `SK_LIVE_${RANDOM}`],
    ['in full width', `ｓｋ＿ｌｉｖｅ＿${RANDOM}`],
    ['percent-encoded', `sk%5Flive%5F${RANDOM}`],
    ['percent-encoded twice', `sk%255Flive%255F${RANDOM}`],
    ['with invisible characters', `sk_\u200Bli\u2060ve_${RANDOM}`],
    ['in quotes', `"sk_live_${RANDOM}"`],
    ['behind a word', `Bearer sk_live_${RANDOM}`],
    ['behind a key of the sandbox', `${WIRE_KEY} sk_live_${RANDOM}`],
    ['of an organization', `sk_org_test_${RANDOM}`],
    ['that is public', `pk_test_${RANDOM}`],
    ['that signs webhooks', `whsec_${RANDOM}`],
  ])('is refused %s, and nothing of it is kept', async (_title, token) => {
    const name = await made();
    const refused = await store(name, token);
    expect([refused.status, errorOf(refused)['code']]).toEqual([400, 'payments_live_key_refused']);
    expect(refused.text).not.toContain(RANDOM);
    expect((await connector(name))['credential']).toBeNull();
    expect(await events()).not.toContain(RANDOM);
  });

  it('is refused with its field where it is none at all', async () => {
    const refused = await store(await made(), 'not-a-key-of-any-kind');
    expect([refused.status, errorOf(refused)['code'], errorOf(refused)['param']]).toEqual([
      400,
      'validation_failed',
      'secret.token',
    ]);
  });

  it('is refused as another kind', async () => {
    const body = { kind: 'header', secret: { value: WIRE_KEY } };
    expect((await send('PUT', `/v1/connectors/${await made()}/credentials`, body)).status).toBe(400);
  });
});

describe('the test of a payments connector', () => {
  it('passes where the key is good and the version is spoken', async () => {
    const name = await stored();
    const tested = await test(name);
    expect(linesOf(tested).map(({ check, status }) => `${check} ${status}`)).toEqual([
      'config passed',
      'credentials passed',
      'destination passed',
      'tls skipped',
      'auth passed',
      'version passed',
      'permissions passed',
    ]);
    expect((await connector(name))['health']).toMatchObject({ status: 'passing' });
    expect(wire.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('names the version that is not spoken, and what to set', async () => {
    wire.version = '2024-06-20';
    const tested = await test(await stored());
    expect(lineOf(tested, 'version')).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('api_version') as string,
    });
    expect(tested.json).toMatchObject({ status: 'failing' });
  });

  it('warns of what the key may not read', async () => {
    wire.quirk = ({ path }) =>
      path === '/v1/refunds'
        ? { status: 403, body: { error: { type: 'invalid_request_error', code: 'more_permissions_required' } } }
        : null;
    const tested = await test(await stored());
    expect(tested.json).toMatchObject({ status: 'warnings' });
    expect(lineOf(tested, 'permissions')).toMatchObject({
      detail: expect.stringContaining('refunds') as string,
      fix: expect.stringContaining('restricted key') as string,
    });
  });

  it('says that the key is not taken', async () => {
    wire.quirk = () => ({ status: 401, body: { error: { type: 'invalid_request_error', message: `No ${WIRE_KEY}` } } });
    const tested = await test(await stored());
    expect(lineOf(tested, 'auth')).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('sk_test_') as string,
    });
    expect(lineOf(tested, 'version')).toMatchObject({ status: 'skipped' });
    expect(tested.text).not.toContain(WIRE_KEY);
  });

  it('disables the connector where the processor answers of real money, until a person enables it', async () => {
    const name = await stored();
    wire.quirk = () => ({ status: 200, body: { object: 'list', data: [{ object: 'charge', livemode: true }] } });
    expect((await test(name)).json).toMatchObject({ status: 'failing' });
    expect(await connector(name)).toMatchObject({ status: 'disabled', health: { reason: 'livemode_detected' } });
    const disabled = (await events()).match(/livemode_detected/g);
    await test(name);
    expect((await events()).match(/livemode_detected/g)).toEqual(disabled);
    wire.quirk = () => null;
    expect((await send('PATCH', `/v1/connectors/${name}`, { status: 'active' })).json).toMatchObject({
      status: 'active',
    });
    expect((await test(name)).json).toMatchObject({ status: 'passing' });
  });
});
