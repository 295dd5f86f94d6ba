import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runAgs } from '../support/run-ags.js';
import { removeStateDir, startService, temporaryStateDir, type RunningService } from '../support/service.js';

const PATIENT = { timeout: 60_000, interval: 100 };

let database: TestDatabase;
let stateDir: string;
/** Started first, so it seals and projects. */
let frozen: RunningService;
let healthy: RunningService;

beforeAll(async () => {
  database = await createTestDatabase();
  stateDir = await temporaryStateDir();
  const env = { DATABASE_URL: database.connectionString, LOG_LEVEL: 'error' };
  frozen = await startService({ stateDir, env });
  healthy = await startService({ stateDir, env });
});
afterAll(async () => {
  // One that stands still hears of no SIGTERM.
  process.kill(frozen.pid, 'SIGCONT');
  await Promise.all([frozen?.stop(), healthy?.stop()]);
  await removeStateDir(stateDir);
  await database?.drop();
});

/** A refusal is answered once it is sealed, or after ten seconds with 503: asked for again then, it is the same one. */
const refuse = async (service: RunningService) => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const ask = () => service.call('POST', '/v1/actions', { key: frozen.agentKey, body: { tool: 'x.y' }, headers });
  for (const deadlineMs = performance.now() + PATIENT.timeout; ;) {
    const answer = await ask();
    if (answer.status !== 503 || performance.now() > deadlineMs) return answer;
  }
};
const sealed = { error: { action: { state: 'sealed' } } };
const listed = async (): Promise<number> => {
  const { json } = await healthy.call('GET', '/v1/deeds?kind=action&limit=100', { key: frozen.adminKey });
  return (json['data'] as unknown[]).length;
};

describe('a process that stands still with its leases (F-02, INV-16)', { timeout: 180_000 }, () => {
  it('keeps nobody from sealing and projecting', async () => {
    expect(await refuse(frozen)).toMatchObject(sealed);
    process.kill(frozen.pid, 'SIGSTOP');
    expect(await refuse(healthy)).toMatchObject(sealed);
    expect(await refuse(healthy)).toMatchObject(sealed);
    await vi.waitFor(async () => expect(await listed()).toBe(3), PATIENT);
  });

  it('does no harm when it wakes: each outcome has one deed, in one chain', async () => {
    // Much waits for it: what it does before it hears that its leases are gone, it does on what it remembers.
    const during = Array.from({ length: 20 }, () => refuse(healthy));
    process.kill(frozen.pid, 'SIGCONT');
    const after = Array.from({ length: 20 }, () => refuse(frozen));
    for (const answer of await Promise.all([...during, ...after])) expect(answer).toMatchObject(sealed);
    await vi.waitFor(async () => expect(await listed()).toBe(43), PATIENT);
    const check = await healthy.call('GET', '/v1/ledger/check', { key: frozen.adminKey });
    expect(check.json).toMatchObject({ result: 'intact', links_intact: true });
    const audit = await runAgs(['audit', '--json'], { env: healthy.environment });
    expect(audit).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0 } });
  });
});
