import { describe, expect, it } from 'vitest';
import type { JsonValue } from '#libs/crypto';
import { judgePayment, showsLivemode } from './payments-answer.js';

const answer = (status: number, body: JsonValue | undefined, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  body,
  header: (name: string): string | null => headers[name] ?? null,
});
const error = (type: string, code?: string): JsonValue => ({
  error: { type, ...(code === undefined ? {} : { code }) },
});
const REFUND = { object: 'refund', id: 're_1', status: 'succeeded' };
const HOLDS = { object: 'v2.core.approval_request', id: 'apr_1' };

describe('what an answer of the processor comes to', () => {
  it.each([
    ['a write that was done', 200, REFUND, {}, ['succeeded', null, false]],
    ['a body that is no JSON', 200, undefined, {}, ['unknown', 'upstream_error', false]],
    ['a body that is no object', 200, [], {}, ['unknown', 'upstream_error', false]],
    ['a request that is wrong', 400, error('invalid_request_error'), {}, ['failed', 'upstream_error', false]],
    ['a key that is not good', 401, error('invalid_request_error'), {}, ['failed', 'upstream_auth_failed', false]],
    [
      'a card that is declined',
      402,
      error('card_error', 'charge_already_refunded'),
      {},
      ['failed', 'upstream_error', false],
    ],
    ['a key that may not', 403, error('invalid_request_error'), {}, ['failed', 'upstream_auth_failed', false]],
    [
      'an id of nothing',
      404,
      error('invalid_request_error', 'resource_missing'),
      {},
      ['failed', 'upstream_not_found', false],
    ],
    [
      'a key in use',
      409,
      error('invalid_request_error', 'idempotency_key_in_use'),
      {},
      ['unknown', 'upstream_error', true],
    ],
    ['another conflict', 409, error('api_error'), {}, ['unknown', 'upstream_error', false]],
    ['a key of another request', 400, error('idempotency_error'), {}, ['unknown', 'upstream_error', false]],
    [
      'too many requests',
      429,
      error('invalid_request_error', 'rate_limit'),
      {},
      ['failed', 'upstream_rate_limited', false],
    ],
    [
      'a hint to try again',
      429,
      error('x'),
      { 'stripe-should-retry': 'true' },
      ['failed', 'upstream_rate_limited', true],
    ],
    ['a fault of the processor', 500, error('api_error'), {}, ['unknown', 'upstream_error', true]],
    [
      'a fault that is not to be repeated',
      500,
      error('x'),
      { 'stripe-should-retry': 'false' },
      ['unknown', 'upstream_error', false],
    ],
    [
      'an approval of its own',
      402,
      error('invalid_request_error', 'approval_required'),
      {},
      ['unknown', 'upstream_approval_pending', false],
    ],
    ['the approval that it waits for', 202, HOLDS, {}, ['unknown', 'upstream_approval_pending', false]],
    [
      'a block of its own',
      403,
      error('invalid_request_error', 'action_blocked'),
      {},
      ['failed', 'upstream_error', false],
    ],
  ] as const)('%s', (_, status, body, headers, [outcome, code, isPassing]) => {
    expect(judgePayment(answer(status, body as JsonValue, headers), false)).toMatchObject({
      ...{ status: outcome, errorCode: code, isPassing, breaker: null },
    });
  });

  it('is certain for a read that is no JSON: nothing was changed', () =>
    expect(judgePayment(answer(200, undefined), true)).toMatchObject({
      status: 'failed',
      errorCode: 'upstream_error',
    }));

  it.each([200, 400, 500])('%i about real money trips the breaker, whatever else it says', (status) => {
    const judged = judgePayment(answer(status, { livemode: true, ...REFUND }, { 'request-id': 'req_9' }), false);
    expect(judged).toMatchObject({
      ...{ status: 'unknown', errorCode: 'payments_livemode_detected', isPassing: false },
      breaker: { reason: 'livemode_detected', upstreamRequestId: 'req_9' },
    });
  });

  it.each([undefined, 'a b', 'x'.repeat(129)])('keeps no request id that looks like none: %j', (id) => {
    const headers = id === undefined ? {} : { 'request-id': id };
    expect(judgePayment(answer(200, { livemode: true }, headers), true).breaker?.upstreamRequestId).toBeNull();
  });
});

describe('livemode', () => {
  it.each([
    ['at the top', { livemode: true }],
    ['in an object', { charge: { livemode: true } }],
    ['in a list', { data: [{ livemode: false }, { items: [{ livemode: true }] }] }],
    ['deep', Array.from({ length: 4_000 }).reduce<JsonValue>((inner) => ({ inner }), { livemode: true })],
  ] as const)('is seen %s', (_, body) => expect(showsLivemode(body as JsonValue)).toBe(true));

  it.each([
    ['is false', { livemode: false }],
    ['is a text', { livemode: 'true' }],
    ['stands in what others wrote', { metadata: { livemode: true, nested: { livemode: true } } }],
    ['is not there', { object: 'refund' }],
  ] as const)('is not seen where it %s', (_, body) => expect(showsLivemode(body as JsonValue)).toBe(false));
});
