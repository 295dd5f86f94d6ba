import { describe, expect, it } from 'vitest';

import { canonicalize, digestOf, type JsonObject, type JsonValue } from '#libs/crypto';

import { RESULT_MAX_BYTES } from '../http-result.js';
import { Redactor } from '../redactor.js';
import { recordedRpcError, recordedToolResult, type ToolAnswer } from './mcp-result.js';

const SECRET = 'canary-token-0123456789';
const redactor = new Redactor([SECRET], []);
const text = (said: string): JsonObject => ({ type: 'text', text: said });
const image = (bytes: number): JsonObject => ({
  type: 'image',
  mimeType: 'image/png',
  data: Buffer.alloc(bytes, bytes % 251).toString('base64'),
});
const kept = async (result: JsonObject, changes: Partial<ToolAnswer> = {}): Promise<JsonObject> => {
  const answer = { result, hasLargeIntegers: false, hasOutputSchema: false, ...changes };
  const recorded = (await recordedToolResult(answer, redactor)) ?? '';
  expect(Buffer.byteLength(recorded)).toBeLessThanOrEqual(RESULT_MAX_BYTES);
  return JSON.parse(recorded) as JsonObject;
};
const MIB = 1_048_576;

describe('what is kept of a tool’s result', () => {
  it('is its content, its structured form and whether it is an error, and nothing else', async () => {
    const result = { content: [text('a')], structuredContent: { a: [1] }, isError: true };
    expect(await kept({ ...result, _meta: { a: 1 }, resultType: 'complete', other: 1 })).toEqual(result);
    expect(await kept({ content: [text('a')], isError: false })).toEqual({ content: [text('a')] });
    expect(await kept({ structuredContent: { a: 1 } })).toEqual({ content: [], structuredContent: { a: 1 } });
  });

  it('has no secret in it, however deep', async () => {
    const result = { content: [text(`x ${SECRET}`)], structuredContent: { [SECRET]: [{ a: SECRET }] } };
    expect(JSON.stringify(await kept(result))).not.toContain(SECRET);
  });

  it.each<[what: string, result: JsonObject]>([
    ['content that is no list', { content: 'a' }],
    ['an item that is no object', { content: ['a'] }],
  ])('is nothing where it has %s', async (_, result) => {
    const answer = { result, hasLargeIntegers: false, hasOutputSchema: false };
    expect(await recordedToolResult(answer, redactor)).toBeNull();
  });

  it('is an error where the structured form that a schema promises is lost', async () => {
    const result = { content: [text('a')], structuredContent: { a: 9_007_199_254_740_992 } };
    expect(await kept(result, { hasLargeIntegers: true })).toEqual({ content: [text('a')] });
    expect(await kept(result, { hasLargeIntegers: true, hasOutputSchema: true })).toEqual({
      content: [text('a')],
      isError: true,
    });
  });
});

describe('a result above one mebibyte', () => {
  it('has its largest pictures, sounds and blobs by their digests, and the others as they are', async () => {
    const [large, small] = [image(900_000), image(1_000)];
    const resource = { uri: 'file:///x', blob: Buffer.alloc(400_000).toString('base64') };
    const { content } = await kept({ content: [text('see'), small, large, { type: 'resource', resource }] });
    const note = (type: string, bytes: Buffer): JsonObject =>
      text(`[${type}, ${bytes.byteLength} bytes, ${digestOf(bytes)} not kept]`);
    expect(content).toEqual([
      text('see'),
      small,
      note('image/png', Buffer.alloc(900_000, 900_000 % 251)),
      { type: 'resource', resource },
    ]);
  });

  it('then has no structured form, and is an error where a schema promises one', async () => {
    const result = { content: [text('short')], structuredContent: { a: 'x'.repeat(MIB) } };
    expect(await kept(result)).toEqual({ content: [text('short')] });
    expect(await kept(result, { hasOutputSchema: true })).toEqual({ content: [text('short')], isError: true });
  });

  it('then has its longest texts cut, in no character', async () => {
    const { content } = await kept({ content: [text('short'), text('𝄞'.repeat(400_000))] });
    const [short, long] = content as { text: string }[];
    expect(short).toEqual(text('short'));
    expect(long?.text).toMatch(/^𝄞+ \[cut here: the answer was too large to be kept whole\]$/u);
    expect(long?.text.length).toBeGreaterThan(500_000);
  });

  it.each([
    ['of two bytes a character', 'é'.repeat(1_500_000)],
    ['of four', '😀'.repeat(900_000)],
    ['whose head takes more than its tail', '\u0000'.repeat(100_000) + 'a'.repeat(2_000_000)],
    ['whose tail takes more than its head', 'a'.repeat(1_000_000) + '\u0000'.repeat(300_000)],
  ])('then has a text %s cut, and keeps all that there is room for', async (_, long) => {
    const result = await kept({ content: [text(long)] });
    const [{ text: cut = '' } = {}] = result['content'] as { text: string }[];
    expect(cut.endsWith(' [cut here: the answer was too large to be kept whole]')).toBe(true);
    expect(long.startsWith(cut.slice(0, cut.lastIndexOf(' [cut here')))).toBe(true);
    expect(Buffer.byteLength(canonicalize(result))).toBeGreaterThan(RESULT_MAX_BYTES - 64);
  });

  it('says so where nothing else helps', async () => {
    const many: JsonValue[] = Array.from({ length: 60_000 }, (_, index) => text(`${index}`));
    expect(await kept({ content: many })).toEqual({
      content: [text('[the answer was too large, and is not kept]')],
    });
  });
});

describe('what is kept of a JSON-RPC error', () => {
  it('is its words, without secrets, and its data where that is short', () => {
    const read = (data: JsonValue | undefined, message = `no ${SECRET}`): unknown =>
      JSON.parse(recordedRpcError({ code: -32602, message, data }, redactor));
    expect(read({ a: SECRET })).toEqual({
      error: { code: -32602, message: 'no [redacted]', data: { a: '[redacted]' } },
    });
    expect(read('x'.repeat(20_000))).toEqual({ error: { code: -32602, message: 'no [redacted]' } });
    expect(JSON.stringify(read(undefined, 'x'.repeat(100_000))).length).toBeLessThan(20_000);
    // Nor the part of one that stands before the cut.
    expect(JSON.stringify(read(undefined, `${'x'.repeat(16_374)}${SECRET}`))).not.toContain(SECRET.slice(0, 6));
  });
});
