import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { signatureHeader } from '../../libs/domain/src/webhooks/signature.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startService, type RunningService } from '../support/service.js';
import { startUpstream, type SeenRequest, type Upstream } from '../support/upstream.js';

const ENDPOINTS = 10;
const EVENTS = 80;
const DELIVERIES = ENDPOINTS * EVENTS;
/** Of all endpoints, when the service is killed. */
const KILLS_AT = [120, 360, 600];
/** What was under way when the service was killed may arrive twice: four to each endpoint. */
const TWICE_AT_MOST = KILLS_AT.length * ENDPOINTS * 4;
const ANSWER_MS = 100;
const PATIENT = { timeout: 120_000, interval: 100 };

let database: TestDatabase;
let rows: pg.Client;
let service: RunningService;
let receiver: Upstream;
const secrets = new Map<string, string>();

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startUpstream((_seen, response) => void after(ANSWER_MS).then(() => response.writeHead(204).end()));
  service = await startService({
    env: {
      DATABASE_URL: database.connectionString,
      LOG_LEVEL: 'error',
      // A process that is gone has then fallen silent after 23 s.
      SERVICE_WEBHOOK_TIMEOUT_MS: '3000',
      SERVICE_SWEEP_INTERVAL_MS: '500',
    },
  });
  rows = new pg.Client({ connectionString: database.connectionString });
  await rows.connect();
  for (let count = 0; count < ENDPOINTS; count += 1) {
    const body = { url: `${receiver.baseUrl}/${count}`, events: ['action.decided'] };
    const { status, json } = await service.call('POST', '/v1/webhooks', { key: service.adminKey, body });
    expect(status).toBe(201);
    secrets.set(String(json['id']), String(json['secret']));
  }
});
afterAll(async () => {
  await rows?.end();
  await service?.stop();
  await receiver?.close();
  await database?.drop();
});

const headerOf = ({ headers }: SeenRequest, name: string): string => String(headers[name]);
const deliveryOf = (seen: SeenRequest): string =>
  `${headerOf(seen, 'service-webhook-id')} ${headerOf(seen, 'service-event-id')}`;
const statuses = async (): Promise<Record<string, number>> => {
  const { rows: counted } = await rows.query<{ status: string; n: number }>(
    `select status, count(*)::int as n from webhooks.deliveries group by status`,
  );
  return Object.fromEntries(counted.map(({ status, n }) => [status, n]));
};

describe('webhooks of a service that is killed meanwhile', () => {
  it(`loses none of ${DELIVERIES} deliveries, and sends none twice but what was under way at a kill`, async () => {
    const call = () =>
      service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool: 'nobody.nothing', args: {} } });
    for (let sent = 0; sent < EVENTS; sent += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, call));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(404));
    }
    for (const heard of KILLS_AT) {
      await vi.waitFor(() => expect(receiver.seen.length).toBeGreaterThan(heard), PATIENT);
      await service.kill('SIGKILL');
      await service.start();
    }
    await vi.waitFor(async () => expect(await statuses()).toEqual({ delivered: DELIVERIES }), PATIENT);
    const heard = new Map<string, number>();
    for (const seen of receiver.seen) heard.set(deliveryOf(seen), (heard.get(deliveryOf(seen)) ?? 0) + 1);
    const { rows: told } = await rows.query<{ evt: string }>(
      `select evt from read_models.public_events where type = 'action.decided'`,
    );
    const expected = told.flatMap(({ evt }) => [...secrets.keys()].map((webhook) => `${webhook} ${evt}`));
    expect(expected).toHaveLength(DELIVERIES);
    expect([...heard.keys()].toSorted()).toEqual(expected.toSorted());
    expect(receiver.seen.length - DELIVERIES).toBeLessThanOrEqual(TWICE_AT_MOST);
    // Counted again at most where two kills met one delivery: the first leaves its number to the next process.
    const { rows: counted } = await rows.query<{ most: number }>(
      `select max(attempt) as most from webhooks.deliveries`,
    );
    expect(counted[0]?.most).toBeLessThanOrEqual(2);
  });

  it('signed each of them under the secret of its endpoint', () => {
    for (const seen of receiver.seen) {
      const signature = headerOf(seen, 'service-signature');
      const seconds = Number(/^t=(\d+)/.exec(signature)?.[1]);
      const secret = Buffer.from(secrets.get(headerOf(seen, 'service-webhook-id')) ?? '');
      expect(signature).toBe(signatureHeader(Buffer.from(seen.body), seconds, [secret]));
    }
  });

  it('is heard again after a kill long before the claims of the process that is gone end', async () => {
    // As many as may be under way to one endpoint, each until its process says what came of it.
    const hanging = await startUpstream((seen, response) => void (isHanging ? seen : response.writeHead(204).end()));
    let isHanging = true;
    const asked = { url: `${hanging.baseUrl}/hanging`, events: ['action.decided'] };
    const { json } = await service.call('POST', '/v1/webhooks', { key: service.adminKey, body: asked });
    const call = () =>
      service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool: 'nobody.nothing', args: {} } });
    for (let count = 0; count < 5; count += 1) await call();
    await vi.waitFor(() => expect(hanging.seen).toHaveLength(4), PATIENT);
    isHanging = false;
    const { rows: claims } = await rows.query<{ ends: string }>(
      `select min(due_ms) as ends from webhooks.deliveries where webhook = $1 and status = 'delivering'`,
      [json['id']],
    );
    await service.kill('SIGKILL');
    await service.start();
    await vi.waitFor(() => expect(new Set(hanging.seen.map(deliveryOf)).size).toBe(5), PATIENT);
    expect(Date.now()).toBeLessThan(Number(claims[0]?.ends));
    await vi.waitFor(() => expect(hanging.seen).toHaveLength(9), PATIENT);
    expect(Date.now()).toBeLessThan(Number(claims[0]?.ends));
    await service.call('DELETE', `/v1/webhooks/${String(json['id'])}`, { key: service.adminKey });
    await hanging.close();
  });

  it('goes on with what happens next', async () => {
    // What was under way to these endpoints at the last kill comes first: it would be counted as what happens next.
    const left = `select count(*)::int as n from webhooks.deliveries where status <> 'delivered' and webhook = any($1)`;
    await vi.waitFor(async () => {
      const { rows: counted } = await rows.query<{ n: number }>(left, [[...secrets.keys()]]);
      expect(counted[0]?.n).toBe(0);
    }, PATIENT);
    const before = receiver.seen.length;
    await service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool: 'nobody.nothing', args: {} } });
    const begun = performance.now();
    await vi.waitFor(() => expect(receiver.seen.length).toBe(before + ENDPOINTS), PATIENT);
    // Ten times what it takes without the bell: the poll of a second, then the sweep of half a second.
    expect(performance.now() - begun).toBeLessThan(15_000);
  });
});
