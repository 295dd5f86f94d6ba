import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';

import { patternSteps } from './pattern-steps.js';

describe('what a pattern takes to build', () => {
  it.each([
    'abc',
    '^crm[.](delete|purge)_',
    'a{900}',
    '(a{3}b{2}){40}',
    '((a{0,10}){0,10}){10}',
    '(?:x{2,5}y)+z{7,}',
    '[a-z\\]{}]{30}',
    '(?i)(?P<name>ab){12}',
    '\\Qa{900}\\E',
    '[]a]{20}',
    '\\x{41}{30}\\x41{30}',
  ])('%s: about its program, and seldom less', (pattern) => {
    const instructions = RE2JS.compile(pattern).programSize();
    expect(patternSteps(pattern)).toBeGreaterThanOrEqual(instructions / 3 - 3);
    expect(patternSteps(pattern)).toBeLessThanOrEqual(instructions * 3 + 20);
  });

  it.each([
    ['tables of Unicode', '(?i)[\\pL\\pN]', 200],
    ['wide ranges without regard to case', '(?i)[À-\uffff]', 1_000],
    ['wide ranges by number', '(?i)[B-\\x{10ffff}]', 1_000],
  ])('counts %s', (_, pattern, least) => expect(patternSteps(pattern)).toBeGreaterThan(least));

  it('narrow ranges and ranges as they are written cost next to nothing', () => {
    expect(patternSteps('(?i)[à-ÿ]')).toBeLessThan(10);
    expect(patternSteps('[À-\uffff]')).toBeLessThan(10);
  });
});
