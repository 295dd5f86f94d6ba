import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from './edge-client.js';
import { startEdge, type TestEdge } from './edge-harness.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;
const { get } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({ controllers: [SampleController] });
});
afterAll(async () => edge.close());
beforeEach(() => {
  edge.lines.length = 0;
});

const failures = () => edge.lines.filter(({ message }) => message !== 'request');

describe('a connection that the system has no file for', () => {
  it('ends no process, and is told once', async () => {
    // As Node tells of it, where what it keeps for this case is gone, too.
    const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' });
    for (let lost = 0; lost < 3; lost += 1) edge.app.getHttpServer().emit('error', error);
    expect((await get('/v1/throw/not_found')).status).toBe(404);
    expect(failures().filter(({ level }) => level === 'warn')).toMatchObject([
      { message: 'a connection could not be accepted', error: { message: 'accept EMFILE' } },
    ]);
  });
});

describe('what a handler throws', () => {
  it.each([
    ['not_found', 404, 'not_found', 'invalid_request_error', {}],
    ['defect', 500, 'internal_error', 'api_error', {}],
    ['nothing', 500, 'internal_error', 'api_error', {}],
    ['text', 500, 'internal_error', 'api_error', {}],
    ['too_large', 413, 'request_too_large', 'invalid_request_error', {}],
    ['raced', 409, 'conflict', 'invalid_request_error', {}],
    ['limited', 429, 'budget_exceeded', 'rate_limit_error', { 'retry-after': '77' }],
    ['unavailable', 503, 'service_unavailable', 'api_error', { 'retry-after': '1' }],
    ['of_newer_version', 503, 'service_unavailable', 'api_error', { 'retry-after': '1' }],
  ])('%s is answered with %i %s', async (what, status, code, type, headers) => {
    const answer = await get(`/v1/throw/${what}`);
    expect([answer.status, answer.error['code'], answer.error['type']]).toEqual([status, code, type]);
    expect(Object.keys(answer.error)).toEqual(['type', 'code', 'message', 'param', 'request_id', 'doc_url']);
    expect(answer.error).toMatchObject({
      param: null,
      request_id: answer.headers.get('service-request-id'),
      doc_url: `https://docs.example/ags/errors/${code}`,
    });
    for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name)).toBe(value);
  });

  it('never shows in a body what went wrong inside', async () => {
    const { text } = await get('/v1/throw/defect');
    expect(text).not.toMatch(/SELECT|TypeError|node:|\.ts/);
  });

  it('carries extra members only where they belong (rule API-1)', async () => {
    const { error } = await get('/v1/throw/diagnostics');
    expect(error['diagnostics']).toEqual([{ line: 1 }]);
    expect(error).not.toHaveProperty('checks');
  });

  it('is logged: a defect with its stack at error, a refusal at debug', async () => {
    await get('/v1/throw/defect');
    await get('/v1/throw/not_found');
    await get('/v1/throw/unavailable');
    expect(failures()).toEqual([
      expect.objectContaining({
        level: 'error',
        message: 'internal error',
        route: '/v1/throw/{what}',
        cause: expect.objectContaining({ name: 'TypeError', stack: expect.stringContaining('sample.controllers') }),
      }),
      expect.objectContaining({ level: 'debug', message: 'request failed', code: 'not_found' }),
      expect.objectContaining({ level: 'error', message: 'request failed', code: 'service_unavailable' }),
    ]);
  });
});

describe('a handler that runs past its time', () => {
  it('is answered with 504 timeout, and warned about', async () => {
    const { status, error } = await get('/v1/slow');
    expect([status, error['code'], error['type']]).toEqual([504, 'timeout', 'api_error']);
    expect(failures()).toEqual([expect.objectContaining({ level: 'warn', message: 'request timed out' })]);
  });
});
