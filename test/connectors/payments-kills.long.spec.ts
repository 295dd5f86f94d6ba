import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Fleet } from '../support/fleet.js';
import type { FleetProcess } from '../support/fleet-process.js';
import { PaymentsWire, WIRE_KEY, WIRE_VERSION } from '../support/payments-wire.js';
import { type Answer, callAt } from '../support/service.js';

const DEADLINE_MS = 240_000;
const PATIENCE = { timeout: 60_000, interval: 50 };
const SETTINGS = {
  SERVICE_ENV: 'dev',
  SERVICE_FAILPOINTS: 'none',
  SERVICE_SWEEP_INTERVAL_MS: '200',
  SERVICE_EXECUTOR_SILENCE_MS: '400',
};
const POLICY = `version: 1
default: deny
rules:
  - id: refunds
    match:
      tools:
        - pay.create_refund
    decision: allow
`;
const WORKERS = 2;

/** Those that a refund meets whatever is answered, and those that it meets where it is sent twice. */
const ONCE = [
  ...['gate.t1', 'gate.t1.ack', 'gate.enqueue', 'gate.reply', 'exec.claimed', 'exec.before_send', 'exec.sent'],
  ...['exec.answered', 'exec.t4', 'exec.t4.ack', 'exec.read_back', 'exec.t5', 'exec.t5.ack'],
];
const TWICE = ['exec.retry', 'exec.t3', 'exec.t3.ack'];

let fleet: Fleet;
let wire: PaymentsWire;
let charge: string;
let refunded = 0;

const asAdmin = async (method: string, path: string, body: unknown): Promise<Answer['json']> => {
  const answer = await fleet.call(method, path, { key: fleet.adminKey, body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json;
};

/** In every process that runs. */
const arm = async (order: string): Promise<void> => {
  await writeFile(join(String(fleet.environment['SERVICE_STATE_DIR']), 'failpoints'), order);
  const armed = fleet.processes.map((process) => ({ process, before: process.stdout.length }));
  for (const { process } of armed) process.signal('SIGUSR2');
  const isArmed = ({ process, before }: (typeof armed)[number]): boolean =>
    !process.isRunning || process.stdout.slice(before).includes('failpoints are armed');
  await vi.waitUntil(() => armed.every(isArmed), PATIENCE);
};

/** Whoever is gone is replaced. */
const startMissing = async (): Promise<void> => {
  const gone = fleet.processes.filter(({ isRunning }: FleetProcess) => !isRunning);
  for (const process of gone) {
    fleet.takeOut(process);
    await fleet.start(process.program, 1);
  }
};

/** Under one key, so that it is one action however often it is sent. Null: nobody answered. */
const refund = async (key: string, amount: number): Promise<Answer | null> => {
  const [api] = fleet.running('api');
  const body = { tool: 'pay.create_refund', args: { charge, amount, currency: 'eur' }, wait: 2 };
  const call = { key: fleet.agentKey, headers: { 'Idempotency-Key': key }, body };
  return callAt(api?.baseUrl ?? '', 'POST', '/v1/actions', call).catch(() => null);
};

beforeAll(async () => {
  wire = await PaymentsWire.start();
  charge = wire.charge({ amount: 1_000_000 });
  fleet = await Fleet.prepare(SETTINGS);
  await fleet.start('worker', WORKERS);
  await fleet.start('api', 1);
  const config = { api_version: WIRE_VERSION, refund_limits: { eur: 10_000 }, base_url: wire.baseUrl };
  await asAdmin('POST', '/v1/connectors', { type: 'payments', name: 'pay', config });
  await asAdmin('PUT', '/v1/connectors/pay/credentials', { kind: 'bearer', secret: { token: WIRE_KEY } });
  const { id } = await asAdmin('POST', '/v1/policies', { name: 'Refunds', source: POLICY });
  await asAdmin('POST', `/v1/policies/${String(id)}/versions/1/activate`, { mode: 'enforce' });
}, DEADLINE_MS);
afterAll(async () => {
  await fleet?.stop();
  await wire?.close();
}, DEADLINE_MS);

describe('a refund in two workers, one of which is killed', () => {
  it.each([
    ...ONCE.map((point, index) => [point, 101 + index, false] as const),
    ...TWICE.map((point, index) => [point, 201 + index, true] as const),
  ])(
    'at %s is made once at most, and VERIFIED only where it is there',
    async (point, amount, isFaulty) => {
      let faults = isFaulty ? 1 : 0;
      wire.quirk = ({ method }) => {
        if (method === 'GET' || faults === 0) return null;
        faults -= 1;
        return { status: 503, body: { error: { type: 'api_error' } } };
      };
      await arm(`${point}=kill@1`);
      const killed = Promise.race(fleet.processes.map(({ ended }) => ended));
      void refund(point, amount);
      expect(await killed).toMatchObject({ signal: 'SIGKILL' });
      await arm('none');
      await startMissing();
      const ended = await vi.waitFor(async () => {
        const id = String((await refund(point, amount))?.json['id']);
        const { json, text } = await fleet.call('GET', `/v1/actions/${id}`, { key: fleet.adminKey });
        expect(json['witness'], text).toMatchObject({ verdict: expect.any(String) as string });
        return json;
      }, PATIENCE);
      const [{ verdict }, { status }] = [
        ended['witness'] as { readonly verdict: string },
        ended['execution'] as { readonly status: string },
      ];
      const made = wire.refunds.filter((one) => one['amount'] === amount);
      const seen = { status, verdict, made: made.length };
      expect(made.length, JSON.stringify(seen)).toBeLessThanOrEqual(1);
      if (made.length === 1) {
        expect(made[0]).toMatchObject({ metadata: { service_action_id: ended['id'] } });
        expect(seen).toMatchObject({ verdict: 'VERIFIED' });
      } else {
        expect(seen).not.toMatchObject({ verdict: 'VERIFIED' });
        expect(seen).not.toMatchObject({ status: 'succeeded' });
      }
      refunded += made.length * amount;
    },
    DEADLINE_MS,
  );

  it('is nothing that the processor holds and nobody was told of', () => {
    expect(wire.refunded(charge)).toBe(refunded);
  });
});
