import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#libs/crypto';
import {
  type ConfirmedTool,
  judgeAnswer,
  judgeFailure,
  planReadBack,
  type ReadBackPlan,
  readBackTermsOf,
} from './rest-read-back.js';
import { config, read, tool } from './testing/given-rest-config.js';

const written = (readback: JsonObject, postcondition?: string): ConfirmedTool => {
  const reader = tool({ args: { id: { in: 'query', type: 'string' } } });
  const writer = {
    name: 'refund',
    method: 'POST',
    path: '/v1/refunds',
    args: { id: { in: 'body', type: 'string' }, amount: { in: 'body', type: 'integer' } },
    readback: { tool: 'get_user', ...readback },
    ...(postcondition === undefined ? {} : { postcondition }),
  };
  return read(config({ tools: [reader, writer] })).tools[1] as ConfirmedTool;
};

describe('the read that confirms a write', () => {
  const plan = (readback: JsonObject, args: JsonObject, result: JsonObject | null) =>
    planReadBack(written(readback).readback, args, result);

  it('takes literals, arguments and parts of the result, each as a whole value', () =>
    expect(
      plan(
        { args: { id: '{{result.body.items[1].id}}' }, expect: { 'body.amount': '{{args.amount}}', 'body.ok': true } },
        { amount: 5 },
        { body: { items: [{ id: 'a' }, { id: 'b' }] } },
      ),
    ).toEqual({ args: { id: 'b' }, expected: { 'body.amount': 5, 'body.ok': true } }));

  it('expects nothing of what the call does not say', () =>
    expect(plan({ expect: { 'body.amount': '{{args.amount}}', 'body.ok': true } }, {}, null)).toEqual({
      args: {},
      expected: { 'body.ok': true },
    }));

  it('is not built from an argument that the call left out', () => {
    const readback = { args: { id: '{{args.id}}' }, expect: { 'body.id': '{{result.body.id}}' } };
    expect(plan(readback, {}, null)).toBe('argument_left_out');
    expect(plan(readback, { id: 're_1' }, { body: { id: 're_1' } })).toMatchObject({ args: { id: 're_1' } });
  });

  it.each<[string, JsonObject, JsonObject | null]>([
    ['an outcome that is not known', { args: { id: '{{result.body.id}}' } }, null],
    ['a result without that part', { args: { id: '{{result.body.id}}' } }, { body: { no: 1 } }],
    ['a result that is needed to compare', { expect: { 'body.id': '{{result.body.id}}' } }, null],
    ['a part that was redacted', { args: { id: '{{result.body.id}}' } }, { body: { id: 're_[redacted]' } }],
    ['a part with a secret in it', { expect: { body: '{{result.body.a}}' } }, { body: { a: [{ b: '[redacted]' }] } }],
    ['a part with a secret name', { expect: { body: '{{result.body.a}}' } }, { body: { a: { 'x-[redacted]': 1 } } }],
    ['a member that every object has', { args: { id: '{{result.body.constructor}}' } }, { body: {} }],
  ])('is not built from %s', (_, readback, result) => expect(plan(readback, {}, result)).toBe('result_missing'));
});

describe('what a read says of the write before it', () => {
  const judge = (
    { expect: expected = {}, postcondition }: { expect?: JsonObject; postcondition?: string },
    body: JsonValue,
    isWhole = true,
  ) => {
    const confirmed = written({ expect: expected }, postcondition);
    const plan = planReadBack(confirmed.readback, { amount: 500 }, null) as ReadBackPlan;
    const answer = { status: 200, headers: {}, body };
    return judgeAnswer(confirmed, plan, { amount: 500 }, { answer, isWhole });
  };

  it('every path equal and the postcondition true: VERIFIED', () =>
    expect(
      judge(
        { expect: { 'body.amount': '{{args.amount}}' }, postcondition: 'observation.body.amount == args.amount' },
        { amount: 500 },
      ),
    ).toEqual({
      verdict: 'VERIFIED',
      reasons: [],
      expected: { 'body.amount': 500, postcondition: true },
      observed: { 'body.amount': 500, postcondition: true },
      differs: [],
    }));

  it.each<[string, JsonValue, JsonValue]>([
    ['another amount', { a: 500 }, { a: 499 }],
    ['a text for a number', { a: 5 }, { a: '5' }],
    ['null for what is expected', { a: 5 }, { a: null }],
    ['a list in another order', { a: [1, 2] }, { a: [2, 1] }],
    ['a member more', { a: {} }, { a: { b: 1 } }],
  ])('%s: MISMATCH with the path', (_, expected, body) =>
    expect(judge({ expect: { 'body.a': (expected as JsonObject)['a'] as JsonValue } }, body)).toMatchObject({
      verdict: 'MISMATCH',
      reasons: ['body.a'],
      differs: ['body.a'],
      observed: { 'body.a': (body as JsonObject)['a'] },
    }),
  );

  it('members may stand in any order', () =>
    expect(judge({ expect: { 'body.a': { x: 1, y: 2 } } }, { a: { y: 2, x: 1 } }).verdict).toBe('VERIFIED'));

  it('what is not there differs, and is not shown as seen', () =>
    expect(judge({ expect: { 'body.items[0].id': 1 } }, { items: [] })).toMatchObject({
      verdict: 'MISMATCH',
      reasons: ['body.items[0].id'],
      observed: {},
    }));

  it('a postcondition that is false: MISMATCH with its name, behind the paths', () =>
    expect(
      judge({ expect: { 'body.b': 1 }, postcondition: 'size(observation.body.a) == 1' }, { a: [1, 1], b: 2 }),
    ).toMatchObject({ verdict: 'MISMATCH', reasons: ['body.b', 'postcondition'] }));

  it('a postcondition without an answer leaves it open', () =>
    expect(judge({ postcondition: 'observation.body.a == 1' }, {})).toMatchObject({
      verdict: 'UNVERIFIABLE',
      reasons: ['postcondition_unanswered'],
    }));

  it('an answer that is kept by digest alone is not compared', () =>
    expect(judge({ expect: { 'body.a': 1 } }, { digest: 'sha256:', bytes: 1 }, false)).toMatchObject({
      verdict: 'UNVERIFIABLE',
      reasons: ['answer_not_kept'],
    }));

  it('where the config expects nothing, being found is enough', () =>
    expect(judge({}, null, false).verdict).toBe('VERIFIED'));

  it('where all that it expects was left out, it is not', () =>
    expect(judge({ expect: { 'body.id': '{{args.id}}' } }, { id: 're_1' })).toEqual({
      verdict: 'UNVERIFIABLE',
      reasons: ['nothing_compared'],
      expected: {},
      observed: {},
      differs: [],
    }));

  it('and a postcondition then decides alone', () =>
    expect(judge({ expect: { 'body.id': '{{args.id}}' }, postcondition: 'true' }, {}).verdict).toBe('VERIFIED'));

  it.each([
    ['gap', 'upstream_not_found', 'UNVERIFIABLE', 'not_found'],
    ['violation', 'upstream_not_found', 'MISMATCH', 'not_found'],
    ['violation', 'timeout', 'UNVERIFIABLE', 'timeout'],
    ['gap', 'agent_stopped', 'UNVERIFIABLE', 'agent_stopped'],
  ])('on_not_found %s, %s: %s %s', (on_not_found, code, verdict, reason) =>
    expect(judgeFailure(written({ on_not_found }), { args: {}, expected: { 'body.a': 1 } }, code)).toEqual({
      verdict,
      reasons: [reason],
      expected: { 'body.a': 1 },
      observed: {},
      differs: [],
    }),
  );
});

describe('how a tool is confirmed, for people', () => {
  it.each([
    [written({}), 'Reads get_user and looks whether it is found.'],
    [written({ expect: { 'body.a': 1, 'body.b': 2 } }), 'Reads get_user and compares body.a, body.b.'],
    [written({ expect: { 'body.a': 1 } }, 'true'), 'Reads get_user and compares body.a and asks the postcondition.'],
  ])('%#', (confirmed, sentence) => expect(readBackTermsOf(confirmed)?.sentence).toBe(sentence));
});
