import { expect, it, vi } from 'vitest';
import { RepeatedFault } from './repeated-fault.js';

const setUp = () => {
  const tell = vi.fn();
  let nowMs = 0;
  const fault = new RepeatedFault(tell, () => nowMs);
  return { tell, fault, pass: (ms: number) => (nowMs += ms) };
};
const away = () => new Error('away');

it('a fault that stays the same is told once, and once a minute with how often it was met', () => {
  const { tell, fault, pass } = setUp();
  for (let met = 0; met < 13; met += 1) {
    fault.met(away());
    pass(5_000);
  }
  expect(tell.mock.calls).toEqual([[{ error: away() }], [{ error: away(), repeated: 12 }]]);
});

it('another fault is told at once', () => {
  const { tell, fault } = setUp();
  for (const error of [away(), new Error('refused'), away()]) fault.met(error);
  expect(tell).toHaveBeenCalledTimes(3);
});

it('the same is new again after a try that went well', () => {
  const { tell, fault } = setUp();
  fault.met(away());
  fault.over();
  fault.met(away());
  expect(tell).toHaveBeenCalledTimes(2);
});
