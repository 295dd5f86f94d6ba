import { describe, expect, it } from 'vitest';
import { exampleArgs, firstTool } from './example-call.ts';

const tool = (name: string, effect: string) => ({ name, side_effect: effect, input_schema: {} }) as never;

describe('a call to try', () => {
  it('has each required argument and no optional one', () =>
    expect(
      exampleArgs({
        input_schema: {
          properties: {
            id: { type: 'string' },
            amount: { type: 'integer' },
            kind: { enum: ['full', 'part'] },
            note: { type: 'string' },
          },
          required: ['id', 'amount', 'kind', 'unknown'],
        } as never,
      }),
    ).toEqual({ id: '42', amount: 1, kind: 'full', unknown: '42' }));

  it.each([
    [{ properties: null, required: null }, {}],
    [{ properties: [], required: 'id' }, {}],
    [
      { properties: { id: null, kind: { enum: 'full' }, none: { enum: [] } }, required: ['id', 'kind', 'none', 7] },
      { id: '42', kind: '42', none: '42' },
    ],
    [{ required: ['__proto__'] }, JSON.parse('{"__proto__": "42"}')],
    [{ properties: { id: { default: 'x'.repeat(3_000) } }, required: ['id'] }, {}],
  ])('is made of a schema of any form: %j', (input_schema, args) =>
    expect(exampleArgs({ input_schema: input_schema as never })).toEqual(args),
  );

  it('is of a read tool, if an active connector has one', () => {
    const [write, read] = [tool('pay.create_refund', 'write'), tool('pay.get_refund', 'read')];
    expect(firstTool([{ status: 'active', tools: [write, read] }])).toBe(read);
    expect(firstTool([{ status: 'active', tools: [write] }])).toBe(write);
    expect(firstTool([{ status: 'disabled', tools: [read] }])).toBeNull();
  });
});
