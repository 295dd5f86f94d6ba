import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testId } from '../../../../test/support/given-log.js';
import {
  ATTEMPTS_LIMIT,
  attemptsOf,
  claimEndMs,
  claimsOf,
  isGivenUp,
  type OpenDelivery,
  RETRY_DELAYS_MS,
  retryDelayMs,
  stepAfter,
} from './delivery-attempts.js';

const HOUR_MS = 3_600_000;
const FAILED = { isDelivered: false } as const;

describe('the schedule of a delivery', () => {
  it.each([
    [1, 30],
    [2, 2 * 60],
    [3, 10 * 60],
    [4, 30 * 60],
    [5, 3_600],
    [6, 3 * 3_600],
    [7, 6 * 3_600],
    [8, 12 * 3_600],
  ])('waits after failure %i for %i s, give or take 20 %%', (failures, seconds) => {
    expect(retryDelayMs(failures, 0)).toBe(seconds * 800);
    expect(retryDelayMs(failures, 0.5)).toBe(seconds * 1_000);
    expect(retryDelayMs(failures, 0.999_999_999)).toBe(seconds * 1_200);
  });

  it('has eight attempts in all, so the last delay is for nine', () => {
    const steps = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) =>
      stepAfter(FAILED, { attempt, attemptsMax: attemptsOf('deed.sealed', 8) }, { nowMs: 0, chance: 0.5 }),
    );
    expect(steps).toEqual([
      ...RETRY_DELAYS_MS.slice(0, 7).map((dueMs) => ({ status: 'retrying', dueMs })),
      { status: 'dead' },
    ]);
    expect(ATTEMPTS_LIMIT).toBe(9);
    expect(stepAfter(FAILED, { attempt: 8, attemptsMax: 9 }, { nowMs: 5, chance: 0.5 })).toEqual({
      status: 'retrying',
      dueMs: 5 + 12 * HOUR_MS,
    });
  });

  it('ends with the first success, at any attempt', () => {
    expect(stepAfter({ isDelivered: true }, { attempt: 8, attemptsMax: 8 }, { nowMs: 0, chance: 0 })).toEqual({
      status: 'delivered',
    });
  });

  it('has one attempt for a test', () => expect(attemptsOf('webhook.test', 8)).toBe(1));
});

describe('the claim', () => {
  const NOW = 1_000;
  const open = (number: number, changes: Partial<OpenDelivery> = {}): OpenDelivery => ({
    event: testId('evt', number),
    type: 'deed.sealed',
    status: 'pending',
    attempt: 0,
    dueMs: NOW,
    isSecondTry: false,
    ...changes,
  });
  const underWay = (number: number) => open(number, { status: 'delivering', attempt: 1, dueMs: NOW + 1 });
  const silent = (number: number, isSecondTry = false) =>
    open(number, { status: 'delivering', attempt: 3, dueMs: NOW, isSecondTry });
  const told = (...deliveries: OpenDelivery[]) =>
    claimsOf(deliveries, NOW, 4).map(({ event, what, attempt, isSecondTry }) => [event, what, attempt, isSecondTry]);

  it.each<[string, OpenDelivery[], unknown[]]>([
    ['a new one, as attempt 1', [open(1)], [[testId('evt', 1), 'send', 1, false]]],
    [
      'one that is due again, under the next number',
      [open(1, { status: 'retrying', attempt: 4 })],
      [[testId('evt', 1), 'send', 5, false]],
    ],
    ['none before it is due', [open(1, { dueMs: NOW + 1 })], []],
    ['none that is under way', [underWay(1)], []],
    ['one whose process fell silent, under its number', [silent(1)], [[testId('evt', 1), 'send', 3, true]]],
    ['the end of one whose processes fell silent twice', [silent(1, true)], [[testId('evt', 1), 'fail', 3, true]]],
    [
      'as many as leave four under way',
      [underWay(1), underWay(2), underWay(3), open(4), open(5)],
      [[testId('evt', 4), 'send', 1, false]],
    ],
    ['none beside four', [underWay(1), underWay(2), underWay(3), underWay(4), open(5)], []],
    [
      'the place of one that fell silent',
      [underWay(1), underWay(2), underWay(3), silent(4), open(5)],
      [[testId('evt', 4), 'send', 3, true]],
    ],
  ])('takes %s', (_what, deliveries, claims) => expect(told(...deliveries)).toEqual(claims));

  it('lasts longer than an attempt may', () => expect(claimEndMs(0, 10_000)).toBeGreaterThan(10_000));

  it('never has more than four under way, nor a number beyond the next, whatever there is', () => {
    const anyOpen = fc.record({
      status: fc.constantFrom('pending' as const, 'delivering' as const, 'retrying' as const),
      attempt: fc.integer({ min: 0, max: 8 }),
      dueMs: fc.integer({ min: 0, max: 2 * NOW }),
      isSecondTry: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyOpen, { maxLength: 12 }), (changes) => {
        const deliveries = changes.map((change, index) => open(index, change));
        const claims = claimsOf(deliveries, NOW, 4);
        const sent = claims.filter(({ what }) => what === 'send');
        const going = deliveries.filter(({ status, dueMs }) => status === 'delivering' && dueMs > NOW);
        expect(sent.length === 0 || sent.length + going.length <= 4).toBe(true);
        for (const { event, attempt, isSecondTry } of sent) {
          const before = deliveries.find((delivery) => delivery.event === event);
          expect(attempt).toBe(Number(before?.attempt) + (isSecondTry ? 0 : 1));
        }
      }),
    );
  });
});

describe('an endpoint is given up', () => {
  const DAYS_3_MS = 72 * HOUR_MS;

  it.each<[string, number, number, number, boolean]>([
    ['once every delivery has failed for 72 h', 0, 0, DAYS_3_MS, true],
    ['not a millisecond before', 0, 0, DAYS_3_MS - 1, false],
    ['not for what failed before it was set going again', 0, 1, DAYS_3_MS + 1, false],
    ['after 72 h of failures since then', 1, 1, DAYS_3_MS + 1, true],
  ])('%s', (_what, failingSinceMs, aimedAtMs, nowMs, isDue) => {
    expect(isGivenUp({ failingSinceMs, aimedAtMs }, nowMs, DAYS_3_MS)).toBe(isDue);
  });
});
