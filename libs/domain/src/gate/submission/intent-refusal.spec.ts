import { describe, expect, it } from 'vitest';
import type { IntentReason } from '#libs/crypto';
import { intentRefused, intentRequired } from './intent-refusal.js';

/** The thirteen checks with their possible reasons (rule INTENT-2). */
const CHECKS: readonly (readonly [check: number, reason: IntentReason, param: string])[] = [
  [1, 'syntax', 'Service-Intent'],
  [2, 'too_large', 'Service-Intent'],
  [3, 'strict', 'Service-Intent'],
  [4, 'not_canonical', 'Service-Intent'],
  [5, 'schema', 'Service-Intent'],
  [5, 'schema', 'nonce'],
  [5, 'version', 'v'],
  [6, 'org_mismatch', 'org'],
  [6, 'agent_mismatch', 'agent'],
  [7, 'unknown_kid', 'kid'],
  [8, 'bad_signature', 'kid'],
  [9, 'not_yet_valid', 'iat'],
  [9, 'expired', 'exp'],
  [9, 'ttl', 'exp'],
  [10, 'tool_mismatch', 'tool'],
  [11, 'big_int', 'args'],
  [11, 'args_not_canonicalizable', 'args'],
  [11, 'args_mismatch', 'args_digest'],
  [12, 'unsigned_obo', 'Service-On-Behalf-Of'],
  [12, 'obo_mismatch', 'Service-On-Behalf-Of'],
  [12, 'session_mismatch', 'Service-Session'],
  [13, 'replay', 'nonce'],
];

describe('a refusal of a signed intent', () => {
  it.each(CHECKS)('of check %i says %s, names %s, and what it must be', (check, reason, param) => {
    const error = intentRefused({ ok: false, check, reason, param });
    expect([error.code, error.status, error.param, error.extra]).toEqual([
      check === 13 ? 'intent_replay' : 'intent_invalid',
      403,
      param,
      { reason },
    ]);
    expect(error.message.split('. ')[0]).toContain(param);
    expect(error.message).toMatch(/^[A-Z].* (must|anew|used already)\b.*[.]$/);
  });

  it('repeats of an unknown field’s name only its beginning', () => {
    const error = intentRefused({ ok: false, check: 5, reason: 'schema', param: 'x'.repeat(1_000) });
    expect(error.message.length).toBeLessThan(250);
  });

  it('of a missing intent names the header and what to send', () => {
    const { code, param, extra, message } = intentRequired();
    expect([code, param, extra]).toEqual(['intent_required', 'Service-Intent', null]);
    expect(message).toContain('send the header Service-Intent');
  });
});
