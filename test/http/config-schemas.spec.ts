import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONNECTOR_CATALOGUE } from '#libs/domain/connectors';
import { readOpenApiDocument } from '../../apps/api/src/openapi/openapi-document.js';

interface Schema {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly { readonly const?: unknown }[];
  readonly allOf?: readonly Schema[];
  readonly [key: string]: unknown;
}

const { schemas } = (parse(readOpenApiDocument()) as { components: { schemas: Readonly<Record<string, Schema>> } })
  .components;
const resolved = ({ $ref: name, allOf = [], ...own }: Schema): Schema => ({
  ...(name === undefined ? {} : resolved(schemas[name.split('/').at(-1) ?? ''] ?? {})),
  ...Object.assign({}, ...allOf.map(resolved)),
  ...own,
});

/** What a schema allows; words for people are left to each. */
const BOUNDS = [
  'type',
  'default',
  'minimum',
  'maximum',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'pattern',
] as const;
const choicesOf = ({ enum: listed, oneOf }: Schema): readonly unknown[] | undefined =>
  listed ?? (oneOf?.every((each) => 'const' in each) ? oneOf.map((each) => each.const) : undefined);

/** Every bound by its path, such as `tools[].args.*.maxProperties`. */
const boundsOf = (given: Schema, path = ''): readonly (readonly [string, string])[] => {
  const schema = resolved(given);
  const at = (name: string, value: unknown) =>
    value === undefined ? [] : [[`${path}: ${name}`, JSON.stringify(value)] as const];
  const { additionalProperties: each, items, properties = {} } = schema;
  const choices = choicesOf(schema);
  return [
    ...BOUNDS.filter((name) => name !== 'type' || choices === undefined).flatMap((name) => at(name, schema[name])),
    ...at('choices', choices === undefined ? undefined : [...choices].sort()),
    ...at('required', schema.required === undefined ? undefined : [...schema.required].sort()),
    ...at('members', schema.properties === undefined ? undefined : Object.keys(properties).sort()),
    ...Object.entries(properties).flatMap(([name, member]) => boundsOf(member, path === '' ? name : `${path}.${name}`)),
    ...(items === undefined ? [] : boundsOf(items, `${path}[]`)),
    ...(typeof each === 'object' ? boundsOf(each, `${path}.*`) : []),
  ];
};

const NAMES: Readonly<Record<string, string>> = {
  rest: 'RestConfig',
  mcp_http: 'McpHttpConfig',
  database: 'DatabaseConfig',
  payments: 'PaymentsConfig',
  code_host: 'CodeHostConfig',
  fake: 'FakeConfig',
};

describe('the config of a connector, as the OpenAPI document describes it', () => {
  it.each(CONNECTOR_CATALOGUE)(
    'of $type has every member, default and bound that its form has',
    ({ type, config_schema: form }) => {
      const described = boundsOf(schemas[NAMES[type] ?? ''] ?? {});
      expect(Object.fromEntries(described)).toMatchObject(Object.fromEntries(boundsOf(form as unknown as Schema)));
    },
  );
});
