import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_TOOL_BYTES } from '#libs/crypto';
import { keptToolName, parseToolName } from './tool-name.js';

describe('a qualified tool name', () => {
  it('is split at the first dot', () => {
    expect(parseToolName('crm.get_customer')).toEqual({ connector: 'crm', tool: 'get_customer' });
    expect(parseToolName('mcp-files.fs.read')).toEqual({ connector: 'mcp-files', tool: 'fs.read' });
  });

  it.each([
    ['no dot', 'crm'],
    ['an empty tool', 'crm.'],
    ['an empty connector', '.get'],
    ['a connector of one character', 'c.get'],
    ['an upper-case connector', 'Crm.get'],
    ['a Cyrillic look-alike', 'сrm.get'],
    ['a zero-width joiner', 'crm.get\u200d'],
    ['a tool that begins with a dot', 'crm..get'],
    ['a tool that begins with a dash', 'crm.-get'],
    ['U+0000', 'crm.get\0'],
    ['a line feed at the end', 'crm.get\n'],
    ['33 characters of connector', `${'a'.repeat(33)}.get`],
    ['129 characters of tool', `crm.${'a'.repeat(129)}`],
    ['201 bytes', `crm.${'a'.repeat(197)}`],
  ])('is none with %s', (_title, text) => expect(parseToolName(text)).toBeNull());

  it('of 200 bytes is refused only for its long tool part, but kept whole', () => {
    const text = `crm.${'a'.repeat(196)}`;
    expect(keptToolName(text)).toEqual({ tool: text, tool_truncated: false });
  });

  it('is kept up to 200 bytes, cut between characters', () => {
    expect(keptToolName('é'.repeat(101))).toEqual({ tool: 'é'.repeat(100), tool_truncated: true });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const { tool, tool_truncated: isTruncated } = keptToolName(text);
        expect(Buffer.byteLength(tool)).toBeLessThanOrEqual(MAX_TOOL_BYTES);
        expect(text.startsWith(tool)).toBe(true);
        expect(isTruncated).toBe(tool !== text);
      }),
    );
  });
});
