import { digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { readMcpConfig } from './mcp-config.reader.js';
import { definedTools, LIST_LIMITS, listDigestOf, mcpToolDigest } from './mcp-tool.js';

const tool = (changes: JsonObject = {}): JsonObject => ({
  name: 'search',
  inputSchema: { type: 'object' },
  ...changes,
});
const only = (entry: JsonValue) => {
  const { tools, leftOut } = definedTools([entry]);
  return tools[0] ?? leftOut[0]?.why;
};
const nested = (depth: number): JsonValue => (depth === 0 ? 1 : { a: nested(depth - 1) });

describe('a tool of a server’s list', () => {
  it('is defined by what an agent is shown of it, and by nothing else', () => {
    const shown = {
      name: 'search',
      title: 'Search',
      description: 'Looks things up.',
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    };
    const { tools } = definedTools([{ ...shown, icons: [{ src: 'https://x' }], _meta: { a: 1 }, execution: {} }]);
    expect(tools).toEqual([
      {
        name: 'search',
        definition: digestOfJson(shown),
        hints: { read_only: true, destructive: true, idempotent: false, open_world: true },
        body: expect.stringContaining('"description":"Looks things up."') as string,
      },
    ]);
  });

  it('means the same with null where it could say nothing', () => {
    expect(only(tool({ title: null, annotations: null }))).toEqual(only(tool()));
  });

  it.each<[why: string, entry: JsonValue]>([
    ['form', 'search'],
    ['form', tool({ inputSchema: null })],
    ['form', tool({ inputSchema: [] })],
    ['form', tool({ title: 1 })],
    ['form', tool({ description: {} })],
    ['form', tool({ outputSchema: true })],
    ['form', tool({ annotations: 'x' })],
    ['name', tool({ name: 1 })],
    ['name', tool({ name: '' })],
    ['name', tool({ name: 'a b' })],
    ['name', tool({ name: 'ѕearch' })],
    ['name', tool({ name: '-x' })],
    ['name', tool({ name: 'a'.repeat(129) })],
    ['too_large', tool({ description: 'a'.repeat(LIST_LIMITS.definitionBytes) })],
    ['too_large', tool({ annotations: { a: nested(63) } })],
    ['header', tool({ inputSchema: { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } } })],
  ])('is left out as %s: %j', (why, entry) => {
    expect(only(entry)).toBe(why);
  });

  it('may have any name that MCP allows', () => {
    for (const name of ['a.b', 'A-1', '_x', '9', 'a'.repeat(128)]) expect(only(tool({ name }))).toMatchObject({ name });
  });

  it('is served once, where its name stands first', () => {
    const { tools, leftOut } = definedTools([tool({ title: 'first' }), tool({ title: 'second' })]);
    expect(tools.map(({ body }) => body)).toEqual([expect.stringContaining('first')]);
    expect(leftOut).toEqual([{ why: 'repeated', count: 1 }]);
  });
});

describe('a server’s list', () => {
  it('is served up to five hundred tools and one mebibyte of definitions', () => {
    const many = definedTools(Array.from({ length: 510 }, (_, index) => tool({ name: `t${index}` })));
    expect([many.tools.length, many.leftOut]).toEqual([500, [{ why: 'too_many', count: 10 }]]);
    const description = 'a'.repeat(60_000);
    const large = definedTools(Array.from({ length: 20 }, (_, index) => tool({ name: `t${index}`, description })));
    expect([large.tools.length, large.leftOut]).toEqual([17, [{ why: 'too_many', count: 3 }]]);
  });

  it('is the same list in another order, and another one by a definition or the protocol', () => {
    const { tools } = definedTools([tool({ name: 'a' }), tool({ name: 'b' })]);
    const digest = listDigestOf('2026-07-28', tools);
    expect(listDigestOf('2026-07-28', [...tools].reverse())).toBe(digest);
    expect(listDigestOf('2025-11-25', tools)).not.toBe(digest);
    const { tools: changed } = definedTools([tool({ name: 'a' }), tool({ name: 'b', title: 'x' })]);
    expect(listDigestOf('2026-07-28', changed)).not.toBe(digest);
  });

  it('a tool’s digest is of its definition, the address and how the credential travels', () => {
    const { tools } = definedTools([tool()]);
    const definition = tools[0]?.definition ?? digestOfJson('');
    const config = readMcpConfig({ url: 'https://a.example/mcp' }, { isProduction: true });
    const digest = mcpToolDigest(config, definition);
    expect(digest).toBe(digestOfJson({ auth: { kind: 'bearer' }, url: 'https://a.example/mcp', definition }));
    expect(mcpToolDigest({ ...config, timeout_ms: 1_000, tools_ttl_ms: 0 }, definition)).toBe(digest);
    expect(mcpToolDigest({ ...config, url: 'https://b.example/mcp' }, definition)).not.toBe(digest);
    expect(mcpToolDigest({ ...config, auth: { kind: 'none' } }, definition)).not.toBe(digest);
  });
});
