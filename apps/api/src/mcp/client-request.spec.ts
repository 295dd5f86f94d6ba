import { describe, expect, it } from 'vitest';
import { clientRequest, type ClientRequest } from './client-request.js';
import { RpcFault } from './rpc-fault.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const HEADERS = { 'mcp-protocol-version': ['2026-07-28'], 'mcp-method': ['tools/call'], 'mcp-name': ['get'] };

const read = (
  method: string,
  params: object,
  headers: Readonly<Record<string, readonly string[]>> = {},
): ClientRequest =>
  clientRequest({ id: 1, method, params: params as never }, (name) => headers[name.toLowerCase()] ?? []);
const refusal = (method: string, params: object, headers: Readonly<Record<string, readonly string[]>> = {}) => {
  try {
    read(method, params, headers);
    return null;
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    return { status: error.status, code: error.code, data: error.data };
  }
};
const call = (changes: object = {}, headers: Readonly<Record<string, readonly string[]>> = HEADERS) =>
  refusal('tools/call', { name: 'get', _meta: META, ...changes }, headers);

describe('the revision of a request', () => {
  it('is that without a handshake where the body names one', () => {
    expect(read('tools/call', { name: 'get', _meta: META }, HEADERS)).toMatchObject({
      isModern: true,
      hasTasks: false,
    });
  });

  it.each([[[]], [['2025-03-26']], [['2025-06-18']], [['2025-11-25']]])(
    'is one of a handshake with the header %j',
    (sent) => {
      expect(read('tools/call', { name: 'get' }, { 'mcp-protocol-version': sent })).toMatchObject({ isModern: false });
    },
  );

  it('that is not served is told with those that are', () => {
    const supported = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];
    const unknown = { status: 400, code: -32022, data: { supported, requested: '1900-01-01' } };
    expect(refusal('tools/list', {}, { 'mcp-protocol-version': ['1900-01-01'] })).toEqual(unknown);
    const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': '1900-01-01' };
    expect(call({ _meta: meta }, { ...HEADERS, 'mcp-protocol-version': ['1900-01-01'] })).toEqual(unknown);
  });

  it('asks nothing of the header of `initialize`: there is no revision yet', () => {
    expect(read('initialize', {}, { 'mcp-protocol-version': ['1900-01-01'] })).toMatchObject({ isModern: false });
  });
});

describe('a method that there is not', () => {
  it.each(['prompts/list', 'resources/read', 'logging/setLevel', 'x'])(
    '%s: 200 to clients of a handshake',
    (method) => {
      expect(refusal(method, {})).toMatchObject({ status: 200, code: -32601 });
    },
  );

  it('404 to all others, whatever their headers say', () => {
    expect(refusal('prompts/list', { _meta: META })).toMatchObject({ status: 404, code: -32601 });
    expect(refusal('initialize', { _meta: META })).toMatchObject({ status: 404, code: -32601 });
  });

  it('is one of tasks where the client does not declare them', () => {
    const headers = { 'mcp-protocol-version': ['2026-07-28'], 'mcp-method': ['tasks/get'] };
    expect(refusal('tasks/get', { taskId: 'a', _meta: META }, headers)).toMatchObject({ status: 400, code: -32021 });
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
    expect(read('tasks/get', { taskId: 'a', _meta: meta }, headers)).toMatchObject({ hasTasks: true });
  });
});

describe('what a request of 2026-07-28 must say', () => {
  it.each([
    ['no version', { 'io.modelcontextprotocol/clientCapabilities': {} }],
    ['a version that is no string', { ...META, 'io.modelcontextprotocol/protocolVersion': 1 }],
    ['no capabilities', { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }],
    ['capabilities that are no object', { ...META, 'io.modelcontextprotocol/clientCapabilities': [] }],
  ])('%s: -32602', (_, meta) => {
    expect(call({ _meta: meta })).toMatchObject({ status: 400, code: -32602 });
  });

  it.each([
    ['no version header', { 'mcp-protocol-version': [] }],
    ['another version', { 'mcp-protocol-version': ['2025-11-25'] }],
    ['no method header', { 'mcp-method': [] }],
    ['another method', { 'mcp-method': ['tools/list'] }],
    ['a method twice', { 'mcp-method': ['tools/call', 'tools/call'] }],
    ['no name header', { 'mcp-name': [] }],
    ['another name', { 'mcp-name': ['Get'] }],
    ['another name in Base64', { 'mcp-name': [`=?base64?${Buffer.from('put').toString('base64')}?=`] }],
  ])('%s: -32020', (_, headers) => {
    expect(call({}, { ...HEADERS, ...headers })).toMatchObject({ status: 400, code: -32020 });
  });

  it('is taken where the name is in Base64', () => {
    const sent = [`=?base64?${Buffer.from('größe').toString('base64')}?=`];
    expect(call({ name: 'größe' }, { ...HEADERS, 'mcp-name': sent })).toBeNull();
  });
});

describe('the name of a task in a header', () => {
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const params = { taskId: 'a', _meta: { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities } };
  const sent = (method: string, name: readonly string[]) => ({
    'mcp-protocol-version': ['2026-07-28'],
    'mcp-method': [method],
    'mcp-name': name,
  });

  it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])('is its id, with %s: -32020 for another', (method) => {
    expect(refusal(method, params, sent(method, ['b']))).toMatchObject({ status: 400, code: -32020 });
    expect(refusal(method, params, sent(method, ['a', 'a']))).toMatchObject({ status: 400, code: -32020 });
    expect(refusal(method, params, sent(method, ['a']))).toBeNull();
  });

  it('may be missing', () => {
    expect(refusal('tasks/get', params, sent('tasks/get', []))).toBeNull();
  });
});

describe('a progress token', () => {
  it.each([['a'], [7], [0]])('%j is one', (progressToken) => {
    expect(read('tools/call', { _meta: { progressToken } })).toMatchObject({ progressToken });
  });

  it.each([[null], [1.5], [{}], [true]])('%j is none', (progressToken) => {
    expect(read('tools/call', { _meta: { progressToken } })).toMatchObject({ progressToken: null });
  });
});
