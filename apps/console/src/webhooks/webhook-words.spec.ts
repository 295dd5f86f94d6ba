import { describe, expect, it } from 'vitest';
import { answerInWords, isOver, standOfWebhook } from './webhook-words.ts';

const SINCE = '2026-10-01T09:00:00.000Z';

describe('the state of a webhook', () => {
  it.each([
    ['active', null, 'active'],
    ['active', SINCE, 'failing'],
    ['disabled', null, 'paused'],
    ['disabled', SINCE, 'given up'],
  ] as const)('%s, failing since %j: %s', (status, since, stand) => {
    expect(standOfWebhook({ status, failing_since: since })).toBe(stand);
  });
});

describe('the result of an attempt', () => {
  it.each([
    [204, null, '204'],
    [500, 'upstream_error', '500: the receiver did not answer with 2xx'],
    [null, 'timeout', 'the receiver did not answer in time'],
    [null, 'of_tomorrow', 'of_tomorrow'],
    [null, null, null],
  ])('%j and %j', (status, code, words) => {
    expect(answerInWords({ http_status: status, error_code: code })).toBe(words);
  });

  it('is the last in a final status', () => {
    const statuses = ['pending', 'delivering', 'retrying', 'delivered', 'dead', 'cancelled'] as const;
    expect(statuses.map((status) => isOver({ status }))).toEqual([false, false, false, true, true, true]);
  });
});
