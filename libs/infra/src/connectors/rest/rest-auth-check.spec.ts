import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';
import type { CheckFinding, TestedConnector } from '#libs/domain/connectors';

import { httpAnswer, jsonAnswer, type RawAnswer } from '../../../../../test/support/raw-upstream.js';
import type { CallHarness, GivenCall } from './testing/given-call.js';
import { bearer, cleanUpAfterEach, given } from './testing/given-upstream.js';

cleanUpAfterEach();

const TEST: JsonObject = { test: { method: 'GET', path: '/v1/me' } };
const WITH_BEARER = { auth: { kind: 'bearer' }, ...TEST };
const CANARY = bearer.values['token'] as string;

const check = ({ driver, connector }: CallHarness, changes: Partial<TestedConnector> = {}): Promise<CheckFinding> => {
  const [auth] = driver.checks();
  return auth!.run({
    connector,
    deadlineMonotonicMs: Number.MAX_SAFE_INTEGER,
    mayStillSend: () => Promise.resolve(null),
    ...changes,
  });
};
const checked = async (answer: RawAnswer, config: JsonObject = WITH_BEARER, more: Partial<GivenCall> = {}) => {
  const harness = await given(answer, { config, credential: bearer, ...more });
  const finding = await check(harness);
  expect(JSON.stringify(finding)).not.toContain(CANARY);
  expect(finding.detail).toMatch(/^[A-Z].*\.$/);
  return { ...harness, finding };
};

describe('the test request of a REST connector', () => {
  it('is skipped, with how to name one, where the config names none', async () => {
    const { finding, server } = await checked(() => httpAnswer(200), { auth: { kind: 'bearer' } });
    expect(finding).toMatchObject({ status: 'skipped', fix: expect.stringContaining('`test`') as unknown });
    expect(server.connections).toBe(0);
  });

  it('carries the credential and the headers of the config, and nothing of ours', async () => {
    const { finding, server, vault } = await checked(() => jsonAnswer(200, { token: CANARY }), {
      ...WITH_BEARER,
      send_action_id: true,
      headers: { 'Accept-Language': 'en' },
    });
    expect(finding).toEqual({ status: 'passed', detail: 'GET /v1/me was answered with 200.', fix: null });
    const head = server.requests[0]?.head ?? '';
    expect(head).toMatch(/^GET \/v1\/me HTTP/);
    expect(head).toContain(`Authorization: Bearer ${CANARY}`);
    expect(head).toContain('Accept-Language: en');
    expect(head).toContain('Connection: close');
    expect(head).not.toMatch(/service-(?!connectors)|traceparent/i);
    expect(vault.opened.every((bytes) => bytes.every((byte) => byte === 0))).toBe(true);
  });

  it.each([401, 403, 404, 418, 429, 500, 503, 302])(
    'fails on %i, once, and repeats no word of the answer',
    async (status) => {
      const { finding, server } = await checked(() =>
        jsonAnswer(
          status,
          { words: `no ${CANARY}` },
          { Location: `http://169.254.169.254/${CANARY}`, 'Retry-After': '0' },
        ),
      );
      expect(finding).toMatchObject({ status: 'failed', detail: expect.stringContaining(String(status)) as unknown });
      expect(finding.onlyWarns).toBe(status === 429 ? true : undefined);
      expect(finding.fix).not.toBeNull();
      expect(JSON.stringify(finding)).not.toMatch(/words|169\.254/);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('asks for a credential where the config has none and the system wants one', async () => {
    const { finding } = await checked(() => httpAnswer(401), TEST);
    expect(finding.detail).toContain('asks for a credential');
  });

  it('follows redirects within its host alone', async () => {
    const same: RawAnswer = ({ index }) =>
      index === 0 ? httpAnswer(302, '', { Location: '/v1/you', Connection: 'close' }) : httpAnswer(204);
    const config = { ...WITH_BEARER, redirects: 'same_host' };
    expect((await checked(same, config)).finding.status).toBe('passed');
    const away = await checked(() => httpAnswer(302, '', { Location: 'http://169.254.169.254/latest' }), config);
    expect(away.finding).toMatchObject({ status: 'failed', detail: expect.stringContaining('may not go') as unknown });
    const endless = await checked(() => httpAnswer(302, '', { Location: '/v1/me', Connection: 'close' }), config);
    expect(endless.finding.status).toBe('failed');
    expect(endless.server.requests).toHaveLength(4);
  });

  it('ends where an answer has no end, is too large, or breaks', async () => {
    const endless: RawAnswer = ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      return null;
    };
    const slow = await checked(endless, { ...WITH_BEARER, timeout_ms: 100 });
    expect(slow.finding.detail).toContain('within 100 ms');
    const huge = await checked(() => httpAnswer(200, 'x'.repeat(2_000)), { ...WITH_BEARER, max_response_bytes: 1_024 });
    expect(huge.finding.detail).toContain('max_response_bytes');
    const broken: RawAnswer = ({ socket }) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx');
      return null;
    };
    expect((await checked(broken)).finding.detail).toContain('broke');
    const noise: RawAnswer = ({ socket }) => {
      socket.end(`${CANARY}\r\n\r\n`);
      return null;
    };
    expect((await checked(noise)).finding.status).toBe('failed');
  });

  it('is not sent once the connector has changed, or its credential is gone', async () => {
    const harness = await given(() => httpAnswer(200), { config: WITH_BEARER, credential: bearer });
    const changed = await check(harness, { mayStillSend: () => Promise.resolve('conflict') });
    expect(changed).toMatchObject({ status: 'failed', fix: 'Test again.' });
    const unknown = await check(harness, { mayStillSend: () => Promise.reject(new Error('no store')) });
    expect(unknown).toMatchObject({ status: 'failed', fix: 'Test again.' });
    await harness.vault.destroy({ org: harness.connector.org, object: '', version: 'v1' });
    expect((await check(harness)).detail).toContain('removed while it was tested');
    expect(harness.server.receivedBytes).toBe(0);
  });

  it('is not sent where the name has come to lead to where nothing may go', async () => {
    const harness = await given(() => httpAnswer(200), {
      config: WITH_BEARER,
      credential: bearer,
      resolve: () => Promise.resolve(['169.254.169.254']),
    });
    expect(await check(harness)).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('egress') as unknown,
    });
  });
});
