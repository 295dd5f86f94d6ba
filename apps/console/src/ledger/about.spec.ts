import { describe, expect, it } from 'vitest';
import type { Schemas } from '../kernel/client.ts';
import { changeInWords, told, toldBy } from './about.ts';
import type { DeedBody } from './body.ts';

type Told = ReturnType<typeof told>;
const statusOf = (said: Told): unknown => (said.kind === 'action' ? said.outcome : said.kind);

describe('what a deed is about', () => {
  const listed = (outcome: unknown) =>
    told({ tool: 'crm.x', agent: null, outcome, level: null, verdict: null } as Schemas['Deed']['about']);
  const sealed = (sections: object) =>
    toldBy({
      ...{ action: { tool: 'crm.x' }, who: { agent: 'agt_1' }, admin: null, witness: null },
      ...{ approval: null, policy: { outcome: 'allow' }, execution: { status: 'succeeded' }, ...sections },
    } as unknown as DeedBody);

  it.each<[string, Told, Told, unknown]>([
    ['it ran', listed('succeeded'), sealed({}), { status: 'executed', execution: { status: 'succeeded' } }],
    [
      'the outcome is unknown',
      listed('unknown'),
      sealed({ execution: { status: 'unknown' } }),
      { status: 'executed', execution: { status: 'unknown' } },
    ],
    ['it failed', listed('failed'), sealed({ execution: { status: 'failed' } }), { status: 'failed', execution: null }],
    [
      'the policy denied it',
      listed('denied'),
      sealed({ policy: { outcome: 'deny' }, execution: null }),
      { status: 'denied', execution: null },
    ],
    [
      'the approval expired',
      listed('expired'),
      sealed({ approval: { status: 'expired' }, execution: null }),
      { status: 'expired', execution: null },
    ],
    ['a later verdict', listed(null), sealed({ policy: null, execution: null }), null],
  ])('has the badge of the action: %s', (_title, fromList, fromBytes, outcome) => {
    expect(statusOf(fromList)).toEqual(outcome);
    expect(statusOf(fromBytes)).toEqual(outcome);
  });

  it('is a change in words, or the word of the format if this version knows no others', () => {
    expect(changeInWords('policy.activated')).toBe('Policy activated');
    expect(changeInWords('later.invented')).toBe('later.invented');
  });
});
