import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import type { ConfigSchema } from '../config-schema.js';
import { DATABASE_CATALOGUE } from './database-catalogue.js';
import { ARGUMENT_TYPES, SSL_MODES } from './database-config.js';
import { readDatabaseConfig } from './database-config.reader.js';
import { DATABASE_CONFIG_SCHEMA } from './database-config.schema.js';
import { DATABASE_PLACES } from './database-keys.js';
import { DATABASE } from './database-type.js';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const fits = ajv.compile(DATABASE_CONFIG_SCHEMA);

const member = (schema: ConfigSchema, key: string): ConfigSchema => {
  const found = schema.properties?.[key];
  if (found === undefined) throw new Error(`no ${key}`);
  return found;
};
const tool = member(DATABASE_CONFIG_SCHEMA, 'tools').items as ConfigSchema;
const argument = member(tool, 'args').items as ConfigSchema;
const AT: Readonly<Record<keyof typeof DATABASE_PLACES, ConfigSchema>> = {
  config: DATABASE_CONFIG_SCHEMA,
  auth: member(DATABASE_CONFIG_SCHEMA, 'auth'),
  tool,
  argument,
  witness: member(DATABASE_CONFIG_SCHEMA, 'witness'),
};
const MINIMAL: JsonObject = { host: 'db.example.com', database: 'shop' };
const TOOL: JsonObject = { name: 'get', description: 'Reads.', sql: 'SELECT $1', args: [{ name: 'id', type: 'uuid' }] };
const stored = (config: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(readDatabaseConfig(config, { isProduction: false }))) as JsonObject;

describe('the schema of a database’s config', () => {
  it.each(Object.entries(AT))('knows the keys of %s, and no other', (place, schema) => {
    expect(Object.keys(schema.properties ?? {}).toSorted()).toEqual(
      [...DATABASE_PLACES[place as keyof typeof DATABASE_PLACES].keys].toSorted(),
    );
    expect(schema.additionalProperties).toBe(false);
  });

  it.each([MINIMAL, { ...MINIMAL, tools: [TOOL], witness: { enabled: true }, watch_bypass: true }])(
    'takes what the reader takes, as it is sent and as it is stored: %j',
    (sent) => {
      for (const config of [sent, stored(sent)]) expect([fits(config), fits.errors]).toEqual([true, null]);
    },
  );

  it('says the defaults that the reader fills in', () => {
    const filled = (schema: ConfigSchema, object: JsonObject): void => {
      for (const [key, { default: byDefault }] of Object.entries(schema.properties ?? {}))
        if (byDefault !== undefined) expect([key, object[key]]).toEqual([key, byDefault]);
    };
    const config = stored({ ...MINIMAL, tools: [TOOL] });
    filled(DATABASE_CONFIG_SCHEMA, config);
    filled(AT.auth, config['auth'] as JsonObject);
    filled(AT.witness, config['witness'] as JsonObject);
    filled(argument, { required: true });
  });

  it('offers the choices that the reader takes', () => {
    expect(
      member(DATABASE_CONFIG_SCHEMA, 'ssl')
        .oneOf?.map(({ const: value }) => value)
        .toSorted(),
    ).toEqual([...SSL_MODES].toSorted());
    expect(member(argument, 'type').enum).toEqual(ARGUMENT_TYPES);
  });
});

describe('the type', () => {
  it('leads where its config says, and says so in its catalogue entry', () => {
    const config = DATABASE.readConfig(MINIMAL, { isProduction: true });
    expect(DATABASE.destinationsOf(config)).toEqual(['postgres://db.example.com:5432/?sslmode=verify-full']);
    expect(DATABASE.addressKey).toBe('host');
    expect(DATABASE_CATALOGUE.tools.map(({ name, levels }) => [name, levels])).toEqual([
      ['query', ['L0']],
      ['execute', ['L0', 'L2']],
    ]);
  });
});
