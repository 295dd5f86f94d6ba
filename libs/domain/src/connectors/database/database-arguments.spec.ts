import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { JsonObject, JsonValue } from '#libs/crypto';

import { boundStatementOf, FREE_STATEMENT_SCHEMA, parametersOf, schemaOfArgument } from './database-arguments.js';
import { ARGUMENT_TYPES, type ArgumentType, type DatabaseArgument } from './database-config.js';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

const argument = (type: ArgumentType, required = true): DatabaseArgument => ({ name: 'x', type, required });
const textOf = (type: ArgumentType, value: JsonValue, required = true): string | null | undefined => {
  const bound = parametersOf({ args: [argument(type, required)] }, { x: value });
  return bound.ok ? bound.params[0] : undefined;
};
const fits = (type: ArgumentType, value: JsonValue, required = true): boolean =>
  ajv.compile(schemaOfArgument(argument(type, required)))(value);

const GOOD: readonly (readonly [ArgumentType, JsonValue, string])[] = [
  ['string', '', ''],
  ['string', "Robert'); --", "Robert'); --"],
  ['integer', -7, '-7'],
  ['integer', 9_007_199_254_740_991, '9007199254740991'],
  ['number', 1.5, '1.5'],
  ['number', 1e21, '1e+21'],
  ['boolean', true, 'true'],
  ['boolean', false, 'false'],
  ['numeric', '-19.90', '-19.90'],
  ['numeric', `${'9'.repeat(128)}.5`, `${'9'.repeat(128)}.5`],
  ['bigint', '9223372036854775807', '9223372036854775807'],
  ['bigint', '-9223372036854775808', '-9223372036854775808'],
  ['timestamp', '2026-01-31T08:00:00.123456+02:00', '2026-01-31T08:00:00.123456+02:00'],
  ['date', '2024-02-29', '2024-02-29'],
  ['uuid', '6F9619FF-8B86-D011-B42D-00C04FC964FF', '6F9619FF-8B86-D011-B42D-00C04FC964FF'],
  ['json', { b: [1, null], a: 'x' }, '{"a":"x","b":[1,null]}'],
  ['json', 'x', '"x"'],
  ['json', false, 'false'],
];

const BAD: readonly (readonly [ArgumentType, JsonValue])[] = [
  ...ARGUMENT_TYPES.map((type) => [type, null] as const),
  ...ARGUMENT_TYPES.filter((type) => type !== 'json').map((type) => [type, {}] as const),
  ['string', 5],
  ['integer', '5'],
  ['integer', 1.5],
  ['integer', 9_007_199_254_740_992],
  ['number', '1.5'],
  ['boolean', 'true'],
  ['numeric', 19.9],
  ['numeric', '1e5'],
  ['numeric', '.5'],
  ['numeric', '1,5'],
  ['numeric', 'NaN'],
  ['bigint', 5],
  ['bigint', '1.0'],
  ['bigint', ' 5'],
  ['timestamp', '2026-01-31 08:00:00Z'],
  ['timestamp', '2026-01-31T08:00:00'],
  ['timestamp', '2026-01-31T08:00:00.1234567Z'],
  ['timestamp', '2026-02-30T08:00:00Z'],
  ['timestamp', 'now'],
  ['date', '2023-02-29'],
  ['date', '2026-1-1'],
  ['date', 'today'],
  ['uuid', '6f9619ff8b86d011b42d00c04fc964ff'],
];

describe('arguments of a named tool', () => {
  it.each(GOOD)('%s: %j is sent as its text', (type, value, text) => {
    expect([textOf(type, value), fits(type, value)]).toEqual([text, true]);
  });

  it.each(BAD)('%s: %j is refused, by the schema too', (type, value) => {
    const bound = parametersOf({ args: [argument(type)] }, { x: value });
    expect(bound).toMatchObject({ ok: false, fault: { param: 'args.x' } });
    expect([fits(type, value), textOf(type, value)]).toEqual([false, undefined]);
  });

  it.each(['9223372036854775808', '-9223372036854775809'])('bigint: %s does not fit into 64 bits', (value) =>
    expect(textOf('bigint', value)).toBeUndefined(),
  );

  it('whatever is accepted, the schema accepts', () =>
    fc.assert(
      fc.property(fc.constantFrom(...ARGUMENT_TYPES), fc.boolean(), fc.jsonValue(), (type, required, json) => {
        const value = json as JsonValue;
        if (textOf(type, value, required) === undefined) return;
        expect(fits(type, value, required)).toBe(true);
      }),
    ));

  it.each(ARGUMENT_TYPES)('%s: one that is not required may be null or left out, and is NULL', (type) => {
    const tool = { args: [argument(type, false)] };
    expect(parametersOf(tool, {})).toEqual({ ok: true, params: [null] });
    expect(parametersOf(tool, { x: null })).toEqual({ ok: true, params: [null] });
    expect(fits(type, null, false)).toBe(true);
  });

  const tool = {
    args: [
      { name: 'id', type: 'bigint', required: true },
      { name: 'note', type: 'string', required: false },
    ],
  } as const;

  it('stand in the order of the config, whatever the order of the call', () =>
    expect(parametersOf(tool, { note: 'n', id: '5' })).toEqual({ ok: true, params: ['5', 'n'] }));

  it.each<[JsonObject, string, string]>([
    [{}, 'args.id', 'args.id is required.'],
    [{ id: 5 }, 'args.id', 'args.id must be an integer of 64 bits as a string of digits.'],
    [{ id: '5', note: 5 }, 'args.note', 'args.note must be a string, or null.'],
    [{ id: '5', nte: 'n' }, 'args.nte', 'args.nte is no argument of the tool. Its arguments are id, note.'],
    [
      { id: '5', note: 'a\u0000' },
      'args.note',
      'args.note must not hold the character U+0000, which PostgreSQL cannot store.',
    ],
  ])('%j is refused in a sentence', (args, param, message) =>
    expect(parametersOf(tool, args)).toEqual({ ok: false, fault: { param, message } }),
  );

  it('no refusal holds a value', () =>
    expect(JSON.stringify(parametersOf(tool, { id: 'canary' }))).not.toContain('canary'));
});

describe('the statement of a call', () => {
  const named = { name: 'refund', description: 'x', sql: 'SELECT $1', args: [argument('integer')] };
  const bound = (name: string, args: JsonObject) => boundStatementOf({ tools: [named] }, name, args);
  const accepts = ajv.compile(FREE_STATEMENT_SCHEMA);

  it('of a named tool is the config’s, with its arguments', () => {
    expect(bound('refund', { x: 5 })).toEqual({ ok: true, sql: 'SELECT $1', params: ['5'] });
    expect(bound('refund', {})).toMatchObject({ ok: false, fault: { param: 'args.x' } });
  });

  it('there is none of a tool that the connector does not have', () => expect(bound('other', {})).toBeNull());

  it.each(['query', 'execute'])('of %s is the agent’s, each parameter as its text', (name) => {
    const args = { sql: 'SELECT $1', params: ['a', 1.5, true, null, { b: 1 }, [1, 'x']] };
    expect(accepts(args)).toBe(true);
    expect(bound(name, args)).toEqual({
      ok: true,
      sql: 'SELECT $1',
      params: ['a', '1.5', 'true', null, '{"b":1}', '[1,"x"]'],
    });
    expect(bound(name, { sql: 'SELECT 1' })).toEqual({ ok: true, sql: 'SELECT 1', params: [] });
  });

  it.each<[string, JsonObject]>([
    ['args.sql', {}],
    ['args.sql', { sql: 5 }],
    ['args.sql', { sql: '' }],
    ['args.sql', { sql: 'x'.repeat(65_537) }],
    ['args.params', { sql: 'SELECT 1', params: '1' }],
    ['args.params', { sql: 'SELECT 1', params: null, limit: 1 }],
    ['args.params', { sql: 'SELECT 1', params: Array<number>(101).fill(1) }],
    ['args.limit', { sql: 'SELECT 1', limit: 1 }],
  ])('%s: refused, by the schema too', (param, args) => {
    expect(bound('query', args)).toMatchObject({ ok: false, fault: { param } });
    expect(accepts(args)).toBe(false);
  });

  it.each<[string, JsonObject]>([
    ['args.sql', { sql: ' ' }],
    ['args.sql', { sql: 'é'.repeat(32_769) }],
    ['args.sql', { sql: 'SELECT \u0000' }],
    ['args.params[1]', { sql: 'SELECT $1, $2', params: ['a', 'b\u0000'] }],
  ])('%s: refused for what no schema can say', (param, args) =>
    expect(bound('query', args)).toMatchObject({ ok: false, fault: { param } }),
  );
});
