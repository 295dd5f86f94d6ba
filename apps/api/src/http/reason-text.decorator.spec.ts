import { describe, expect, it } from 'vitest';
import { ReasonText } from './reason-text.decorator.js';
import { judgeShape } from './shape.js';

class Stop {
  @ReasonText()
  reason?: string;
}

const textsOf = (value: Parameters<typeof judgeShape>[1]): readonly string[] =>
  judgeShape(Stop, value).problems.map(({ text }) => text);

describe('a reason', () => {
  it('of another type than text is told so, and not that it is too long', () => {
    for (const reason of [5, null, {}, ['a']]) expect(textsOf({ reason })).toEqual(['must be a string']);
  });

  it('has at most 280 characters, and may be left out', () => {
    expect(textsOf({ reason: 'x'.repeat(281) })).toEqual(['must have at most 280 characters']);
    expect([textsOf({ reason: 'x'.repeat(280) }), textsOf({})]).toEqual([[], []]);
  });
});
