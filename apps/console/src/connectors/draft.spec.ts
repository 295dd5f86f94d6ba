import { describe, expect, it } from 'vitest';
import {
  addedTo,
  type Draft,
  type DraftObject,
  emptyDraft,
  type Fault,
  isWanted,
  type Json,
  Misfit,
  toDraft,
  toJson,
  valuesAt,
} from './draft.ts';
import type { Schema } from './schema.ts';

const argument: Schema = {
  type: 'object',
  required: ['in'],
  properties: {
    in: { oneOf: [{ const: 'path', title: 'the path' }], default: 'path' },
    header: { type: 'string', 'x-service-form': { when: { in: ['header'] } } },
    max: { type: 'number' },
    enum: { type: 'array', items: {} },
  },
};
const schema: Schema = {
  type: 'object',
  required: ['tools'],
  properties: {
    base_url: { type: 'string' },
    timeout_ms: { type: 'integer', default: 10 },
    send_action_id: { type: 'boolean', default: true },
    methods: { type: 'array', uniqueItems: true, items: { type: 'string', enum: ['GET', 'POST'] } },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    tools: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          args: { type: 'object', additionalProperties: argument },
          expect: { type: 'object', additionalProperties: {} },
        },
      },
    },
  },
};

const config: Json = {
  base_url: 'https://api.example.com',
  timeout_ms: 500,
  send_action_id: false,
  methods: ['GET'],
  headers: { 'X-Empty': '' },
  tools: [
    {
      name: 'get',
      args: { 'page[size]': { in: 'path', max: 1.5, enum: [1, 'two', null, '3'] } },
      expect: { 'body.id': '{{args.id}}', 'body.count': 3, 'body.text': '3', 'body.list': [1, { a: 'b' }] },
    },
  ],
};

const back = (draft: Draft, of = schema): { json: Json | undefined; faults: Fault[] } => {
  const faults: Fault[] = [];
  return { json: toJson(of, draft, 'config', faults), faults };
};
const object = (members: DraftObject['members'], others: DraftObject['others'] = {}): DraftObject => ({
  members,
  others,
});

describe('a config as a form holds it', () => {
  it('is unchanged by the form', () => expect(back(toDraft(schema, config, 'config')).json).toEqual(config));

  it('keeps members that the schema does not know, at any depth', () => {
    const odd = { later: { x: [1] }, tools: [{ name: 'get', since: '2027' }] };
    expect(back(toDraft(schema, odd, 'config')).json).toEqual(odd);
  });

  it('keeps a member named __proto__', () => {
    const odd = JSON.parse('{"headers": {"__proto__": "x"}, "tools": [{"name": "get"}]}') as Json;
    expect(JSON.stringify(back(toDraft(schema, odd, 'config')).json)).toBe(JSON.stringify(odd));
  });

  it.each([
    [{ tools: 'x' }, 'config.tools must be a list.'],
    [{ tools: [{ args: [] }] }, 'config.tools[0].args must be an object.'],
    [{ tools: [{ args: { id: { in: 1 } } }] }, 'config.tools[0].args.id.in must be a text.'],
    [{ timeout_ms: '5' }, 'config.timeout_ms must be a number.'],
    [{ methods: [1] }, 'config.methods must be a list of texts.'],
    [[], 'config must be an object.'],
  ])('has no place for %j', (odd, message) => {
    expect(() => toDraft(schema, odd, 'config')).toThrow(Misfit);
    expect(() => toDraft(schema, odd, 'config')).toThrow(message);
  });
});

describe('a typed value', () => {
  it('is left out if empty, and a fault if required', () => {
    const { json, faults } = back(object({ base_url: '', timeout_ms: '', tools: { rows: [] }, methods: [] }));
    expect(json).toEqual({});
    expect(faults).toEqual([{ param: 'config.tools', message: 'Add at least one.' }]);
    const nameless = back(object({ tools: addedTo([], '', emptyDraft(schema.properties?.['tools']?.items ?? {})) }));
    expect(nameless.faults).toEqual([{ param: 'config.tools[0].name', message: 'This field is required.' }]);
  });

  it('is sent unchanged if it should be a number and is none: the service reports it', () =>
    expect(back(object({ timeout_ms: 'ten' })).json).toEqual({ timeout_ms: 'ten' }));

  it.each([
    ['42', 42],
    ['"42"', '42'],
    ['true', true],
    ['{{args.id}}', '{{args.id}}'],
    ['lost', 'lost'],
    ['[1, 2]', [1, 2]],
  ])('is JSON if it parses as JSON, else a text: %s', (text, value) => {
    const rows = addedTo([], 'body.x', text);
    expect(back(rows, { type: 'object', additionalProperties: {} }).json).toEqual({ 'body.x': value });
  });

  it('is a fault if two rows have the same name: one of them would be lost', () => {
    const rows = addedTo(addedTo([], 'X-A', '1').rows, 'X-A', '2');
    const headers: Schema = { type: 'object', additionalProperties: { type: 'string' } };
    expect(back(rows, headers).faults).toEqual([
      { param: 'config.X-A', message: expect.stringContaining('is used twice') as string },
    ]);
  });

  it('is not sent if another member makes it meaningless', () => {
    const typed = (place: string) => object({ in: place, header: 'X-A' });
    const [wanted, unwanted] = [typed('header'), typed('path')];
    expect(back(wanted, argument).json).toEqual({ in: 'header', header: 'X-A' });
    expect(back(unwanted, argument).json).toEqual({ in: 'path' });
    const header = argument.properties?.['header'] as Schema;
    expect(isWanted(header, argument, object({}))).toBe(false);
  });

  it('is sent as an empty list where nothing is ticked of what is ticked by default', () => {
    const reasons = { type: 'array', uniqueItems: true, items: { type: 'string', enum: ['a', 'b'] } };
    const schema: Schema = {
      type: 'object',
      properties: { reasons: { ...reasons, default: ['a', 'b'] }, others: reasons },
    };
    expect(back(object({ reasons: [], others: [] }), schema).json).toEqual({ reasons: [] });
    expect(back(object({}), schema).json).toEqual({});
  });

  it('is shown if the default of another member gives it a meaning', () => {
    const member: Schema = { type: 'string', 'x-service-form': { when: { in: ['path'] } } };
    expect(isWanted(member, argument, object({}))).toBe(true);
  });
});

describe('the values at a path of the config', () => {
  it('are found by the path', () =>
    expect(
      valuesAt(toDraft(schema, { tools: [{ name: 'get' }, {}, { name: 'put' }] }, 'config'), 'tools[].name'),
    ).toEqual(['get', 'put']));
  it('are only those of the objects that the schema selects', () => {
    const among = { method: ['GET'], side_effect: ['', 'read'] };
    const row = (members: Record<string, string>) => ({ members, others: {} });
    const rows = [
      row({ name: 'get', method: 'GET' }),
      row({ name: 'put', method: 'PUT' }),
      row({ name: 'spend', method: 'GET', side_effect: 'write' }),
    ].reduce<ReturnType<typeof addedTo>['rows']>((all, value) => addedTo(all, '', value).rows, []);
    expect(valuesAt(object({ tools: { rows } }), 'tools[].name', among)).toEqual(['get']);
  });
  it('are none in an empty draft', () => expect(valuesAt(emptyDraft(schema), 'tools[].name')).toEqual([]));
});
