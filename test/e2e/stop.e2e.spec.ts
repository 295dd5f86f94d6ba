import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RawConnection } from '../http/raw-http.js';
import { connectCrm } from '../support/crm.js';
import { startService, type RunningService } from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const DRAIN_TIMEOUT_MS = 300;

let service: RunningService;
let upstream: Upstream;
/** Whether the upstream keeps every request waiting. */
let isHeld: boolean;

beforeEach(async () => {
  isHeld = false;
  upstream = await startUpstream((_seen, response) => {
    if (!isHeld) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  service = await startService({ env: { SERVICE_DRAIN_TIMEOUT_MS: String(DRAIN_TIMEOUT_MS) } });
  await connectCrm(service, upstream.baseUrl);
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

  it('says what it left for recovery when the time to drain was not enough', async () => {
    isHeld = true;
    const { json } = await act();
    await vi.waitUntil(() => upstream.countFor(String(json['id'])) === 1);
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
    // Twice the time to drain, for requests and for executions, and what closing takes on a busy machine.
    expect(Number(fields['took_ms'])).toBeLessThan(2 * DRAIN_TIMEOUT_MS + 5_000);
    slow.close();
  });
});
