import { describe, expect, it } from 'vitest';
import { ExecutorSilence } from './executor-silence.js';

const LIMIT_MS = 5_000;
const beats = (beat: number) => new Map([['exe_1', beat]]);
/** A reading that is answered at once. */
const at = (ms: number) => ({ askedMs: ms, answeredMs: ms });

describe('an executor is silent', () => {
  it('when the same value was read over the whole limit', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 5_000; now += 1_000) silence.observe(beats(7), ['exe_1'], at(now));
    expect(silence.isSilent('exe_1')).toBe(false);
    silence.observe(beats(7), ['exe_1'], at(5_001));
    expect(silence.isSilent('exe_1')).toBe(true);
  });

  it('never while its number grows', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 60_000; now += 1_000) {
      silence.observe(beats(now), ['exe_1'], at(now));
      expect(silence.isSilent('exe_1')).toBe(false);
    }
  });

  it('never before it was watched', () => expect(new ExecutorSilence(LIMIT_MS).isSilent('exe_1')).toBe(false));

  it('even if nobody asked about it before', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 6_000; now += 1_000) silence.observe(beats(7), [], at(now));
    expect(silence.isSilent('exe_1')).toBe(true);
  });

  it('and a reading says so once, and again only after another beat', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    const said = Array.from({ length: 16 }, (_, second) =>
      silence.observe(beats(second < 8 ? 7 : 8), [], at(second * 1_000)),
    );
    expect(said.flatMap((hasFallen, second) => (hasFallen ? [second] : []))).toEqual([6, 14]);
  });

  it('without any row only after it was watched for the whole limit', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 60_000; now += 1_000) silence.observe(new Map(), [], at(now));
    silence.observe(new Map(), ['exe_1'], at(61_000));
    expect(silence.isSilent('exe_1')).toBe(false);
  });

  it('when its row is gone, after the same time', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 6_000; now += 1_000) silence.observe(new Map(), ['exe_1'], at(now));
    expect(silence.isSilent('exe_1')).toBe(true);
  });

  it('never because of a pause of the watcher itself', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    silence.observe(beats(7), ['exe_1'], at(0));
    silence.observe(beats(7), ['exe_1'], at(40_000));
    expect(silence.isSilent('exe_1')).toBe(false);
  });

  it('never because of a late answer, because it may have beaten since', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (const ms of [100, 1_100]) silence.observe(beats(7), ['exe_1'], at(ms));
    expect(silence.observe(beats(7), ['exe_1'], { askedMs: 2_000, answeredMs: 5_150 })).toBe(false);
    expect(silence.isSilent('exe_1')).toBe(false);
  });

  it('after a late answer only when the limit has passed since that answer', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    silence.observe(beats(7), ['exe_1'], { askedMs: 0, answeredMs: 3_000 });
    for (let now = 4_000; now <= 8_000; now += 1_000) silence.observe(beats(7), ['exe_1'], at(now));
    expect(silence.isSilent('exe_1')).toBe(false);
    silence.observe(beats(7), ['exe_1'], at(8_001));
    expect(silence.isSilent('exe_1')).toBe(true);
  });

  it('never without readings: one reading, however old, does not cover the whole limit', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (const now of [0, 1_000]) silence.observe(beats(7), ['exe_1'], at(now));
    silence.observe(beats(7), ['exe_1'], at(4_900));
    expect(silence.isSilent('exe_1')).toBe(false);
  });

  it('the count starts again after a failed reading', () => {
    const silence = new ExecutorSilence(LIMIT_MS);
    for (let now = 0; now <= 5_000; now += 1_000) silence.observe(beats(7), ['exe_1'], at(now));
    silence.startAgain();
    silence.observe(beats(7), ['exe_1'], at(6_000));
    expect(silence.isSilent('exe_1')).toBe(false);
  });
});
