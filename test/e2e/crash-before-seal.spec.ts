import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HeldLease, PostgresLeases } from '#libs/infra/leases';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#libs/infra/postgres';
import { connectCrm } from '../support/crm.js';
import { startService, type RunningService } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { upToDate } from '../support/up-to-date.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

let service: RunningService;
let upstream: Upstream;
let database: EmbeddedPostgres;

beforeAll(async () => {
  upstream = await startUpstream();
  service = await startService({ env: { LOG_LEVEL: 'error' } });
  await connectCrm(service, upstream.baseUrl);
  database = await startEmbeddedPostgres({ stateDir: service.stateDir, log: silentLogger });
});

afterAll(async () => {
  await database?.release();
  await service?.stop();
  await upstream?.close();
});

/** Free as soon as the killed process's connection is gone. */
const takeSealersLease = async (): Promise<HeldLease> => {
  const leases = new PostgresLeases(database.connectionString('service'));
  for (const deadline = Date.now() + 10_000; Date.now() < deadline;) {
    const lease = await leases.tryTake('sealer');
    if (lease) return lease;
  }
  throw new Error('the lease did not become free');
};

const submit = (name: string, key: string) =>
  service.call('POST', '/v1/actions', {
    key: service.agentKey,
    body: { tool: `crm.${name}`, args: { id: '42', ...(name === 'add_note' ? { text: key } : {}) }, wait: 0 },
    headers: { 'Idempotency-Key': key },
  });
const read = (id: unknown, wait: number) =>
  service.call('GET', `/v1/actions/${String(id)}?wait=${wait}`, { key: service.agentKey });

describe('kill -9 between outcome and seal (CP-21)', () => {
  it('loses nothing and seals each outcome once, in the order of the log', async () => {
    await service.kill('SIGKILL');
    // Nobody seals while this test holds the lease, so the kill falls for certain between outcome and seal.
    const lease = await takeSealersLease();
    await service.start();
    const accepted = await Promise.all(
      Array.from({ length: 5 }, (_, index) => submit('add_note', `before-seal-${index}`)),
    );
    const ids = accepted.map(({ json }) => String(json['id']));
    for (const id of ids) {
      let state: unknown;
      do state = (await read(id, 1)).json['state'];
      while (state === 'executing');
      expect(state).toBe('recorded');
    }
    await service.kill('SIGKILL');
    await lease.release();
    await service.start();

    for (const id of ids) {
      const { json } = await read(id, 25);
      expect(json).toMatchObject({ state: 'sealed', execution: { status: 'succeeded' } });
      expect(upstream.countFor(id)).toBe(1);
    }
    const deeds = await upToDate(() => service.call('GET', '/v1/deeds?kind=action', { key: service.adminKey }));
    const sealed = (deeds.json['data'] as { action: string; seq: number }[]).map(({ action }) => action);
    expect([...sealed].sort()).toEqual([...ids].sort());
    const check = await service.call('GET', '/v1/ledger/check', { key: service.adminKey });
    expect(check.json).toMatchObject({ result: 'intact' });
  });

  it('the same keys again answer from what was sealed, and send nothing', async () => {
    const again = await submit('add_note', 'before-seal-0');
    expect(again.headers.get('service-idempotent-replayed')).toBe('true');
    expect(again.json).toMatchObject({ state: 'sealed' });
    expect(upstream.countFor(String(again.json['id']))).toBe(1);
  });
});
