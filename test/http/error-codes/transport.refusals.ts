import type { RefusalGroup, Verdict } from './refusal.js';

const NOT_FOUND: Verdict = [404, 'invalid_request_error', 'not_found', null];
const NO_METHOD: Verdict = [405, 'invalid_request_error', 'method_not_allowed', null];
const TOO_LARGE: Verdict = [413, 'invalid_request_error', 'request_too_large', null];
const HEADERS_TOO_LARGE: Verdict = [431, 'invalid_request_error', 'request_too_large', null];
const NOT_JSON_TYPE: Verdict = [415, 'invalid_request_error', 'unsupported_media_type', null];
const invalid = (param: string | null): Verdict => [400, 'invalid_request_error', 'validation_failed', param];

/** The bytes of a request; without `Host` unless the lines have one. */
const bytes = (requestLine: string, lines: readonly string[], body = ''): string =>
  [requestLine, ...lines, '', body].join('\r\n');
const get = (path: string, ...lines: string[]): string => bytes(`GET ${path} HTTP/1.1`, ['Host: localhost', ...lines]);

/** What is judged before anybody asks who is calling (docs/api-conventions.md, The order of the checks). */
export const TRANSPORT: RefusalGroup = {
  title: 'before anybody asks who is calling, the edge',
  refusals: [
    {
      rule: 'a path that no endpoint has',
      verdict: NOT_FOUND,
      provoke: ({ send }) => send('GET', '/v1/nothing'),
    },
    {
      rule: 'a path within two edits of an endpoint, which is suggested',
      verdict: NOT_FOUND,
      message: /Did you mean \/v1\/actions\?$/,
      provoke: ({ send }) => send('POST', '/v1/acton', { json: {} }),
    },
    {
      rule: 'a path that does not decode',
      verdict: NOT_FOUND,
      provoke: ({ send }) => send('GET', '/v1/actions/%zz'),
    },
    {
      rule: 'a path with an empty id',
      verdict: NOT_FOUND,
      provoke: ({ send }) => send('GET', '/v1/policies//versions'),
    },
    {
      rule: 'a method that the path does not have',
      verdict: NO_METHOD,
      headers: { allow: 'GET, HEAD, POST' },
      provoke: ({ send }) => send('DELETE', '/v1/actions'),
    },
    {
      rule: 'OPTIONS, since no route is for pages of another origin',
      verdict: NO_METHOD,
      headers: { allow: 'DELETE, GET, HEAD, PATCH' },
      provoke: ({ send }) => send('OPTIONS', '/v1/connectors/lab'),
    },
    {
      rule: 'what is not HTTP',
      verdict: invalid(null),
      provoke: ({ raw }) => raw('hello\r\n\r\n'),
    },
    {
      rule: 'a request without Host',
      verdict: invalid('Host'),
      provoke: ({ raw }) => raw(bytes('GET /v1/version HTTP/1.1', [])),
    },
    {
      rule: 'a request with two',
      verdict: invalid('Host'),
      provoke: ({ raw }) => raw(get('/v1/version', 'Host: other')),
    },
    {
      rule: 'chunks in HTTP/1.0',
      verdict: invalid('Transfer-Encoding'),
      provoke: ({ raw }) => raw(bytes('POST /v1/actions HTTP/1.0', ['Transfer-Encoding: chunked'])),
    },
    {
      rule: 'more than 16 KiB of headers',
      verdict: HEADERS_TOO_LARGE,
      provoke: ({ raw }) => raw(get('/v1/version', `X-Long: ${'x'.repeat(16_384)}`)),
    },
    {
      rule: 'more than 100 headers',
      verdict: HEADERS_TOO_LARGE,
      provoke: ({ raw }) => raw(get('/v1/version', ...Array.from({ length: 100 }, (_, index) => `X-${index}: x`))),
    },
    {
      rule: 'a body on GET',
      verdict: TOO_LARGE,
      provoke: ({ raw }) => raw(`${get('/v1/version', 'Content-Length: 2')}{}`),
    },
    {
      rule: 'a body on DELETE',
      verdict: TOO_LARGE,
      provoke: ({ admin }) => admin('DELETE', '/v1/connectors/lab', { text: '{}' }),
    },
    {
      rule: 'a body whose declared length is above the endpoint’s limit, before a byte of it is sent',
      verdict: TOO_LARGE,
      provoke: ({ raw }) =>
        raw(
          bytes('POST /v1/actions HTTP/1.1', [
            'Host: localhost',
            'Content-Type: application/json',
            'Content-Length: 1048577',
          ]),
        ),
    },
    {
      rule: 'a body of another type',
      verdict: NOT_JSON_TYPE,
      provoke: ({ send }) => send('POST', '/v1/actions', { text: 'a=b', headers: { 'Content-Type': 'text/plain' } }),
    },
    {
      rule: 'a body without a type',
      verdict: NOT_JSON_TYPE,
      provoke: ({ raw }) => raw(`${bytes('POST /v1/actions HTTP/1.1', ['Host: localhost', 'Content-Length: 2'])}{}`),
    },
    {
      rule: 'a body in another charset',
      verdict: NOT_JSON_TYPE,
      provoke: ({ send }) =>
        send('POST', '/v1/policies', { text: '{}', headers: { 'Content-Type': 'application/json; charset=latin1' } }),
    },
    {
      rule: 'a body that is compressed',
      verdict: NOT_JSON_TYPE,
      provoke: ({ send }) => send('POST', '/v1/actions', { text: '{}', headers: { 'Content-Encoding': 'gzip' } }),
    },
  ],
};

const NOT_JSON: Verdict = [400, 'invalid_request_error', 'invalid_json', null];

/** What only a caller who may call is told. */
export const BODIES_AND_QUERIES: RefusalGroup = {
  title: 'once the caller is known, the edge',
  refusals: [
    {
      rule: 'a body that is no JSON',
      verdict: NOT_JSON,
      provoke: ({ agent }) => agent('POST', '/v1/actions', { text: '{"tool": nothing}' }),
    },
    {
      rule: 'a body that is empty where a field is required',
      verdict: NOT_JSON,
      provoke: ({ agent }) => agent('POST', '/v1/actions'),
    },
    {
      rule: 'a member sent twice',
      verdict: NOT_JSON,
      provoke: ({ agent }) => agent('POST', '/v1/actions', { text: '{"tool":"a.b","tool":"c.d"}' }),
    },
    {
      rule: 'bytes that are not UTF-8',
      verdict: NOT_JSON,
      provoke: ({ agent }) => agent('POST', '/v1/actions', { text: Uint8Array.of(0x22, 0xff, 0x22) }),
    },
    {
      rule: 'a body that is no object',
      verdict: invalid(null),
      provoke: ({ agent }) => agent('POST', '/v1/actions', { json: [] }),
    },
    {
      rule: 'an integer that a double cannot hold',
      verdict: invalid('args'),
      provoke: ({ agent }) => agent('POST', '/v1/actions', { text: '{"tool":"a.b","args":{"n":9007199254740993}}' }),
    },
    {
      rule: 'a body that grows above the endpoint’s limit on its way',
      verdict: TOO_LARGE,
      provoke: ({ service, raw }) => {
        const lines = [
          'Host: localhost',
          `Authorization: Bearer ${service.adminKey}`,
          'Content-Type: application/json',
        ];
        const chunk = `10001\r\n${' '.repeat(0x10001)}\r\n`;
        return raw(
          `${bytes(`POST /v1/policies/pol_${'0'.repeat(26)}/deactivate HTTP/1.1`, [...lines, 'Transfer-Encoding: chunked'])}${chunk}`,
        );
      },
    },
    {
      rule: 'a field that the endpoint does not have',
      verdict: invalid('colour'),
      provoke: ({ agent }) => agent('POST', '/v1/actions', { json: { tool: 'lab.read', colour: 'red' } }),
    },
    {
      rule: 'a required field that is missing, and how many more problems there are',
      verdict: invalid('type'),
      message: /The body has 2 more problems\.$/,
      provoke: ({ admin }) => admin('POST', '/v1/connectors', { json: {} }),
    },
    {
      rule: 'a query parameter that a ledger list does not have',
      verdict: invalid('page'),
      provoke: ({ agent }) => agent('GET', '/v1/actions?page=2'),
    },
    {
      rule: 'an empty limit',
      verdict: invalid('limit'),
      provoke: ({ admin }) => admin('GET', '/v1/policies?limit='),
    },
    {
      rule: 'a cursor that the service did not issue',
      verdict: invalid('cursor'),
      provoke: ({ agent }) => agent('GET', '/v1/deeds?cursor=AAAA'),
    },
    {
      rule: 'a parameter sent twice',
      verdict: invalid('wait'),
      provoke: ({ agent }) => agent('GET', `/v1/actions/act_${'0'.repeat(26)}?wait=1&wait=1`),
    },
    {
      rule: 'a verdict that there is not',
      verdict: invalid('verdict'),
      provoke: ({ agent }) => agent('GET', '/v1/actions?verdict=GOOD'),
    },
    {
      rule: 'a malformed Service-On-Behalf-Of',
      verdict: [422, 'invalid_request_error', 'validation_failed', 'Service-On-Behalf-Of'],
      provoke: ({ agent }) => agent('GET', '/v1/actions', { headers: { 'Service-On-Behalf-Of': 'Ada Lovelace' } }),
    },
    {
      rule: 'a Service-Session that is too long',
      verdict: [422, 'invalid_request_error', 'validation_failed', 'Service-Session'],
      provoke: ({ admin }) => admin('GET', '/v1/policies', { headers: { 'Service-Session': 'x'.repeat(257) } }),
    },
    ...['2026-10-02', 'latest', ''].map((version) => ({
      rule: `Service-Version: ${JSON.stringify(version)}`,
      verdict: [400, 'invalid_request_error', 'api_version_invalid', 'Service-Version'] as Verdict,
      provoke: ({ send }: Parameters<RefusalGroup['refusals'][number]['provoke']>[0]) =>
        send('GET', '/v1/version', { headers: { 'Service-Version': version } }),
    })),
    {
      rule: 'a Service-Version that is sent twice',
      verdict: [400, 'invalid_request_error', 'api_version_invalid', 'Service-Version'],
      provoke: ({ raw }) => raw(get('/v1/version', 'Service-Version: 2026-10-01', 'Service-Version: 2026-10-01')),
    },
  ],
};
