import { expect, it } from 'vitest';
import { DomainError } from '#libs/domain/kernel';
import { TestClock } from '../../../../test/http/edge-harness.js';
import { SignInLimits } from './sign-in-limits.js';

const FAILURES_AN_ADDRESS = 30;
const FAILURES_A_SITE = 300;

/** So many at once, all of which end when the last of them has begun. */
const atOnce = async (limits: SignInLimits, count: number, end: () => string): Promise<readonly string[]> => {
  let letGo = (): void => undefined;
  const allBegun = new Promise<void>((resolve) => (letGo = resolve));
  const attempts = Array.from({ length: count }, () =>
    limits
      .counted('192.0.2.1', async () => {
        await allBegun;
        return end();
      })
      .catch((error: unknown) => (error as DomainError).code),
  );
  letGo();
  return Promise.all(attempts);
};
const miss = (): string => {
  throw new DomainError('login_code_invalid');
};

it('judges no attempt beyond the limit, however many come at once', async () => {
  const codes = await atOnce(new SignInLimits(new TestClock()), 40, miss);
  expect(codes.filter((code) => code === 'login_code_invalid')).toHaveLength(FAILURES_AN_ADDRESS);
  expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(10);
});

it('gives back what did not miss', async () => {
  const limits = new SignInLimits(new TestClock());
  for (let round = 0; round < 3; round += 1) {
    expect(await atOnce(limits, FAILURES_AN_ADDRESS, () => 'signed in')).not.toContain('rate_limited');
  }
  expect(await atOnce(limits, FAILURES_AN_ADDRESS, miss)).not.toContain('rate_limited');
  expect(await atOnce(limits, 1, () => 'signed in')).toEqual(['rate_limited']);
});

it('holds a /48 of IPv6 up, and nobody else, however its /64s take turns', async () => {
  const limits = new SignInLimits(new TestClock());
  const missAt = (ip: string): Promise<string> =>
    limits.counted(ip, () => Promise.resolve(miss())).catch((error: unknown) => (error as DomainError).code);
  const codes: string[] = [];
  for (let network = 0; network < FAILURES_A_SITE + 20; network += 1)
    codes.push(await missAt(`2001:db8:1:${network.toString(16)}::1`));
  expect(codes.filter((code) => code === 'login_code_invalid')).toHaveLength(FAILURES_A_SITE);
  expect(codes.slice(FAILURES_A_SITE)).toEqual(Array(20).fill('rate_limited'));
  expect([await missAt('2001:db8:2::1'), await missAt('192.0.2.1')]).toEqual([
    'login_code_invalid',
    'login_code_invalid',
  ]);
});
