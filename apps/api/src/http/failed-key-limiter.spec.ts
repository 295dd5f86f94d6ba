import { Clock, DomainError } from '#libs/domain/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { FailedKeyLimiter, FAILURE_BURST, networkOf } from './failed-key-limiter.js';

class SetClock extends Clock {
  ms = 0;
  override nowMs = (): number => this.ms;
  override monotonicMs = (): number => this.ms;
}

let clock: SetClock;
let limiter: FailedKeyLimiter;

beforeEach(() => {
  clock = new SetClock();
  limiter = new FailedKeyLimiter(clock);
});

const fail = (ip: string, times: number): void => {
  for (let count = 0; count < times; count += 1) limiter.countFailure(ip, 'unknown');
};

const isAdmitted = (ip: string, key = 'unknown'): boolean => {
  try {
    limiter.admit(ip, key);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'rate_limited') return false;
    throw error;
  }
};

describe('FailedKeyLimiter', () => {
  it('refuses an address after its burst of failures, with the seconds to wait', () => {
    fail('198.51.100.1', FAILURE_BURST - 1);
    expect(isAdmitted('198.51.100.1')).toBe(true);
    fail('198.51.100.1', 1);
    expect(() => limiter.admit('198.51.100.1', 'k')).toThrow(
      expect.objectContaining({ code: 'rate_limited', status: 429, retryAfterSeconds: 1 }),
    );
  });

  it('admits one more for each second that passed', () => {
    fail('198.51.100.1', FAILURE_BURST);
    clock.ms += 999;
    expect(isAdmitted('198.51.100.1')).toBe(false);
    clock.ms += 1;
    expect(isAdmitted('198.51.100.1')).toBe(true);
    fail('198.51.100.1', 1);
    expect(isAdmitted('198.51.100.1')).toBe(false);
  });

  it('leaves other addresses alone', () => {
    fail('198.51.100.1', FAILURE_BURST);
    expect(isAdmitted('198.51.100.2')).toBe(true);
  });

  it('never holds up a key that has worked before', () => {
    limiter.countSuccess('good');
    fail('198.51.100.1', 2 * FAILURE_BURST);
    expect(isAdmitted('198.51.100.1', 'good')).toBe(true);
    expect(isAdmitted('198.51.100.1', 'other')).toBe(false);
  });

  it('holds up a key that has worked before and no longer does (rule KEY-10)', () => {
    limiter.countSuccess('revoked');
    limiter.countFailure('198.51.100.1', 'revoked');
    fail('198.51.100.1', FAILURE_BURST);
    expect(isAdmitted('198.51.100.1', 'revoked')).toBe(false);
  });

  it('counts the /64 of an IPv6 address as one client', () => {
    for (let host = 0; host < FAILURE_BURST; host += 1)
      limiter.countFailure(`2001:db8:1:2::${host.toString(16)}`, 'unknown');
    expect(isAdmitted('2001:db8:1:2:ffff::1')).toBe(false);
    expect(isAdmitted('2001:db8:1:3::1')).toBe(true);
  });

  it('forgets the addresses not heard of for longest rather than growing', () => {
    fail('198.51.100.1', FAILURE_BURST);
    for (let host = 0; host < 10_000; host += 1) limiter.countFailure(`10.0.${host >> 8}.${host & 255}`, 'unknown');
    expect(isAdmitted('198.51.100.1')).toBe(true);
  });
});

describe('networkOf', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['127.0.0.1:50123', '127.0.0.1'],
    ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
    ['[2001:db8::1]', '2001:db8:0:0::/64'],
    ['not an address', 'no address'],
    ['1.2', 'no address'],
    ['', 'no address'],
  ])('%s belongs to %s', (ip, network) => {
    expect(networkOf(ip)).toBe(network);
  });
});
