import { describe, expect, it } from 'vitest';

import type { JsonObject, JsonValue } from '#libs/crypto';

import { config, paramOf, read, refusal, tool, withTool } from './testing/given-rest-config.js';

const withArg = (arg: JsonObject, changes: JsonObject = {}): JsonObject => withTool({ args: { x: arg }, ...changes });

describe('REST config: defaults', () => {
  it('are filled in and nothing else is added', () =>
    expect(read(config({ tools: [tool({ args: { q: { in: 'query', type: 'string' } } })] }))).toEqual({
      base_url: 'https://api.example.com',
      auth: { kind: 'none' },
      allowed_methods: ['GET', 'POST', 'DELETE'],
      allowed_path_prefixes: ['/v1'],
      timeout_ms: 10_000,
      max_response_bytes: 4_194_304,
      redirects: 'none',
      send_action_id: true,
      tools: [
        {
          name: 'get_user',
          method: 'GET',
          path: '/v1/users',
          side_effect: 'read',
          idempotent: true,
          args: { q: { in: 'query', type: 'string', required: false, sensitive: false } },
        },
      ],
    }));

  it.each([
    ['GET', 'read', true],
    ['HEAD', 'read', true],
    ['POST', 'write', false],
    ['PUT', 'write', false],
    ['PATCH', 'write', false],
    ['DELETE', 'destructive', false],
  ])('a %s tool is %s', (method, sideEffect, isIdempotent) => {
    const read1 = read(config({ allowed_methods: [method], tools: [tool({ method })] }));
    expect(read1.tools[0]).toMatchObject({ side_effect: sideEffect, idempotent: isIdempotent });
  });

  it('auth names its header and parameter', () => {
    expect(read(config({ auth: { kind: 'header' } })).auth).toEqual({ kind: 'header', header: 'X-API-Key' });
    expect(read(config({ auth: { kind: 'query' } })).auth).toEqual({ kind: 'query', param: 'api_key' });
    expect(read(config({ auth: { kind: 'header', header: 'Authorization' } })).auth.header).toBe('Authorization');
  });

  it('are what is stored and hashed: reading a stored config again changes nothing', () => {
    const once = read(config({ auth: { kind: 'query' }, headers: { Accept: 'text/csv' } }));
    expect(read(once as unknown as JsonObject)).toEqual(once);
  });
});

describe('REST config: base_url (rule REST-2)', () => {
  it.each([
    'http://api.example.com',
    'ftp://api.example.com',
    'file:///etc/passwd',
    'data:text/plain,x',
    'gopher://api.example.com',
    'ws://api.example.com',
    'https:api.example.com',
    'https://',
    'https://user@api.example.com',
    'https://user:pass@api.example.com',
    'https://api.example.com?x=1',
    'https://api.example.com/#f',
    'https://good\\@evil.example',
    'https://good#@evil.example',
    'https://api.example.com\n',
    '\thttps://api.example.com',
    ' https://api.example.com',
    'https://api.example.com:65536',
    'https://api.example.com/../x',
    'https://api.example.com/a//b',
    'https://api.example.com/%2e%2e/x',
    'https://api.example.com/ü',
    'https://[::1',
    `https://${'a'.repeat(2_050)}.example`,
    `https://${'a'.repeat(64)}.example`,
    'https://api..example.com',
    42,
    null,
  ])('%j is refused', (baseUrl) => expect(paramOf(config({ base_url: baseUrl }))).toBe('config.base_url'));

  it.each([
    ['https://api.example.com/v1?tenant=4', 'must have no query: nothing from "?" on.'],
    ['https://api.example.com?tenant=4', 'must have no query: nothing from "?" on.'],
    ['https://api.example.com/v1#users', 'must have no fragment: nothing from "#" on.'],
    ['https://me:s3cret@api.example.com', 'must have no user or password; store credentials'],
    ['http://api.example.com', 'must begin with https://.'],
    ['https://api.example.com:65536', 'must be a whole URL: a host, with a port'],
    ['https://api.example.com/a//b', 'has a path that must not hold empty, "." or ".." segments.'],
  ])('%s: the message says why, and repeats no value', (baseUrl, why) => {
    const { message } = refusal(config({ base_url: baseUrl }));
    expect(message).toContain(`config.base_url ${why}`);
    expect(message).not.toMatch(/tenant|s3cret/);
  });

  it('is required', () => {
    const rest = Object.fromEntries(Object.entries(config()).filter(([key]) => key !== 'base_url'));
    expect(paramOf(rest)).toBe('config.base_url');
  });

  it('may be http outside production', () =>
    expect(read(config({ base_url: 'http://127.0.0.1:8080/api/' }), false).base_url).toBe(
      'http://127.0.0.1:8080/api/',
    ));

  it.each(['https://api.example.com:8443', 'https://api.example.com/base/v2', 'https://[2606:4700::1111]/'])(
    '%s is accepted as written',
    (baseUrl) => expect(read(config({ base_url: baseUrl })).base_url).toBe(baseUrl),
  );
});

describe('REST config: keys, limits and cross-rules', () => {
  const headersOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-H${i}`, 'v']));
  const toolsOf = (count: number) => Array.from({ length: count }, (_, i) => tool({ name: `t${i}` }));
  const argsOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, { in: 'query', type: 'string' }]));

  it.each<[string, JsonValue]>([
    ['config', []],
    ['config', 'text'],
    ['config', config({ tools: [tool({ description: 'é'.repeat(1_000), postcondition: 'x'.repeat(70_000) })] })],
    ['config.unknown', config({ unknown: 1 })],
    ['config.tools[0].description', config({ tools: [tool({ description: 'Reads\u001b[2J' })] })],
    ['config.auth', config({ auth: 'bearer' })],
    ['config.auth.kind', config({ auth: { kind: 'oauth' } })],
    ['config.auth.token', config({ auth: { kind: 'bearer', token: 'x' } })],
    ['config.auth.header', config({ auth: { kind: 'bearer', header: 'X-Key' } })],
    ['config.auth.header', config({ auth: { kind: 'header', header: 'Host' } })],
    ['config.auth.header', config({ auth: { kind: 'header', header: 'X Key' } })],
    ['config.auth.param', config({ auth: { kind: 'header', param: 'key' } })],
    ['config.auth.param', config({ auth: { kind: 'query', param: 'a&b' } })],
    ['config.allowed_methods', config({ allowed_methods: [] })],
    ['config.allowed_methods', config({ allowed_methods: 'GET' })],
    ['config.allowed_methods[1]', config({ allowed_methods: ['GET', 'TRACE'] })],
    ['config.allowed_methods[1]', config({ allowed_methods: ['GET', 'GET'] })],
    ['config.allowed_path_prefixes', config({ allowed_path_prefixes: [] })],
    ['config.allowed_path_prefixes[0]', config({ allowed_path_prefixes: ['v1'] })],
    ['config.allowed_path_prefixes[0]', config({ allowed_path_prefixes: ['/v1/../x'] })],
    ['config.allowed_path_prefixes[0]', config({ allowed_path_prefixes: ['/v1/%2e'] })],
    ['config.timeout_ms', config({ timeout_ms: 99 })],
    ['config.timeout_ms', config({ timeout_ms: 60_001 })],
    ['config.timeout_ms', config({ timeout_ms: 1_000.5 })],
    ['config.timeout_ms', config({ timeout_ms: null })],
    ['config.max_response_bytes', config({ max_response_bytes: 1_023 })],
    ['config.max_response_bytes', config({ max_response_bytes: 16_777_217 })],
    ['config.redirects', config({ redirects: 'all' })],
    ['config.send_action_id', config({ send_action_id: 'yes' })],
    ['config.headers', config({ headers: headersOf(17) })],
    ['config.headers.X-A', config({ headers: { 'X-A': 'a\r\nb: c' } })],
    ['config.headers.X-A', config({ headers: { 'X-A': ' leading' } })],
    ['config.headers.X-A', config({ headers: { 'X-A': 'é' } })],
    ['config.headers.X-A', config({ headers: { 'X-A': 'x'.repeat(1_025) } })],
    ['config.headers.X-A', config({ headers: { 'X-A': 5 } })],
    ['config.headers.x-a', config({ headers: { 'X-A': '1', 'x-a': '2' } })],
    ['config.headers.X-Key', config({ auth: { kind: 'header', header: 'x-key' }, headers: { 'X-Key': '1' } })],
    ['config.test.method', config({ test: { method: 'POST', path: '/v1' } })],
    ['config.test.path', config({ test: { path: '/v2' } })],
    ['config.test.path', config({ test: {} })],
    ['config.tools', config({ tools: [] })],
    ['config.tools', config({ tools: toolsOf(65) })],
    ['config.tools[0]', config({ tools: ['get'] })],
    ['config.tools[1].name', config({ tools: [tool(), tool()] })],
    ['config.tools[0].name', withTool({ name: 'Get' })],
    ['config.tools[0].name', withTool({ name: 'gеt' })],
    ['config.tools[0].unknown', withTool({ unknown: true })],
    ['config.tools[0].description', withTool({ description: 'x'.repeat(1_025) })],
    ['config.tools[0].method', withTool({ method: 'PUT' })],
    ['config.tools[0].path', withTool({ path: '/v10/users' })],
    ['config.tools[0].side_effect', withTool({ method: 'DELETE', side_effect: 'read' })],
    ['config.tools[0].side_effect', withTool({ method: 'POST', side_effect: 'read' })],
    ['config.tools[0].side_effect', withTool({ side_effect: 'unknown' })],
    ['config.tools[0].idempotent', withTool({ idempotent: 1 })],
    ['config.tools[0].idempotency_header', withTool({ idempotency_header: 'Host' })],
    ['config.tools[0].args', withTool({ args: [] })],
    ['config.tools[0].args', withTool({ args: argsOf(33) })],
  ])('%s', (param, value) => expect(paramOf(value)).toBe(param));

  it('accepts every limit itself', () =>
    expect(
      read(
        config({
          timeout_ms: 60_000,
          max_response_bytes: 16_777_216,
          headers: { ...headersOf(15), 'X-Long': 'x'.repeat(1_024) },
          tools: [
            ...toolsOf(63),
            tool({ name: `a${'b'.repeat(63)}`, description: '😀'.repeat(1_024), args: argsOf(32) }),
          ],
        }),
      ).tools,
    ).toHaveLength(64));

  it('names the first problem and counts the others', () =>
    expect(
      refusal({ timeout_ms: 1, ...config({ redirects: 'x', tools: [tool({ path: '/nowhere' })] }) }),
    ).toMatchObject({
      param: 'config.timeout_ms',
      message: 'config.timeout_ms must be an integer from 100 to 60000. The config has 2 more problems.',
    }));

  it('may raise a side effect', () =>
    expect(read(withTool({ side_effect: 'destructive' })).tools[0]?.side_effect).toBe('destructive'));
});

describe('REST config: refused header names (rule REST-3)', () => {
  const names = [
    'Authorization',
    'Cookie',
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'User-Agent',
    'Proxy-Authorization',
    'Proxy-Connection',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'Service-Intent',
    'Service-Action-Id',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Accept-Encoding',
    'X-HTTP-Method-Override',
    'X-Original-URL',
  ];
  const spellings = names.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()]);

  it.each([...spellings, 'X Space', 'X-Colon:', 'X-Ünicode', '', ' Host', 'Host ', 'X-A\r\nHost'])('%j', (name) =>
    expect(paramOf(config({ headers: { [name]: 'v' } }))).toBe(`config.headers.${name}`),
  );
});

describe('REST config: path templates (rule REST-4)', () => {
  const id = { id: { in: 'path', type: 'string' } };

  it.each<[string, JsonObject]>([
    ['a partial placeholder', { path: '/v1/users-{id}', args: id }],
    ['a placeholder twice', { path: '/v1/{id}/{id}', args: id }],
    ['a placeholder without argument', { path: '/v1/{id}' }],
    ['an argument without placeholder', { path: '/v1/users', args: id }],
    ['an argument that is elsewhere', { path: '/v1/{id}', args: { id: { in: 'query', type: 'string' } } }],
    ['an empty placeholder', { path: '/v1/{}', args: id }],
    ['nested braces', { path: '/v1/{{id}}', args: id }],
    ['a dot segment', { path: '/v1/./users' }],
    ['a way up', { path: '/v1/../admin' }],
    ['an encoded way up', { path: '/v1/%2e%2e/admin' }],
    ['a query', { path: '/v1/users?x=1' }],
    ['a fragment', { path: '/v1/users#x' }],
    ['a backslash', { path: '/v1\\users' }],
    ['no slash', { path: 'v1/users' }],
    ['another prefix that begins alike', { path: '/v1-admin/users' }],
    ['a placeholder in place of the prefix', { path: '/{id}/users', args: id }],
  ])('%s', (_, changes) => expect(paramOf(withTool(changes))).toBe('config.tools[0].path'));

  it.each(['/v1', '/v1/', '/v1/users/', '/v1/users/{id}', '/v1/{id}/posts'])('%s is accepted', (path) =>
    expect(read(withTool({ path, args: path.includes('{') ? id : {} })).tools[0]?.path).toBe(path),
  );
});

describe('REST config: arguments', () => {
  it.each<[string, JsonObject, JsonObject?]>([
    ['in', { type: 'string' }],
    ['in', { in: 'cookie', type: 'string' }],
    ['type', { in: 'query' }],
    ['type', { in: 'query', type: 'date' }],
    ['type', { in: 'path', type: 'object' }, { path: '/v1/{x}' }],
    ['type', { in: 'header', type: 'array', header: 'X-A' }],
    ['type', { in: 'query', type: 'object' }],
    ['style', { in: 'query', type: 'array', style: 'deepObject' }],
    ['style', { in: 'query', type: 'array', style: 1 }],
    ['style', { in: 'query', type: 'string', style: 'form' }],
    ['style', { in: 'header', type: 'string', header: 'X-A', style: 'comma' }],
    ['style', { in: 'path', type: 'string', style: 'form' }, { path: '/v1/{x}' }],
    ['style', { in: 'body', type: 'array', style: 'form' }, { method: 'POST' }],
    ['enum[1]', { in: 'query', type: 'array', enum: [['a'], [null]] }],
    ['enum[0]', { in: 'query', type: 'array', enum: [[['a']]] }],
    ['enum[0]', { in: 'query', type: 'array', style: 'pipe', enum: [['a|b']] }],
    ['unknown', { in: 'query', type: 'string', unknown: 1 }],
    ['required', { in: 'query', type: 'string', required: 'yes' }],
    ['required', { in: 'path', type: 'string', required: false }, { path: '/v1/{x}' }],
    ['sensitive', { in: 'query', type: 'string', sensitive: 1 }],
    ['header', { in: 'query', type: 'string', header: 'X-A' }],
    ['header', { in: 'header', type: 'string' }],
    ['header', { in: 'header', type: 'string', header: 'Accept' }],
    ['header', { in: 'header', type: 'string', header: 'X-Forwarded-For' }],
    ['header', { in: 'header', type: 'string', header: `X-${'a'.repeat(65)}` }],
    ['header', { in: 'header', type: 'string', header: 'X-Key' }, { idempotency_header: 'x-key' }],
    ['pattern', { in: 'query', type: 'integer', pattern: 'a' }],
    ['pattern', { in: 'query', type: 'string', pattern: '(' }],
    ['pattern', { in: 'query', type: 'string', pattern: '(?=a)' }],
    ['pattern', { in: 'query', type: 'string', pattern: '(a)\\1' }],
    ['max_length', { in: 'query', type: 'string', max_length: 0 }],
    ['max_length', { in: 'query', type: 'array', max_length: 5 }],
    ['min', { in: 'query', type: 'string', min: 1 }],
    ['min', { in: 'query', type: 'integer', min: 1.5 }],
    ['max', { in: 'query', type: 'integer', min: 5, max: 4 }],
    ['enum', { in: 'query', type: 'string', enum: [] }],
    ['enum[1]', { in: 'query', type: 'string', enum: ['a', 1] }],
    ['in', { in: 'body', type: 'string' }],
  ])('%s of %j', (key, arg, changes = {}) =>
    expect(paramOf(withArg(arg, changes))).toBe(`config.tools[0].args.x.${key}`),
  );

  it('an object in the query: the message says what to do', () =>
    expect(refusal(withArg({ in: 'query', type: 'object' })).message).toContain(
      'give each member an argument of its own, named as the API names it, such as filter[status].',
    ));

  it.each(['form', 'comma', 'pipe', 'space', 'brackets', undefined])('the style %s of a list is kept', (style) => {
    const arg = { in: 'query', type: 'array', ...(style === undefined ? {} : { style }) };
    expect(read(withArg(arg)).tools[0]?.args['x']?.style).toBe(style ?? 'form');
  });

  it.each(['1a', 'a b', '__proto__', '', '[a]', 'a'.repeat(65), 'ä'])('the name %j is refused', (name) => {
    const args = JSON.parse(`{${JSON.stringify(name)}: {"in":"query","type":"string"}}`) as JsonObject;
    expect(paramOf(withTool({ args }))).toBe(`config.tools[0].args.${name}`);
  });

  it.each(['page[size]', '$filter', 'created.gte', '_id', 'constructor'])('the name %s is accepted', (name) =>
    expect(
      Object.keys(read(withTool({ args: { [name]: { in: 'query', type: 'string' } } })).tools[0]?.args ?? {}),
    ).toEqual([name]),
  );

  it('a query argument may not take the credential’s place', () =>
    expect(
      paramOf({
        ...withTool({ args: { key: { in: 'query', type: 'string' } } }),
        auth: { kind: 'query', param: 'key' },
      }),
    ).toBe('config.tools[0].args.key'));
});

describe('REST config: amounts of money', () => {
  const charged = (money: JsonValue, others: JsonObject = {}): JsonObject =>
    withTool({ method: 'POST', args: { amount: { in: 'body', type: 'integer', money }, ...others } });
  const currency = { in: 'body', type: 'string' };

  it.each([
    [{ currency: 'eur' }, {}],
    [{ currency_arg: 'currency' }, { currency }],
  ])('%j is kept', (money, others) =>
    expect(read(charged(money, others)).tools[0]?.args['amount']?.money).toEqual(money),
  );

  it.each<[string, JsonValue, JsonObject?]>([
    ['money', 'eur'],
    ['money', {}],
    ['money', { currency: 'eur', currency_arg: 'currency' }, { currency }],
    ['money.currency', { currency: 'EUR' }],
    ['money.currency', { currency: 'euro' }],
    ['money.currency', { currency: 978 }],
    ['money.unit', { currency: 'eur', unit: 'cent' }],
    ['money.currency_arg', { currency_arg: 'currency' }],
    ['money.currency_arg', { currency_arg: 'toString' }],
    ['money.currency_arg', { currency_arg: 1 }],
    ['money.currency_arg', { currency_arg: 'amount' }],
    ['money.currency_arg', { currency_arg: 'currency' }, { currency: { in: 'body', type: 'integer' } }],
  ])('%s of %j is refused', (key, money, others = {}) =>
    expect(paramOf(charged(money, others))).toBe(`config.tools[0].args.amount.${key}`),
  );

  it.each(['string', 'number', 'boolean', 'array'])('a %s is no amount', (type) => {
    const x = { in: 'body', type, money: { currency: 'eur' } };
    expect(paramOf(withTool({ method: 'POST', args: { x } }))).toBe('config.tools[0].args.x.money');
  });
});

describe('REST config: the title of a tool', () => {
  it.each(['refund a customer', 'PATCH a record', 'e-mail a customer'])('%s is kept', (title) =>
    expect(read(withTool({ title })).tools[0]?.title).toBe(title),
  );

  it.each([
    '',
    ' refund',
    'refund ',
    'a\nb',
    'a\u202eb',
    'Refund a customer',
    'to refund',
    'refund.',
    'a'.repeat(81),
    1,
  ])('%j is refused, since it would not read after "wants to"', (title) =>
    expect(paramOf(withTool({ title }))).toBe('config.tools[0].title'),
  );
});
