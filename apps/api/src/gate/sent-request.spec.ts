import { describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { ExecutionOutcome, LivingAction } from '#libs/domain/gate';
import { outcome, testTime } from '../../../../test/support/given-log.js';
import { actionRow } from '../../../../test/support/given-rows.js';
import { sentRequest } from './sent-request.js';

const HTTP = { method: 'GET', host: 'crm.example.com', path: '/customers/42' };
const INPUT = { tool: 'crm.get_customer', args: {}, request: { http: HTTP } };

const action = (changes: Partial<LivingAction>): LivingAction => ({ ...actionRow(1).folded, ...changes });
const ended = (changes: Partial<ExecutionOutcome>) => action({ outcome: outcome(changes) });
const failed = (code: string, changes: Partial<ExecutionOutcome> = {}) =>
  ended({ status: 'failed', error_code: code, result_digest: null, ...changes });

describe('what was sent', () => {
  it.each([
    ['is method, host and path of a call that succeeded', ended({})],
    ['is that of an unknown outcome: it may have been', ended({ status: 'unknown', error_code: 'timeout' })],
    ['is that of a call that the upstream refused', failed('upstream_not_found')],
    ['is that of a call whose answer led elsewhere', failed('destination_blocked', { result_digest: digestOf('a') })],
  ])('%s', (_what, sent) => expect(sentRequest(sent, INPUT)).toEqual(HTTP));

  it.each([
    ['a call whose destination is blocked', failed('destination_blocked')],
    ['a call without a credential', failed('credentials_missing')],
    ['a call that a Stop held back', failed('agent_stopped')],
    ['a call under way, of which nobody knows yet', action({ outcome: null })],
    ['a call that the edge runs', action({ outcome: outcome(), edge: { deadline: testTime(9) } })],
  ])('is nothing of %s', (_what, unsent) => expect(sentRequest(unsent, INPUT)).toBeNull());

  it('is null if the connector gives no such facts, or the input is no longer stored', () => {
    expect(sentRequest(ended({}), { ...INPUT, request: {} })).toBeNull();
    expect(sentRequest(ended({}), null)).toBeNull();
  });
});
