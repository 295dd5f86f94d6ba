import { describe, expect, it } from 'vitest';
import { traceContextOf, traceparentOf } from './trace-context.js';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('trace context (W3C Trace Context, section 3.2)', () => {
  it.each([
    ['sampled', `00-${ID}-${PARENT}-01`, true],
    ['not sampled', `00-${ID}-${PARENT}-00`, false],
    ['flags that version 00 does not have', `00-${ID}-${PARENT}-ff`, true],
    ['a version to come, as long as version 00', `cc-${ID}-${PARENT}-01`, true],
    ['a version to come that says more', `01-${ID}-${PARENT}-01-what-the-future-holds`, true],
  ])('goes on with the trace of the caller: %s', (_, header, sampled) => {
    expect(traceContextOf([header])).toEqual({ id: ID, sampled });
  });

  it.each([
    ['none', []],
    ['two of them', [`00-${ID}-${PARENT}-01`, `00-${ID}-${PARENT}-01`]],
    ['an empty one', ['']],
    ['upper case', [`00-${ID.toUpperCase()}-${PARENT}-01`]],
    ['an id of zeros', [`00-${'0'.repeat(32)}-${PARENT}-01`]],
    ['a parent of zeros', [`00-${ID}-${'0'.repeat(16)}-01`]],
    ['version ff', [`ff-${ID}-${PARENT}-01`]],
    ['version 00 that says more', [`00-${ID}-${PARENT}-01-more`]],
    ['version 00 with a dash at its end', [`00-${ID}-${PARENT}-01-`]],
    ['a later version that says more without a dash', [`01-${ID}-${PARENT}-01more`]],
    ['an id that is short', [`00-${ID.slice(1)}-${PARENT}-01`]],
    ['flags of one digit', [`00-${ID}-${PARENT}-1`]],
    ['a line break at the end', [`00-${ID}-${PARENT}-01\n`]],
  ])('takes no trace from %s', (_, headers) => {
    expect(traceContextOf(headers)).toBeNull();
  });

  it('the header sent on names the trace, the parent and the sampled flag alone', () => {
    expect(traceparentOf({ id: ID, sampled: true }, PARENT)).toBe(`00-${ID}-${PARENT}-01`);
    expect(traceparentOf({ id: ID, sampled: false }, PARENT)).toBe(`00-${ID}-${PARENT}-00`);
  });
});
