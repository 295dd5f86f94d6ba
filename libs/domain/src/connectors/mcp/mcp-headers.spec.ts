import type { JsonObject } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { headerValueOf, mirroredHeadersOf, mirroredValues } from './mcp-headers.js';

const schema = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...rest });
const marked = (name: string, type = 'string'): JsonObject => ({ type, 'x-mcp-header': name });

describe('arguments that travel in headers, too', () => {
  it('are those that a chain of properties reaches', () => {
    const inputSchema = schema({
      region: marked('Region'),
      deep: schema({ count: marked('Count', 'integer'), on: marked('On', 'boolean') }),
      // A property that has the annotation's own name.
      'x-mcp-header': { type: 'string' },
    });
    const headers = mirroredHeadersOf(inputSchema);
    expect(headers).toEqual([
      { header: 'Mcp-Param-Region', path: ['region'] },
      { header: 'Mcp-Param-Count', path: ['deep', 'count'] },
      { header: 'Mcp-Param-On', path: ['deep', 'on'] },
    ]);
    expect(mirroredValues(headers ?? [], { region: 'eu', deep: { count: -7, on: false } })).toEqual([
      ['Mcp-Param-Region', 'eu'],
      ['Mcp-Param-Count', '-7'],
      ['Mcp-Param-On', 'false'],
    ]);
    expect(mirroredValues(headers ?? [], { region: null, deep: [] })).toEqual([]);
  });

  it.each<[why: string, inputSchema: JsonObject]>([
    ['no text', schema({ a: { type: 'string', 'x-mcp-header': 1 } })],
    ['an empty name', schema({ a: marked('') })],
    ['a name that is no token', schema({ a: marked('A B') })],
    ['a line break in the name', schema({ a: marked('A\r\nX: y') })],
    ['the same name twice', schema({ a: marked('Name'), b: marked('name') })],
    ['a number', schema({ a: marked('A', 'number') })],
    ['no type', schema({ a: { 'x-mcp-header': 'A' } })],
    ['at the root', schema({}, { 'x-mcp-header': 'A' })],
    ['in items', schema({ a: { type: 'array', items: marked('A') } })],
    ['in a branch', schema({}, { oneOf: [schema({ a: marked('A') })] })],
    ['in a definition', schema({}, { $defs: { a: marked('A') } })],
  ])('a tool is not served with an annotation that is or has %s', (_, inputSchema) => {
    expect(mirroredHeadersOf(inputSchema)).toBeNull();
  });

  it.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['', '=?base64??='],
  ])('%j is written as MCP has it', (value, written) => {
    expect(headerValueOf(value)).toBe(written);
  });
});
