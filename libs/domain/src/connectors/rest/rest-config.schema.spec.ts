import { readFileSync } from 'node:fs';

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import type { ConfigSchema } from '../config-schema.js';
import { HTTP_METHODS } from '../http-request.js';
import { REST_CONFIG_SCHEMA } from './rest-config.schema.js';
import { REST_PLACES } from './rest-keys.js';
import { config, paramOf, read, tool, withTool } from './testing/given-rest-config.js';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const fits = ajv.compile(REST_CONFIG_SCHEMA);

const member = (schema: ConfigSchema, key: string): ConfigSchema => {
  const found = schema.properties?.[key];
  if (found === undefined) throw new Error(`no ${key}`);
  return found;
};
const mapped = (schema: ConfigSchema): ConfigSchema => schema.additionalProperties as ConfigSchema;

const toolSchema = member(REST_CONFIG_SCHEMA, 'tools').items as ConfigSchema;
const argument = mapped(member(toolSchema, 'args'));
const readback = member(toolSchema, 'readback');
const money = member(argument, 'money');
const AT: Readonly<Record<keyof typeof REST_PLACES, ConfigSchema>> = {
  config: REST_CONFIG_SCHEMA,
  auth: member(REST_CONFIG_SCHEMA, 'auth'),
  test: member(REST_CONFIG_SCHEMA, 'test'),
  tool: toolSchema,
  argument,
  money,
  cost: member(toolSchema, 'cost'),
  readback,
};

/** What it may be, where that is one of a few. */
const choices = ({ enum: names, oneOf }: ConfigSchema): readonly string[] | null =>
  names ?? oneOf?.map(({ const: value }) => value) ?? null;

const reference = readFileSync(new URL('../../../../../docs/connectors-rest.md', import.meta.url), 'utf8');

describe('the schema of a REST config', () => {
  it.each(Object.entries(AT))('knows the keys of %s, and no other', (place, schema) => {
    expect(Object.keys(schema.properties ?? {}).toSorted()).toEqual(
      [...REST_PLACES[place as keyof typeof REST_PLACES].keys].toSorted(),
    );
    expect(schema.additionalProperties).toBe(false);
  });

  it('takes the configs that the reader takes, as they are sent and as they are stored', () => {
    const [example = '{}'] = [...reference.matchAll(/```json\n([\s\S]*?)\n```/g)].map(([, text]) => text);
    const full = withTool({
      method: 'DELETE',
      idempotency_header: 'Idempotency-Key',
      title: 'forget some of them',
      args: {
        ids: { in: 'query', type: 'array', style: 'comma', enum: [['a'], ['b']] },
        fee: { in: 'query', type: 'integer', money: { currency: 'eur' } },
        most: { in: 'query', type: 'integer', money: { currency_arg: 'in' } },
        in: { in: 'query', type: 'string' },
      },
      cost: { amount: 250, currency: 'eur' },
    });
    for (const sent of [config(), full, (JSON.parse(example) as { config: JsonObject }).config]) {
      expect([fits(sent), fits.errors]).toEqual([true, null]);
      const stored = JSON.parse(JSON.stringify(read(sent))) as JsonObject;
      expect([fits(stored), fits.errors]).toEqual([true, null]);
    }
  });

  it('says the defaults that the reader fills in', () => {
    const stored = read(
      config({
        auth: {},
        test: { path: '/v1/x' },
        tools: [
          tool({ args: { x: { in: 'query', type: 'array' } } }),
          tool({ name: 'put', method: 'POST', readback: { tool: 'get_user' } }),
        ],
      }),
    );
    const filled = (schema: ConfigSchema, object: object): void => {
      for (const [key, { default: byDefault }] of Object.entries(schema.properties ?? {}))
        if (byDefault !== undefined && Object.hasOwn(object, key))
          expect([key, object[key as keyof typeof object]]).toEqual([key, byDefault]);
    };
    const [reads, writes] = stored.tools;
    filled(REST_CONFIG_SCHEMA, stored);
    filled(AT.auth, stored.auth);
    filled(AT.test, stored.test ?? {});
    filled(argument, reads?.args['x'] ?? {});
    filled(readback, writes?.readback ?? {});
    expect(read(config({ auth: { kind: 'header' } })).auth.header).toBe(member(AT.auth, 'header').default);
    expect(read(config({ auth: { kind: 'query' } })).auth.param).toBe(member(AT.auth, 'param').default);
  });

  const choosing = Object.entries(AT).flatMap(([place, schema]) =>
    Object.entries(schema.properties ?? {}).flatMap(([key, of]) =>
      (choices(of) ?? []).map((value) => [place as keyof typeof AT, key, value] as const),
    ),
  );
  it.each(choosing)('offers in %s for %s what the reader takes: %s', (place, key, value) => {
    const chosen = { [key]: value };
    const anywhere = { allowed_methods: [...HTTP_METHODS] };
    const list = { in: 'query', type: 'array' };
    const text = { in: 'body', type: 'string', ...(value === 'header' ? { header: 'X-Thing' } : {}) };
    const x = { ...(key === 'style' ? list : text), ...chosen };
    const path = value === 'path' ? '/v1/users/{x}' : '/v1/users';
    const sent = {
      config: config(chosen),
      auth: config({ auth: chosen }),
      test: config({ test: { path: '/v1/x', ...chosen } }),
      tool: config({ ...anywhere, tools: [tool(chosen)] }),
      argument: withTool({ method: 'POST', path, args: { x } }),
      money: withTool({ method: 'POST', args: { x: { in: 'body', type: 'integer', money: chosen } } }),
      cost: withTool({ cost: { amount: 1, currency: 'eur', ...chosen } }),
      readback: config({
        tools: [tool(), tool({ name: 'put', method: 'POST', readback: { tool: 'get_user', ...chosen } })],
      }),
    }[place];
    expect(() => read(sent)).not.toThrow();
  });

  it('allows a member that hangs on another only where the reader does', () => {
    expect(paramOf(config({ auth: { kind: 'bearer', header: 'X-Key' } }))).toBe('config.auth.header');
    expect(paramOf(withTool({ args: { x: { in: 'query', type: 'string', style: 'form' } } }))).toMatch(/style$/);
    expect(paramOf(withTool({ args: { x: { in: 'query', type: 'string', header: 'X-A' } } }))).toMatch(/header$/);
    expect(paramOf(withTool({ args: { x: { in: 'query', type: 'string', min: 1 } } }))).toMatch(/min$/);
    expect(paramOf(withTool({ args: { x: { in: 'query', type: 'integer', pattern: 'a' } } }))).toMatch(/pattern$/);
  });
});
