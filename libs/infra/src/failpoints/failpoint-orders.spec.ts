import { describe, expect, it } from 'vitest';
import { parseFailpoints } from './failpoint-orders.js';

describe('orders for failpoints', () => {
  it('name a point, what happens there, and at which hit', () => {
    expect(parseFailpoints('exec.sent=kill@3, seal.ack=error,gate.t1.ack=delay:6000\n')).toEqual([
      { point: 'exec.sent', action: { kind: 'kill' }, atHit: 3 },
      { point: 'seal.ack', action: { kind: 'error' }, atHit: null },
      { point: 'gate.t1.ack', action: { kind: 'delay', durationMs: 6000 }, atHit: null },
    ]);
  });

  it('may be none', () => {
    expect(parseFailpoints('none\n')).toEqual([]);
  });

  it.each([
    ['exec.snt=kill', '"exec.snt" is not a failpoint; did you mean exec.sent?'],
    ['elsewhere=kill', '"elsewhere" is not a failpoint'],
    ['exec.sent', '"exec.sent" is not <point>=kill'],
    ['exec.sent=kill@0', '"exec.sent=kill@0" is not'],
    ['exec.sent=delay', '"exec.sent=delay" is not'],
    ['exec.sent=delay:0', '"exec.sent=delay:0" is not'],
    ['exec.sent=kill,', '"" is not'],
    ['seal.ack=error,none', '"none" is not'],
  ])('%j is refused, and the message names the part', (text, message) => {
    expect(() => parseFailpoints(text)).toThrow(message);
  });
});
