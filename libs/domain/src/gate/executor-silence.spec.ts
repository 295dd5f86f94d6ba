import { describe, expect, it } from 'vitest';
import { ExecutorSilence } from './executor-silence.js';

const LIMIT_MS = 5_000;
const beats = (beat: number) => new Map([['exe_1', beat]]);

describe('an executor is silent', () => {
  it('when the same value was read over the whole limit', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 5_000; now += 1_000) silence.observe(beats(7), ['exe_1'], now);
    expect(silence.isSilent('exe_1')).toBe(false);
    silence.observe(beats(7), ['exe_1'], 5_001);
    expect(silence.isSilent('exe_1')).toBe(true);
  });

  it('never while its number grows', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 60_000; now += 1_000) {
      silence.observe(beats(now), ['exe_1'], now);
      expect(silence.isSilent('exe_1')).toBe(false);
    }
  });

  it('never before it was watched', () => expect(new ExecutorSilence(LIMIT_MS).isSilent('exe_1')).toBe(false));

  it('also when nobody asks for it before it is so', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 6_000; now += 1_000) silence.observe(beats(7), [], now);
    expect(silence.isSilent('exe_1')).toBe(true);
  });

  it('which is said once, and again when it has beaten since', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    const said = Array.from({ length: 16 }, (_, second) =>
      silence.observe(beats(second < 8 ? 7 : 8), [], second * 1_000),
    );
    expect(said.flatMap((hasFallen, second) => (hasFallen ? [second] : []))).toEqual([6, 14]);
  });

  it('not before its row has been missed for as long, by whoever has asked for it', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 60_000; now += 1_000) silence.observe(new Map(), [], now);
    silence.observe(new Map(), ['exe_1'], 61_000);
    expect(silence.isSilent('exe_1')).toBe(false);
  });

  it('when its row is gone, after the same time', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 6_000; now += 1_000) silence.observe(new Map(), ['exe_1'], now);
    expect(silence.isSilent('exe_1')).toBe(true);
  });

  it('never on account of the watcher’s own pause', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    silence.observe(beats(7), ['exe_1'], 0);
    silence.observe(beats(7), ['exe_1'], 40_000);
    expect(silence.isSilent('exe_1')).toBe(false);
  });

  it('never while nobody reads: one reading, however old, is not a reading over the whole limit', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (const now of [0, 1_000]) silence.observe(beats(7), ['exe_1'], now);
    silence.observe(beats(7), ['exe_1'], 4_900);
    expect(silence.isSilent('exe_1')).toBe(false);
  });

  it('the count starts again after a failed reading', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 5_000; now += 1_000) silence.observe(beats(7), ['exe_1'], now);
    silence.startAgain();
    silence.observe(beats(7), ['exe_1'], 6_000);
    expect(silence.isSilent('exe_1')).toBe(false);
  });
});
