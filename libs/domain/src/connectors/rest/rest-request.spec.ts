import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import { inputSchemaOf } from './rest-arguments.js';
import type { RestConfig, RestTool } from './rest-config.js';
import { readRestConfig } from './rest-config.reader.js';
import { cleanedPath, isUnderAnyPrefix } from './rest-paths.js';
import { buildRestRequest, previewOfRestRequest, restRequestFacts } from './rest-request.js';

const ACTION = 'act_00000000000000000000000001';

const configured = (tool: JsonObject, changes: JsonObject = {}): [RestConfig, RestTool] => {
  const config = readRestConfig(
    {
      base_url: 'https://api.example.com/base',
      allowed_methods: ['GET', 'POST', 'DELETE'],
      allowed_path_prefixes: ['/v1/users'],
      tools: [{ name: 'tool', method: 'GET', path: '/v1/users', ...tool }],
      ...changes,
    },
    { isProduction: true },
  );
  return [config, config.tools[0] as RestTool];
};
const build = ([config, tool]: [RestConfig, RestTool], args: JsonObject) =>
  buildRestRequest(config, tool, args, ACTION);
const request = (of: [RestConfig, RestTool], args: JsonObject) => {
  const built = build(of, args);
  if (!built.ok) throw new Error(built.fault.message);
  return built.request;
};
const faultParam = (of: [RestConfig, RestTool], args: JsonObject) => {
  const built = build(of, args);
  return built.ok ? null : built.fault.param;
};

const byId = configured({ path: '/v1/users/{id}', args: { id: { in: 'path', type: 'string' } } });

describe('REST request: paths (rule REST-4)', () => {
  const attacks = [
    '../admin',
    '42/../../x',
    '%2e%2e',
    '%252e',
    '..%2f',
    '.%2e',
    '%c0%ae',
    '\\',
    '..\\',
    '\u0000',
    '\t',
    '\n',
    ' ',
    ';',
    '?',
    '#',
    '．．',
    '／',
    '..',
    '.',
    '',
    'a'.repeat(257),
    'a/b',
    'a?x=1',
    'a#f',
    'é',
    '{id}',
    'a+b',
    'a:b',
    '@',
    '~/..',
    '\u200b',
    'a%00',
  ];
  const generated = attacks.flatMap((attack) => [attack, `42${attack}x/..`, `${attack}/`, `/${attack}`, `${attack}%`]);

  it.each(attacks)('%j builds no request', (id) => {
    expect(faultParam(byId, { id })).toBe('args.id');
    expect(restRequestFacts(...byId, { id })).toEqual({});
  });

  it('every built path is its own cleaned form under a prefix', () => {
    for (const id of [...generated, 'a', 'A-Z_0.9~', '...', '.a', 'a'.repeat(256)]) {
      const built = build(byId, { id });
      if (!built.ok) continue;
      const path = built.request.path.slice('/base'.length);
      expect([cleanedPath(path), isUnderAnyPrefix(path, ['/v1/users'])]).toEqual([path, true]);
    }
  });

  it('a value of 256 characters is sent', () =>
    expect(request(byId, { id: 'a'.repeat(256) }).path).toBe(`/base/v1/users/${'a'.repeat(256)}`));

  it('integers and booleans travel as their text', () => {
    const tool = configured({ path: '/v1/users/{n}', args: { n: { in: 'path', type: 'integer' } } });
    expect(request(tool, { n: -42 }).path).toBe('/base/v1/users/-42');
  });

  it('facts name method, whole path and host', () =>
    expect(restRequestFacts(...byId, { id: '42' })).toEqual({
      http: { method: 'GET', path: '/base/v1/users/42', host: 'api.example.com' },
    }));

  it('facts name a port that is not the scheme’s own', () =>
    expect(restRequestFacts(...configured({}, { base_url: 'https://API.example.com:8443' }), {}).http?.host).toBe(
      'api.example.com:8443',
    ));

  it('a preview is the line that will be sent, or why there is none', () => {
    const url = 'https://api.example.com/base/v1/users/42';
    expect(previewOfRestRequest(...byId, { id: '42' })).toEqual({ request: { method: 'GET', url }, fault: null });
    const fault = expect.stringContaining('args.id becomes part of a path') as string;
    expect(previewOfRestRequest(...byId, { id: '..' })).toEqual({ request: null, fault });
  });
});

describe('REST request: where it goes', () => {
  it('follows the config, also where a tool stayed what it was', () => {
    const [config, tool] = byId;
    expect(request(byId, { id: '42' })).toMatchObject({ origin: 'https://api.example.com', path: '/base/v1/users/42' });
    const moved: [RestConfig, RestTool] = [{ ...config, base_url: 'https://api.example.org:8443' }, tool];
    expect(request(moved, { id: '42' })).toMatchObject({
      origin: 'https://api.example.org:8443',
      path: '/v1/users/42',
    });
    expect(restRequestFacts(...moved, { id: '42' })).toMatchObject({ http: { host: 'api.example.org:8443' } });
    expect(request(byId, { id: '42' })).toMatchObject({ origin: 'https://api.example.com', path: '/base/v1/users/42' });
  });
});

describe('REST request: query (rule REST-5)', () => {
  const tool = configured({
    args: {
      q: { in: 'query', type: 'string' },
      ids: { in: 'query', type: 'array' },
      n: { in: 'query', type: 'number' },
    },
  });

  it.each([
    ['a&admin=1', 'q=a%26admin%3D1'],
    ['[]', 'q=%5B%5D'],
    ['__proto__', 'q=__proto__'],
    ['a=b#c?d', 'q=a%3Db%23c%3Fd'],
    ['ü 😀', 'q=%C3%BC%20%F0%9F%98%80'],
    ['\r\nX: 1', 'q=%0D%0AX%3A%201'],
  ])('%j is one value', (q, query) => expect(request(tool, { q }).query).toBe(query));

  it('is in the order of the config', () => expect(request(tool, { n: 2, q: 'x' }).query).toBe('q=x&n=2'));

  it.each<[string, JsonObject]>([
    ['args.q', { q: '\ud800' }],
    ['args.ids', { ids: ['a', '\ud800'] }],
  ])('half a character is a fault: %s', (param, args) => expect(faultParam(tool, args)).toBe(param));
});

describe('REST request: lists in the query', () => {
  const styled = (style?: string, rules: JsonObject = {}) =>
    configured({
      args: {
        a: { in: 'query', type: 'array', ...(style === undefined ? {} : { style }), ...rules },
        q: { in: 'query', type: 'string' },
      },
    });

  it.each<[string | undefined, string]>([
    [undefined, 'a=x&a=y%26q%3D1%2Cz&a=1.5&a=true&q=1'],
    ['form', 'a=x&a=y%26q%3D1%2Cz&a=1.5&a=true&q=1'],
    ['comma', 'a=x,y%26q%3D1%2Cz,1.5,true&q=1'],
    ['pipe', 'a=x%7Cy%26q%3D1%2Cz%7C1.5%7Ctrue&q=1'],
    ['space', 'a=x%20y%26q%3D1%2Cz%201.5%20true&q=1'],
    ['brackets', 'a%5B%5D=x&a%5B%5D=y%26q%3D1%2Cz&a%5B%5D=1.5&a%5B%5D=true&q=1'],
  ])('style %s', (style, query) =>
    expect(request(styled(style), { a: ['x', 'y&q=1,z', 1.5, true], q: '1' }).query).toBe(query),
  );

  it.each(['form', 'comma', 'pipe', 'space', 'brackets'])('%s: an empty list sends no parameter', (style) => {
    expect(request(styled(style), { a: [], q: '1' }).query).toBe('q=1');
    expect(request(styled(style), { a: [] }).query).toBe('');
  });

  it.each(['form', 'comma', 'pipe', 'space', 'brackets'])('%s: a required list is never left out', (style) => {
    const required = styled(style, { required: true });
    expect(faultParam(required, { a: [] })).toBe('args.a');
    expect(request(required, { a: ['x'] }).query).toContain('x');
  });

  it.each(['form', 'comma', 'pipe', 'space', 'brackets'])('%s: elements are no null, list or object', (style) => {
    for (const element of [null, [], ['x'], {}, { x: 1 }]) {
      expect(faultParam(styled(style), { a: ['x', element] })).toBe('args.a');
    }
  });

  it.each([
    ['pipe', 'x|y'],
    ['space', 'x y'],
  ])('%s: an element with what stands between elements builds no request', (style, element) => {
    expect(faultParam(styled(style), { a: ['z', element] })).toBe('args.a');
    expect(restRequestFacts(...styled(style), { a: [element] })).toEqual({});
    for (const other of ['form', 'comma', 'brackets']) expect(faultParam(styled(other), { a: [element] })).toBeNull();
  });

  it('of a config from before styles: lists in form style, objects as their JSON text', () => {
    const [config, tool] = styled();
    const rules = { in: 'query', required: false, sensitive: false } as const;
    const args = { a: { ...rules, type: 'array' }, o: { ...rules, type: 'object' } } as const;
    expect(request([config, { ...tool, args }], { a: ['x', 'y'], o: { b: 1 } }).query).toBe(
      'a=x&a=y&o=%7B%22b%22%3A1%7D',
    );
  });

  it('the input schema says what elements may be', () =>
    expect(inputSchemaOf(styled('comma')[1])).toMatchObject({
      properties: { a: { type: 'array', items: { type: ['string', 'number', 'boolean'] } } },
    }));
});

describe('REST request: headers (rule REST-6)', () => {
  const tool = configured({ args: { tenant: { in: 'header', type: 'string', header: 'X-Tenant' } } });

  it.each(['a\rb', 'a\nb', 'a\r\nX-Admin: 1', 'a\u0000', 'é', 'x'.repeat(1_025), ' a', 'a ', '\ta', '\u{1F600}'])(
    '%j builds no request',
    (tenant) => expect(faultParam(tool, { tenant })).toBe('args.tenant'),
  );

  it('one line of 1,024 bytes is sent', () =>
    expect(request(tool, { tenant: 'x'.repeat(1_024) }).headers).toContainEqual(['X-Tenant', 'x'.repeat(1_024)]));

  it('the action id and the idempotency header carry the action id', () => {
    const writer = configured({ method: 'POST', idempotency_header: 'Idempotency-Key' });
    expect(request(writer, {}).headers).toEqual([
      ['User-Agent', 'Service-Connectors/1.0'],
      ['Accept', 'application/json'],
      ['Service-Action-Id', ACTION],
      ['Idempotency-Key', ACTION],
    ]);
  });

  it('send_action_id false sends none', () =>
    expect(request(configured({}, { send_action_id: false }), {}).headers.map(([name]) => name)).not.toContain(
      'Service-Action-Id',
    ));

  it('goes on with the trace of the call, unless the config says what its traceparent is', () => {
    const traceparents = (headers?: Record<string, string>, trace: string | null = 'of the call') => {
      const built = buildRestRequest(...configured({}, headers && { headers }), {}, ACTION, trace);
      if (!built.ok) throw new Error(built.fault.message);
      return built.request.headers.filter(([name]) => name.toLowerCase() === 'traceparent').map(([, value]) => value);
    };
    expect(traceparents()).toEqual(['of the call']);
    expect(traceparents(undefined, null)).toEqual([]);
    expect(traceparents({ Traceparent: 'of the config' })).toEqual(['of the config']);
  });

  it('configured headers replace Accept and Content-Type', () => {
    const headers = { accept: 'text/csv', 'Content-Type': 'application/vnd.api+json' };
    const writer = configured({ method: 'POST', args: { a: { in: 'body', type: 'string' } } }, { headers });
    const names = request(writer, { a: 'x' }).headers.map(([name]) => name.toLowerCase());
    expect(names.filter((name) => name === 'accept' || name === 'content-type')).toEqual(['accept', 'content-type']);
    expect(request(configured({}, { headers }), {}).headers.map(([name]) => name)).not.toContain('Content-Type');
  });
});

describe('REST request: body', () => {
  const tool = configured({
    method: 'POST',
    args: { b: { in: 'body', type: 'object' }, a: { in: 'body', type: 'integer' } },
  });

  it('is one JSON object in the order of the config', () =>
    expect(request(tool, { a: 1, b: { z: [null, '"'] } }).body).toBe('{"b":{"z":[null,"\\""]},"a":1}'));

  it('keeps __proto__ as a member', () =>
    expect(request(tool, { b: JSON.parse('{"__proto__":{"admin":true}}') as JsonObject }).body).toBe(
      '{"b":{"__proto__":{"admin":true}}}',
    ));

  it('is an empty object when its arguments are left out', () => expect(request(tool, {}).body).toBe('{}'));

  it('is absent when the tool has no body arguments', () =>
    expect(request(configured({ method: 'POST' }), {}).body).toBeNull());
});

describe('REST request: the input schema (rule REST-7)', () => {
  const tool = configured({
    method: 'POST',
    args: {
      s: { in: 'query', type: 'string', max_length: 3, pattern: '^[a-z😀]+$' },
      i: { in: 'query', type: 'integer', min: 1, max: 5 },
      n: { in: 'query', type: 'number' },
      b: { in: 'query', type: 'boolean' },
      e: { in: 'query', type: 'string', enum: ['x', 'y'], required: true },
      o: { in: 'body', type: 'object' },
    },
  });

  it.each<[string, JsonObject]>([
    ['e', {}],
    ['e', { e: 'z' }],
    ['e', { e: null }],
    ['s', { e: 'x', s: 1 }],
    ['s', { e: 'x', s: 'abcd' }],
    ['s', { e: 'x', s: 'A' }],
    ['i', { e: 'x', i: '1' }],
    ['i', { e: 'x', i: 1.5 }],
    ['i', { e: 'x', i: 0 }],
    ['i', { e: 'x', i: 6 }],
    ['i', { e: 'x', i: 2 ** 53 }],
    ['n', { e: 'x', n: '1' }],
    ['b', { e: 'x', b: 'true' }],
    ['o', { e: 'x', o: [] }],
    ['o', { e: 'x', o: null }],
    ['extra', { e: 'x', extra: 1 }],
    ['__proto__', JSON.parse('{"e":"x","__proto__":1}') as JsonObject],
    ['constructor', { e: 'x', constructor: 1 }],
    ['toString', { e: 'x', toString: 'x' }],
  ])('args.%s of %j', (param, args) => {
    expect(faultParam(tool, args)).toBe(`args.${param}`);
    expect(restRequestFacts(...tool, args)).toEqual({});
  });

  it('accepts every limit, counted in characters', () =>
    expect(faultParam(tool, { e: 'y', s: '😀😀😀', i: 5, n: -1e300, b: false, o: {} })).toBeNull());

  it('is generated without additional properties', () =>
    expect(inputSchemaOf(tool[1])).toEqual({
      type: 'object',
      properties: {
        s: { type: 'string', maxLength: 3, pattern: '^[a-z😀]+$' },
        i: { type: 'integer', minimum: 1, maximum: 5 },
        n: { type: 'number' },
        b: { type: 'boolean' },
        e: { type: 'string', enum: ['x', 'y'] },
        o: { type: 'object' },
      },
      required: ['e'],
      additionalProperties: false,
    }));

  it('sensitive values are handed to the redactor', () => {
    const secret = configured({
      args: { pin: { in: 'query', type: 'integer', sensitive: true }, q: { in: 'query', type: 'string' } },
    });
    expect(request(secret, { pin: 4711, q: 'x' }).sensitive).toEqual([4711]);
  });
});
