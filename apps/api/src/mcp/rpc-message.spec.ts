import { describe, expect, it } from 'vitest';
import { RpcFault } from './rpc-fault.js';
import { readClientMessage } from './rpc-message.js';

const read = (text: string) => readClientMessage(Buffer.from(text), 1_000_000);
const refusal = async (text: string) => {
  const error = await read(text).catch((thrown: unknown) => thrown);
  return error instanceof RpcFault ? [error.status, error.code] : error;
};

describe('a message of a client', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', { kind: 'request', id: 1, method: 'ping', params: {} }],
    ['{"jsonrpc":"2.0","id":"a","method":"x","params":{"a":1}}', { kind: 'request', id: 'a', params: { a: 1 } }],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', { kind: 'notice' }],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', { kind: 'notice' }],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}', { kind: 'notice' }],
  ])('%s', async (text, message) => {
    expect(await read(text)).toMatchObject(message);
  });

  it.each([
    ['nothing', '', -32700],
    ['no JSON', '{"jsonrpc":', -32700],
    ['a repeated member', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['a text', '"ping"', -32600],
    ['null', 'null', -32600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['no version', '{"id":1,"method":"ping"}', -32600],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['an id that is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":1}', -32600],
    ['params that are no object', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600],
    ['neither method nor result', '{"jsonrpc":"2.0","id":1}', -32600],
    ['an integer beyond 2^53-1', '{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":9007199254740993}}', -32602],
    [
      'arguments too deep',
      `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`,
      -32602,
    ],
  ])('%s: refused', async (_, text, code) => {
    expect(await refusal(text)).toEqual([400, code]);
  });
});
