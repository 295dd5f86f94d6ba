import { describe, expect, it } from 'vitest';

import type { JsonObject, JsonValue } from '#libs/crypto';

import { thrown } from '../../../../../test/support/thrown.js';
import { type ConnectorId, DomainError } from '../../kernel/index.js';
import { type DatabaseConfig, destinationOf, publicationOf, slotOf } from './database-config.js';
import { readDatabaseConfig, storedDatabaseConfigOf } from './database-config.reader.js';

const DEVELOPMENT = { isProduction: false };
const MINIMAL: JsonObject = { host: 'db.example.com', database: 'shop' };
const TOOL: JsonObject = {
  name: 'refund',
  title: 'refund an order',
  description: 'Refunds an order.',
  sql: 'UPDATE orders SET refunded = $2 WHERE id = $1',
  args: [
    { name: 'id', type: 'bigint' },
    { name: 'amount', type: 'numeric', description: 'In euros.', required: false },
  ],
  postcondition: 'row_count == 1 && rows.all(row, row.new.id == args.id)',
};
const FULL: JsonObject = {
  ...MINIMAL,
  port: 6_432,
  auth: { kind: 'database' },
  ssl: 'require',
  schemas: ['sales', 'public'],
  statement_timeout_ms: 5_000,
  lock_timeout_ms: 1_000,
  max_rows_changed: 5,
  max_rows_returned: 50,
  max_result_bytes: 2_048,
  allowed_functions: ['sales.price_of', 'similarity'],
  side_effect_tables: ['audit.log'],
  allow_truncate: true,
  allow_catalog: true,
  tools: [TOOL],
  witness: { enabled: true, slot: 'ours', publication: 'ours_too', timeout_ms: 9_000 },
  watch_bypass: true,
};

const read = (config: JsonValue, settings = DEVELOPMENT): DatabaseConfig => readDatabaseConfig(config, settings);
const refusal = (config: JsonValue, settings = DEVELOPMENT): DomainError =>
  thrown(DomainError, () => read(config, settings));
const withTool = (tool: JsonObject): JsonObject => ({ ...FULL, tools: [{ ...TOOL, ...tool }] });
const withArgument = (arg: JsonObject): JsonObject => withTool({ args: [{ name: 'id', type: 'bigint', ...arg }] });
const without = (object: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

describe('config of a database', () => {
  it('needs a host and a database, and has a default for all else', () =>
    expect(read(MINIMAL)).toEqual({
      ...MINIMAL,
      port: 5_432,
      auth: { kind: 'database' },
      ssl: 'verify-full',
      schemas: ['public'],
      statement_timeout_ms: 10_000,
      lock_timeout_ms: 2_000,
      max_rows_changed: 100,
      max_rows_returned: 1_000,
      max_result_bytes: 1_048_576,
      allowed_functions: [],
      side_effect_tables: [],
      allow_truncate: false,
      allow_catalog: false,
      tools: [],
      witness: { enabled: false, timeout_ms: 5_000 },
      watch_bypass: false,
    }));

  it('keeps what is said, in full', () => {
    const [id, amount] = TOOL['args'] as readonly JsonObject[];
    const tool = { ...TOOL, args: [{ ...id, required: true }, amount] };
    expect(read(FULL)).toEqual({ ...FULL, tools: [tool] });
  });

  it.each([
    ['the least', MINIMAL],
    ['all of it', FULL],
    ['a short statement', { ...MINIMAL, statement_timeout_ms: 500 }],
    ['a witness without names', { ...MINIMAL, witness: { enabled: true } }],
    ['an IPv6 address', { ...MINIMAL, host: '2001:db8::1', ssl: 'disable' }],
  ])('read again it is itself: %s', (_what, config) => {
    const once = read(config);
    expect(read(storedDatabaseConfigOf(once))).toEqual(once);
  });

  it('a lock is waited for no longer than the statement may take', () =>
    expect(read({ ...MINIMAL, statement_timeout_ms: 500 }).lock_timeout_ms).toBe(500));

  it.each(['db.example.com', 'localhost', 'pg_1.internal', '10.0.0.7', '::1', '2001:db8::1'])('leads to %s', (host) =>
    expect(read({ ...MINIMAL, host }).host).toBe(host),
  );

  it.each<[string, JsonValue]>([
    ['config', []],
    ['config', 'postgres://db/shop'],
    ['config', { ...MINIMAL, tools: [{ ...TOOL, description: 'x'.repeat(66_000) }] }],
    ['config.host', { database: 'shop' }],
    ['config.host', { ...MINIMAL, host: 5 }],
    ['config.host', { ...MINIMAL, host: '' }],
    ['config.host', { ...MINIMAL, host: 'a b' }],
    ['config.host', { ...MINIMAL, host: 'user@db' }],
    ['config.host', { ...MINIMAL, host: 'db:5432' }],
    ['config.host', { ...MINIMAL, host: 'db/shop' }],
    ['config.host', { ...MINIMAL, host: 'db%2e' }],
    ['config.host', { ...MINIMAL, host: 'a..b' }],
    ['config.host', { ...MINIMAL, host: '/var/run/postgresql' }],
    ['config.host', { ...MINIMAL, host: '[::1]' }],
    ['config.host', { ...MINIMAL, host: '0x7f.1' }],
    ['config.host', { ...MINIMAL, host: '2130706433' }],
    ['config.host', { ...MINIMAL, host: 'DB.example.com' }],
    ['config.host', { ...MINIMAL, host: `${'a'.repeat(64)}.com` }],
    ['config.host', { ...MINIMAL, host: 'a'.repeat(254) }],
    ['config.port', { ...MINIMAL, port: 0 }],
    ['config.port', { ...MINIMAL, port: 65_536 }],
    ['config.port', { ...MINIMAL, port: '5432' }],
    ['config.database', { host: 'db' }],
    ['config.database', { ...MINIMAL, database: '' }],
    ['config.database', { ...MINIMAL, database: 'é'.repeat(32) }],
    ['config.database', { ...MINIMAL, database: 'a\u0000' }],
    ['config.auth', { ...MINIMAL, auth: 'database' }],
    ['config.auth.kind', { ...MINIMAL, auth: { kind: 'basic' } }],
    ['config.auth.user', { ...MINIMAL, auth: { kind: 'database', user: 'x' } }],
    ['config.ssl', { ...MINIMAL, ssl: 'prefer' }],
    ['config.schemas', { ...MINIMAL, schemas: [] }],
    ['config.schemas', { ...MINIMAL, schemas: Array.from({ length: 17 }, (_, index) => `s${index}`) }],
    ['config.schemas[0]', { ...MINIMAL, schemas: [5] }],
    ['config.schemas[1]', { ...MINIMAL, schemas: ['public', 'pg_catalog'] }],
    ['config.schemas[0]', { ...MINIMAL, schemas: ['information_schema'] }],
    ['config.schemas[1]', { ...MINIMAL, schemas: ['public', 'public'] }],
    ['config.schemas[0]', { ...MINIMAL, schemas: ['a.b'] }],
    ['config.schemas[0]', { ...MINIMAL, schemas: ['a"b'] }],
    ['config.schemas[0]', { ...MINIMAL, schemas: ['x'.repeat(64)] }],
    ['config.statement_timeout_ms', { ...MINIMAL, statement_timeout_ms: 99 }],
    ['config.statement_timeout_ms', { ...MINIMAL, statement_timeout_ms: 60_001 }],
    ['config.lock_timeout_ms', { ...MINIMAL, lock_timeout_ms: 0 }],
    ['config.lock_timeout_ms', { ...MINIMAL, lock_timeout_ms: 10_001 }],
    ['config.max_rows_changed', { ...MINIMAL, max_rows_changed: 0 }],
    ['config.max_rows_changed', { ...MINIMAL, max_rows_changed: 10_001 }],
    ['config.max_rows_returned', { ...MINIMAL, max_rows_returned: 10_001 }],
    ['config.max_result_bytes', { ...MINIMAL, max_result_bytes: 1_023 }],
    ['config.max_result_bytes', { ...MINIMAL, max_result_bytes: 1_048_577 }],
    ['config.allowed_functions', { ...MINIMAL, allowed_functions: 'now' }],
    ['config.allowed_functions[0]', { ...MINIMAL, allowed_functions: ['now()'] }],
    ['config.allowed_functions[0]', { ...MINIMAL, allowed_functions: ['a.b.c'] }],
    ['config.allowed_functions[1]', { ...MINIMAL, allowed_functions: ['now', 'pg_sleep'] }],
    ['config.allowed_functions[0]', { ...MINIMAL, allowed_functions: ['pg_catalog.set_config'] }],
    ['config.allowed_functions[0]', { ...MINIMAL, allowed_functions: ['dblink'] }],
    ['config.allowed_functions[0]', { ...MINIMAL, allowed_functions: ['public.dblink_exec'] }],
    ['config.allowed_functions[0]', { ...MINIMAL, allowed_functions: ['lo_import'] }],
    ['config.side_effect_tables[0]', { ...MINIMAL, side_effect_tables: ['orders'] }],
    ['config.side_effect_tables[0]', { ...MINIMAL, side_effect_tables: ['pg_catalog.pg_class'] }],
    ['config.side_effect_tables[1]', { ...MINIMAL, side_effect_tables: ['audit.log', 'audit.log'] }],
    ['config.allow_truncate', { ...MINIMAL, allow_truncate: 'yes' }],
    ['config.allow_catalog', { ...MINIMAL, allow_catalog: 1 }],
    ['config.witness', { ...MINIMAL, witness: true }],
    ['config.witness.enabled', { ...MINIMAL, witness: { enabled: 'yes' } }],
    ['config.witness.slot', { ...MINIMAL, witness: { slot: 'Ours' } }],
    ['config.witness.slot', { ...MINIMAL, witness: { slot: '' } }],
    ['config.witness.publication', { ...MINIMAL, witness: { publication: 'x'.repeat(64) } }],
    ['config.witness.timeout_ms', { ...MINIMAL, witness: { timeout_ms: 499 } }],
    ['config.witness.timeout', { ...MINIMAL, witness: { timeout: 500 } }],
    ['config.watch_bypass', { ...MINIMAL, watch_bypass: true }],
    ['config.tools', { ...MINIMAL, tools: {} }],
    ['config.tools', { ...MINIMAL, tools: Array.from({ length: 63 }, (_, index) => ({ ...TOOL, name: `t${index}` })) }],
    ['config.tools[0]', { ...MINIMAL, tools: ['refund'] }],
    ['config.tools[0].name', withTool({ name: 'Refund' })],
    ['config.tools[0].name', withTool({ name: 'query' })],
    ['config.tools[0].name', withTool({ name: 'execute' })],
    ['config.tools[1].name', { ...FULL, tools: [TOOL, TOOL] }],
    ['config.tools[0].title', withTool({ title: 'Refund an order.' })],
    ['config.tools[0].description', { ...FULL, tools: [without(TOOL, 'description')] }],
    ['config.tools[0].description', withTool({ description: '' })],
    ['config.tools[0].description', withTool({ description: 'a\u001b[0m' })],
    ['config.tools[0].sql', { ...FULL, tools: [without(TOOL, 'sql')] }],
    ['config.tools[0].sql', withTool({ sql: ' \n' })],
    ['config.tools[0].sql', withTool({ sql: 'SELECT \u0000' })],
    ['config.tools[0].side_effect', withTool({ side_effect: 'read' })],
    ['config.tools[0].args', withTool({ args: {} })],
    ['config.tools[0].args', withTool({ args: Array.from({ length: 33 }, (_, index) => ({ name: `a${index}` })) })],
    ['config.tools[0].args[0]', withTool({ args: ['id'] })],
    ['config.tools[0].args[0].name', withArgument({ name: '1' })],
    ['config.tools[0].args[0].name', withArgument({ name: '__proto__' })],
    ['config.tools[0].args[0].type', withArgument({ type: 'text' })],
    ['config.tools[0].args[0].type', withTool({ args: [{ name: 'id' }] })],
    ['config.tools[0].args[0].required', withArgument({ required: 'yes' })],
    ['config.tools[0].args[0].default', withArgument({ default: '5' })],
    ['config.tools[0].args[1].name', withTool({ args: ['a', 'a'].map((name) => ({ name, type: 'string' })) })],
    ['config.tools[0].postcondition', withTool({ postcondition: 'row_count' })],
    ['config.tools[0].postcondition', withTool({ postcondition: 'observation.body.id == 1' })],
    ['config.tools[0].postcondition', withTool({ postcondition: 'rows[0].knd == "update"' })],
    ['config.tools[0].postcondition', withTool({ postcondition: `row_count == ${'1'.repeat(2_048)}` })],
    ['config.tools[0].postcondition', { ...MINIMAL, tools: [TOOL] }],
    ['config.password', { ...MINIMAL, password: 'x' }],
    ['config.scheme', { ...MINIMAL, scheme: ['public'] }],
  ])('%s: refused by its name', (param, config) => {
    const error = refusal(config);
    expect(error).toMatchObject({ code: 'validation_failed', status: 400, param });
    expect(error.message.startsWith(`${param} `)).toBe(true);
  });

  it.each([
    [{ host: '0x7f.1' }, 'config.host must be written as it is dialled: 127.0.0.1.'],
    [{ lock_timeout_ms: 10_001 }, 'config.lock_timeout_ms must not be above statement_timeout_ms, which is 10000.'],
    [
      { password: 'x' },
      'config.password is not a known key. User names and passwords are stored with the credentials route, PUT /v1/connectors/{id}/credentials, and nowhere else.',
    ],
    [{ scheme: [] }, 'config.scheme is not a known key. Did you mean schemas?'],
    [{ port: 0, ssl: 'on' }, 'config.port must be an integer from 1 to 65535. The config has 1 more problem.'],
  ])('says what to do instead: %j', (keys, message) => expect(refusal({ ...MINIMAL, ...keys }).message).toBe(message));

  it('sends nothing in the clear outside development', () => {
    const inTheClear = { ...MINIMAL, ssl: 'disable' };
    expect(read(inTheClear).ssl).toBe('disable');
    expect(refusal(inTheClear, { isProduction: true })).toMatchObject({ param: 'config.ssl' });
    expect(read({ ...MINIMAL, ssl: 'require' }, { isProduction: true }).ssl).toBe('require');
  });
});

describe('what is derived of it', () => {
  const connector = 'con_01HZXAMPLE000000000000000A' as ConnectorId;

  it('slot and publication are the connector’s own, unless the config names them', () => {
    const own = 'ags_01hzxample000000000000000a';
    expect([slotOf(read(MINIMAL), connector), publicationOf(read(MINIMAL), connector)]).toEqual([own, own]);
    expect([slotOf(read(FULL), connector), publicationOf(read(FULL), connector)]).toEqual(['ours', 'ours_too']);
  });

  it.each([
    ['db.example.com', 'postgres://db.example.com:5432/?sslmode=verify-full'],
    ['::1', 'postgres://[::1]:5432/?sslmode=verify-full'],
  ])('a destination of %s', (host, url) => expect(destinationOf(read({ ...MINIMAL, host }))).toBe(url));
});
