import type { JsonObject, JsonValue } from '#libs/crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';

import { thrown } from '../../../../../test/support/thrown.js';
import { DomainError } from '../../kernel/index.js';
import { MCP_CONFIG_SCHEMA } from './mcp-config.schema.js';
import { readMcpConfig } from './mcp-config.reader.js';
import { BRIDGE_FOR_STDIO, MCP_PLACES } from './mcp-keys.js';

const url = 'https://mcp.example.com/mcp';
const read = (value: JsonValue, isProduction = true) => readMcpConfig(value, { isProduction });
const refusal = (value: JsonValue, isProduction = true): DomainError =>
  thrown(DomainError, () => read(value, isProduction));
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const fits = ajv.compile(MCP_CONFIG_SCHEMA);

describe('the config of an MCP server', () => {
  it('has its defaults filled in', () => {
    expect(read({ url })).toEqual({
      url,
      auth: { kind: 'bearer' },
      timeout_ms: 30_000,
      tools_ttl_ms: 30_000,
      tools_pin: 'changed',
    });
    expect(read({ url, auth: { kind: 'header' } }).auth).toEqual({ kind: 'header', header: 'X-API-Key' });
  });

  const whole: JsonObject = {
    url: 'https://mcp.example.com:8443/a/b%20c?tenant=1&x=%2F',
    auth: { kind: 'header', header: 'Authorization' },
    timeout_ms: 600_000,
    tools_ttl_ms: 0,
    tools_pin: 'all',
  };

  it('is kept as it was given, and its stored form says the same', () => {
    expect(read(whole)).toEqual(whole);
    expect(read(read({ url }) as unknown as JsonObject)).toEqual(read({ url }));
    expect([whole, { url }, read({ url })].map((config) => fits(config))).toEqual([true, true, true]);
  });

  it.each([
    ['https://mcp.example.com'],
    ['https://mcp.example.com/'],
    ['https://MCP.example.com/x'],
    ['https://[2001:db8::1]:8443/mcp'],
    ['https://mcp.example.com?key=a?b'],
  ])('takes the address %s', (address) => {
    expect(read({ url: address }).url).toBe(address);
  });

  it('takes plain http in development alone', () => {
    expect(read({ url: 'http://127.0.0.1:3000/mcp' }, false).url).toBe('http://127.0.0.1:3000/mcp');
    expect(refusal({ url: 'http://127.0.0.1:3000/mcp' }).message).toBe('config.url must begin with https://.');
  });

  it.each<[param: string, config: JsonValue, rule: string]>([
    ['config', [], 'must be an object'],
    ['config.url', {}, 'must be a string'],
    ['config.url', { url: 7 }, 'must be a string'],
    ['config.url', { url: `https://x.example/${'a'.repeat(2_048)}` }, 'must have at most 2048 characters'],
    ['config.url', { url: 'ftp://x.example' }, 'must begin with https://'],
    ['config.url', { url: 'https://user:secret@x.example/mcp' }, 'must have no user or password'],
    ['config.url', { url: 'https://x.example/mcp#a' }, 'must have no fragment'],
    ['config.url', { url: 'https://' }, 'must be a whole URL'],
    ['config.url', { url: 'https://x.example:99999/' }, 'must be a whole URL'],
    ['config.url', { url: 'https://x.example/ä' }, 'must be a whole URL'],
    ['config.url', { url: 'https://x.example/a/../b' }, 'must be written as it is sent'],
    ['config.url', { url: 'https://x.example/mcp?q=ä' }, 'must be written as it is sent'],
    ['config.url', { url: 'https://x.example/mcp?' }, 'must be written as it is sent'],
    ['config.url', { url: `https://${'a'.repeat(64)}.example/` }, 'has a host name with more than 63 characters'],
    ['config.auth', { url, auth: 'bearer' }, 'must be an object'],
    ['config.auth.kind', { url, auth: { kind: 'basic' } }, 'must be one of bearer, header, none'],
    ['config.auth.header', { url, auth: { header: 'X-Key' } }, 'is for kind header only'],
    ['config.auth.header', { url, auth: { kind: 'header', header: 'Cookie' } }, 'must be a header that can carry'],
    ['config.auth.header', { url, auth: { kind: 'header', header: 'Mcp-Session-Id' } }, 'must be a header that can'],
    ['config.auth.header', { url, auth: { kind: 'header', header: 'accept' } }, 'must be a header that can carry'],
    ['config.auth.param', { url, auth: { kind: 'bearer', param: 'x' } }, 'is not a known key'],
    ['config.timeout_ms', { url, timeout_ms: 99 }, 'must be an integer from 100 to 600000'],
    ['config.timeout_ms', { url, timeout_ms: 600_001 }, 'must be an integer from 100 to 600000'],
    ['config.tools_ttl_ms', { url, tools_ttl_ms: -1 }, 'must be an integer from 0 to 3600000'],
    ['config.tools_ttl_ms', { url, tools_ttl_ms: 3_600_001 }, 'must be an integer from 0 to 3600000'],
    ['config.tools_pin', { url, tools_pin: 'some' }, 'must be one of changed, all, none'],
    [
      'config.base_url',
      { base_url: url },
      'is not a known key. Known are url, auth, timeout_ms, tools_ttl_ms, tools_pin.',
    ],
    ['config.command', { command: 'npx', args: ['-y', 'server'] }, `is not a known key. ${BRIDGE_FOR_STDIO}`],
    ['config.args', { url, args: [] }, `is not a known key. ${BRIDGE_FOR_STDIO}`],
    ['config.env', { url, env: {} }, `is not a known key. ${BRIDGE_FOR_STDIO}`],
    ['config.constructor', { url, constructor: {} }, 'is not a known key. Known are url'],
  ])('%s of %j', (param, config, rule) => {
    const { code, status, param: named, message } = refusal(config);
    expect({ code, status, named }).toEqual({ code: 'validation_failed', status: 400, named: param });
    expect(message).toContain(`${param} ${rule}`);
  });

  it('never quotes a password that stands in the address', () => {
    expect(refusal({ url: 'https://user:secret@x.example/mcp' }).message).not.toContain('secret');
  });
});

describe('the schema of the config of an MCP server', () => {
  it('knows the keys that the reader knows, and no other', () => {
    const { properties, additionalProperties } = MCP_CONFIG_SCHEMA;
    expect(Object.keys(properties ?? {}).sort()).toEqual([...MCP_PLACES.config.keys].sort());
    expect(Object.keys(properties?.['auth']?.properties ?? {})).toEqual([...MCP_PLACES.auth.keys]);
    expect([additionalProperties, properties?.['auth']?.additionalProperties]).toEqual([false, false]);
  });

  it('has the bounds, choices and defaults of the reader', () => {
    const stored = read({ url });
    const { properties = {} } = MCP_CONFIG_SCHEMA;
    const defaults = ['timeout_ms', 'tools_ttl_ms', 'tools_pin'].map((key) => properties[key]?.default);
    expect(defaults).toEqual([stored.timeout_ms, stored.tools_ttl_ms, stored.tools_pin]);
    expect(properties['auth']?.properties?.['kind']?.default).toBe(stored.auth.kind);
    for (const pin of properties['tools_pin']?.oneOf ?? []) expect(read({ url, tools_pin: pin.const })).toBeDefined();
    for (const key of ['timeout_ms', 'tools_ttl_ms']) {
      const { minimum = 0, maximum = 0 } = properties[key] ?? {};
      expect([read({ url, [key]: minimum }), read({ url, [key]: maximum })]).toHaveLength(2);
      expect([refusal({ url, [key]: minimum - 1 }).param, refusal({ url, [key]: maximum + 1 }).param]).toEqual([
        `config.${key}`,
        `config.${key}`,
      ]);
    }
  });
});
