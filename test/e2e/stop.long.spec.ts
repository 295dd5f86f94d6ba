import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import pg from 'pg';
import { EMBEDDED_DATABASE } from '#libs/infra/config';
import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { RawConnection } from '../http/raw-http.js';
import { connectCrm } from '../support/crm.js';
import { startService, type RunningService } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const DRAIN_TIMEOUT_MS = 1_500;
/** After it the process ends, whatever it still waits for. */
const CLOSING_LIMIT_MS = 6_000;
/** What closing may take on a busy machine, the stop of an embedded database included. A call that hangs has a minute. */
const BUSY_MS = 15_000;
const SOON = { timeout: 20_000, interval: 5 };

let service: RunningService;
let upstream: Upstream;
/** Whether the upstream keeps every request waiting. */
let isHeld: boolean;

beforeEach(async () => {
  isHeld = false;
  upstream = await startUpstream((_seen, response) => {
    if (!isHeld) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  service = await startService({
    env: {
      SERVICE_DRAIN_TIMEOUT_MS: String(DRAIN_TIMEOUT_MS),
      SERVICE_SWEEP_INTERVAL_MS: '200',
      SERVICE_EXECUTOR_SILENCE_MS: '400',
    },
  });
  await connectCrm(service, upstream.baseUrl, { timeoutMs: 60_000 });
});
afterEach(async () => {
  await service?.stop();
  await upstream?.close();
});

const act = () =>
  service.call('POST', '/v1/actions', {
    key: service.agentKey,
    body: { tool: 'crm.add_note', args: { id: '42', text: 'x' }, wait: 0 },
  });

/** What the log says of the end: its line, parsed, and whether anything came after it. */
const farewell = (): { fields: Record<string, string>; isLast: boolean; count: number } => {
  const lines = service.stdout.trimEnd().split('\n');
  const said = lines.filter((line) => /message="?stopped/.test(line));
  const fields = Object.fromEntries(
    [...(said[0] ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, name, text]) => [name, text]),
  );
  return { fields: fields as Record<string, string>, isLast: lines.at(-1) === said[0], count: said.length };
};

describe('SIGTERM', () => {
  it('ends with one line that says how long it took, and that nothing was left', async () => {
    expect(await act()).toMatchObject({ status: 202 });
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
    const { fields, isLast, count } = farewell();
    expect([count, isLast]).toEqual([1, true]);
    expect(fields).toMatchObject({ level: 'info', requests_left: '0', executions_left: '0' });
    expect(Number(fields['took_ms'])).toBeGreaterThan(0);
  });

  it.each<NodeJS.Signals>(['SIGINT', 'SIGHUP'])('and %s, told twice, stop it once and whole', async (signal) => {
    isHeld = true;
    expect(await act()).toMatchObject({ status: 202 });
    const { pid } = service;
    const exited = service.exited();
    process.kill(pid, signal);
    await vi.waitFor(() => expect(service.stdout).toMatch(/message=stopping/), SOON);
    if (service.isRunning) process.kill(pid, signal);
    expect(await exited).toMatchObject({ code: 0, signal: null });
    expect(farewell()).toMatchObject({ count: 1, isLast: true });
    expect(existsSync(join(service.stateDir, 'postgres', 'postmaster.pid')), 'its database runs on').toBe(false);
  });

  it('says what it left for recovery when the time to drain was not enough', async () => {
    isHeld = true;
    const { json } = await act();
    await vi.waitUntil(() => upstream.countFor(String(json['id'])) === 1, SOON);
    const slow = await RawConnection.open(Number(new URL(service.baseUrl).port));
    slow.send(
      `POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.agentKey}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    );
    // By the time another request was served, this one is waiting for the rest of its body.
    await service.call('GET', '/v1/health');
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
    const { fields, isLast, count } = farewell();
    expect([count, isLast]).toEqual([1, true]);
    expect(fields).toMatchObject({ level: 'warn', requests_left: '1', executions_left: '1' });
    expect(Number(fields['took_ms'])).toBeLessThan(DRAIN_TIMEOUT_MS + BUSY_MS);
    slow.close();
  });

  it('leaves a call that hangs to the next start, which ends it honestly (rule EXEC-1)', async () => {
    isHeld = true;
    const { json } = await act();
    const id = String(json['id']);
    await vi.waitUntil(() => upstream.countFor(id) === 1, SOON);
    const signalledAtMs = performance.now();
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(performance.now() - signalledAtMs).toBeLessThan(DRAIN_TIMEOUT_MS + BUSY_MS);
    await service.start();
    const startedAtMs = performance.now();
    const read = () => service.call('GET', `/v1/actions/${id}?wait=25`, { key: service.agentKey });
    let action = await read();
    while (action.json['state'] !== 'sealed') action = await read();
    expect(action.json).toMatchObject({ status: 'executed', execution: { status: 'unknown' } });
    expect(upstream.countFor(id)).toBe(1);
    // Silence and two sweeps are less than a second; the deadline of the call would be a minute.
    expect(performance.now() - startedAtMs).toBeLessThan(BUSY_MS);
  });

  it('does not wait for ever for a database that lets nobody go on, and says that it did not end cleanly', async () => {
    const postgres = await startEmbeddedPostgres({ stateDir: service.stateDir, log: silentLogger });
    const client = new pg.Client({ connectionString: postgres.connectionString(EMBEDDED_DATABASE) });
    await client.connect();
    await client.query('begin; lock table read_models.projection_checkpoints in access exclusive mode');
    await act();
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'`;
    const isStuck = async () => (await client.query(waiting)).rowCount !== 0;
    await vi.waitUntil(isStuck, { timeout: BUSY_MS, interval: 5 });
    const signalledAtMs = performance.now();
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 1 });
    expect(performance.now() - signalledAtMs).toBeLessThan(DRAIN_TIMEOUT_MS + CLOSING_LIMIT_MS + BUSY_MS);
    expect(service.stdout.trimEnd().split('\n').at(-1)).toContain('did not stop in its time');
    await client.end();
    await postgres.release();
  });
});
