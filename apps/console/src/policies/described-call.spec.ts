import { describe, expect, it } from 'vitest';
import { readDescribed } from './described-call.ts';

const typed = { tool: ' crm.get ', args: '{"id": "42"}', agent: '', onBehalfOf: '', mode: 'gateway' } as const;

describe('a call that somebody describes', () => {
  it('has the typed fields, and leaves out empty ones', () => {
    expect(readDescribed(typed)).toEqual({ input: { tool: 'crm.get', args: { id: '42' }, mode: 'gateway' } });
    expect(readDescribed({ ...typed, args: '', agent: 'support-1', onBehalfOf: 'u-1', mode: 'proxy' })).toEqual({
      input: { tool: 'crm.get', args: {}, mode: 'proxy', agent: { name: 'support-1' }, user: { ref: 'u-1' } },
    });
  });

  it.each(['[1]', '"x"', 'null', '1'])('has an object for arguments, and not %s', (args) =>
    expect(readDescribed({ ...typed, args })).toEqual({ problem: expect.stringContaining('a JSON object') }),
  );

  it('reports arguments that are no JSON', () =>
    expect(readDescribed({ ...typed, args: '{"id": }' })).toEqual({
      problem: expect.stringMatching(/^This is not JSON[.] ./),
    }));
});
