import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import { config, paramOf, read, refusal, tool, withTool } from './testing/given-rest-config.js';

describe('REST config: read-back and postcondition', () => {
  const target = tool({
    args: { id: { in: 'query', type: 'integer', required: true }, q: { in: 'query', type: 'string' } },
  });
  const writer = (readback: JsonObject, changes: JsonObject = {}): JsonObject =>
    config({
      tools: [
        target,
        {
          name: 'refund',
          method: 'POST',
          path: '/v1/refunds',
          args: { id: { in: 'body', type: 'string' } },
          readback,
          ...changes,
        },
      ],
    });
  const good = { tool: 'get_user', args: { id: '{{result.body.id}}' } };

  it('fills its defaults in', () => {
    expect(read(writer(good)).tools[1]?.readback).toEqual({
      ...good,
      consistency: 'strong',
      attempts: 1,
      interval_ms: 300,
      on_not_found: 'gap',
    });
    expect(read(writer({ ...good, consistency: 'eventual' })).tools[1]?.readback?.attempts).toBe(3);
  });

  it.each<[string, JsonObject, JsonObject?]>([
    ['readback.tool', { args: {} }],
    ['readback.tool', { ...good, tool: 'nobody' }],
    ['readback.tool', { ...good, tool: 'refund' }],
    ['readback.args', { tool: 'get_user' }],
    ['readback.args.nope', { ...good, args: { id: 1, nope: 1 } }],
    ['readback.args.id', { ...good, args: { id: 'one' } }],
    ['readback.args.id', { ...good, args: { id: 'x{{args.id}}' } }],
    ['readback.args.id', { ...good, args: { id: '{{answer.id}}' } }],
    ['readback.args.id', { ...good, args: { id: '{{args.nobody}}' } }],
    [
      'readback.expect',
      { ...good, expect: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`body.a${i}`, 1])) },
    ],
    ['readback.expect.status', { ...good, expect: { status: 'paid' } }],
    ['readback.expect.body[x]', { ...good, expect: { 'body[x]': 1 } }],
    ['readback.consistency', { ...good, consistency: 'weak' }],
    ['readback.attempts', { ...good, attempts: 2 }],
    ['readback.attempts', { ...good, consistency: 'eventual', attempts: 6 }],
    ['readback.interval_ms', { ...good, interval_ms: 99 }],
    ['readback.on_not_found', { ...good, on_not_found: 'fail' }],
    ['readback.unknown', { ...good, unknown: 1 }],
    ['postcondition', good, { postcondition: 'args.id ==' }],
    ['postcondition', good, { postcondition: 'x'.repeat(2_049) }],
  ])('config.tools[1].%s', (key, readback, changes) =>
    expect(paramOf(writer(readback, changes))).toBe(`config.tools[1].${key}`),
  );

  it('a tool that is not idempotent reads nothing back', () =>
    expect(
      paramOf(
        config({
          tools: [tool({ idempotent: false }), tool({ name: 'w', method: 'POST', readback: { tool: 'get_user' } })],
        }),
      ),
    ).toBe('config.tools[1].readback.tool'));

  it('a tool that reads has none', () =>
    expect(paramOf(config({ tools: [tool({ readback: { tool: 'get_user' } })] }))).toBe('config.tools[0].readback'));

  it('a read-back may name a tool further down', () =>
    expect(
      read(config({ tools: [tool({ name: 'w', method: 'POST', readback: { tool: 'get_user' } }), tool()] })).tools,
    ).toHaveLength(2));

  it('a postcondition needs a read-back', () =>
    expect(paramOf(withTool({ method: 'POST', postcondition: 'true' }))).toBe('config.tools[0].postcondition'));

  it.each([
    [
      'an error is placed by line and character',
      'args.id == "😀" &&\n  "😀" ]',
      'config.tools[1].postcondition has an error at 2:7. The condition is not valid CEL: "]" is not expected here.',
    ],
    [
      'no other variable than args and observation is read',
      'args.id == agent.name',
      'config.tools[1].postcondition has an error at 1:12. There is no fact "agent". Known here: args, observation.',
    ],
    [
      'the first error is named, the others are counted',
      'observation.ok &&\n  (now > 1 || tool == "a")',
      'config.tools[1].postcondition has an error at 2:4. There is no fact "now". Known here: args, observation.' +
        ' The config has 1 more problem.',
    ],
    [
      'it gives a bool',
      'size(args) + 1',
      'config.tools[1].postcondition has an error at 1:12. The condition is an int, not a bool.',
    ],
    [
      'its estimated cost is at most 100,000',
      'observation.items.all(x, args.items.exists(y, x.id == y.id))',
      expect.stringMatching(
        /^config\.tools\[1\]\.postcondition has an error at 1:1\. The condition may take \d{6,} steps; at most 100000 are allowed\.$/,
      ),
    ],
  ])('postcondition: %s', (_, postcondition, message) => {
    expect(refusal(writer(good, { postcondition }))).toMatchObject({
      code: 'validation_failed',
      status: 400,
      param: 'config.tools[1].postcondition',
      message,
    });
  });

  it.each([
    'observation.body.status == "refunded" && observation.body.amount == args.amount',
    'observation.body.items.all(item, item.price >= 0)',
    'true',
  ])('postcondition %s is accepted', (postcondition) =>
    expect(read(writer(good, { postcondition })).tools[1]?.postcondition).toBe(postcondition),
  );

  it('expects literals and templates at paths of the body', () =>
    expect(
      read(
        writer(
          { ...good, expect: { 'body.status': 'refunded', 'body.items[0].id': '{{args.id}}', body: {} } },
          { postcondition: 'observation.ok' },
        ),
      ).tools[1],
    ).toMatchObject({ postcondition: 'observation.ok' }));
});
