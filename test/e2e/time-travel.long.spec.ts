import { execFileSync } from 'node:child_process';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runAgs, type AgsRun } from '../support/run-ags.js';
import { startService, type Answer, type RunningService } from '../support/service.js';

let service: RunningService;

beforeAll(async () => {
  service = await startService({ env: { SERVICE_SWEEP_INTERVAL_MS: '200' } });
});
afterAll(() => service?.stop());

const ags = (...args: string[]): Promise<AgsRun> => runAgs([...args, '--json'], { env: service.environment });
/** Refused, so that its deed is waited for. */
const act = (): Promise<Answer> =>
  service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool: 'mail.send', args: {}, wait: 0 } });
/** What the state directory remembers of the one ledger: `seq:body_hash`. */
const lastHead = async (): Promise<string> =>
  (await readFile(join(service.stateDir, 'sealed-heads'), 'utf8')).trim().split(' ')[1] as string;
const health = async () => (await service.call('GET', '/v1/health')).json;

describe('a database that went back in time (rule DEED-14)', () => {
  it('gets no deed until an operator has decided: no number is given out twice', async () => {
    const now = join(service.stateDir, 'postgres');
    const yesterday = join(service.stateDir, 'yesterday');
    expect(await act()).toMatchObject({ status: 404 });
    await service.kill('SIGTERM');
    // With its owner: under root the database is another user's.
    execFileSync('cp', ['-a', now, yesterday]);
    await service.start();
    expect(await act()).toMatchObject({ status: 404 });
    await service.kill('SIGTERM');
    const head = await lastHead();
    await rm(now, { recursive: true });
    await rename(yesterday, now);

    await service.start();
    await vi.waitFor(async () => expect(await health()).toMatchObject({ checks: { sealing: 'degraded' } }), 20_000);
    expect(service.stdout).toContain('went back in time');
    expect(await act()).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    const doctor = await ags('doctor');
    expect(doctor.objects.find((finding) => finding['check'] === 'ledger_chain')).toMatchObject({ status: 'problem' });
    const refused = await ags('confirm-restore');
    expect(refused).toMatchObject({ code: 1, error: { code: 'restore_behind' } });
    expect(refused.error['message']).toContain(`does not hold the deed ${head}`);

    const accepted = await ags('confirm-restore', '--accept-fork');
    expect(accepted).toMatchObject({
      code: 0,
      object: { checked: [service.org], forked: [{ org: service.org }] },
    });
    await vi.waitFor(async () => expect(await health()).toMatchObject({ status: 'ok' }), 20_000);
    expect(await act()).toMatchObject({ status: 404 });
    expect(await ags('confirm-restore')).toMatchObject({ code: 0, object: { forked: [] } });
  });
});
