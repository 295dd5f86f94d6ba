import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';

import { BundleFormatError } from './bundle-format-error.js';
import { readGzipMember, writeGzipMember } from './gzip-member.js';
import { collect, streamOf } from './testing/given-chain.js';

const content = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * index) % 251));
const folder = mkdtempSync(join(tmpdir(), 'gzip-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const chunks = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );

const file = (bytes: Buffer) => {
  const path = join(folder, 'file.gz');
  writeFileSync(path, bytes);
  return createReadStream(path);
};

/** Every way in which bytes arrive: at once, in small chunks, from a file. */
const readings = (bytes: Buffer): Promise<string>[] =>
  [streamOf([bytes]), streamOf(chunks(bytes, 7)), streamOf(chunks(bytes, 1_000)), file(bytes)].map(async (source) => {
    try {
      return (await collect(readGzipMember(source))).equals(content) ? 'content' : 'other content';
    } catch (error) {
      if (error instanceof BundleFormatError) return error.reason;
      throw error;
    }
  });

const outcome = async (bytes: Buffer): Promise<string> =>
  [...new Set(await Promise.all(readings(bytes)))].join(' and ');

describe('one gzip member', () => {
  it('is read as it was written, by us and by others', async () => {
    const member = await collect(writeGzipMember(streamOf(chunks(content, 999))));
    expect(await outcome(member)).toBe('content');
    expect(gunzipSync(member).equals(content)).toBe(true);
  });

  it('may come from another program', async () => {
    expect(await outcome(gzipSync(content))).toBe('content');
  });

  const member = gzipSync(content);
  it.each([
    ['nothing', Buffer.alloc(0), 'truncated'],
    ['half a header', member.subarray(0, 6), 'truncated'],
    ['a header alone', member.subarray(0, 10), 'truncated'],
    ['half of it', member.subarray(0, member.length >> 1), 'truncated'],
    ['all but its last byte', member.subarray(0, -1), 'truncated'],
    ['all but its trailer', member.subarray(0, -8), 'truncated'],
    ['a trailing zero', Buffer.concat([member, Buffer.alloc(1)]), 'bad_gzip'],
    ['100,000 trailing zeros', Buffer.concat([member, Buffer.alloc(100_000)]), 'bad_gzip'],
    ['a second member', Buffer.concat([member, member]), 'bad_gzip'],
    ['another method', Buffer.concat([Buffer.from('1f8b07', 'hex'), member.subarray(3)]), 'bad_gzip'],
    ['a flag', Buffer.concat([Buffer.from('1f8b0801', 'hex'), member.subarray(4)]), 'bad_gzip'],
    ['a block of no known type', Buffer.concat([member.subarray(0, 10), Buffer.alloc(20, 0xff)]), 'bad_gzip'],
    ['no compression at all', content.subarray(0, 5_000), 'bad_gzip'],
    ['a raw stream', deflateRawSync(content), 'bad_gzip'],
    ['another checksum', Buffer.concat([member.subarray(0, -8), Buffer.alloc(4), member.subarray(-4)]), 'bad_gzip'],
    ['another length', Buffer.concat([member.subarray(0, -4), Buffer.alloc(4)]), 'bad_gzip'],
  ])('%s is refused, however the bytes arrive', async (_name, bytes, reason) => {
    expect(await outcome(bytes)).toBe(reason);
  });

  it('of a thousand times its size fills no memory', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024));
    const before = process.memoryUsage().rss;
    let length = 0;
    let peak = 0;
    for await (const chunk of readGzipMember(streamOf([bomb]))) {
      length += chunk.length;
      peak = Math.max(peak, process.memoryUsage().rss);
    }
    expect(length).toBe(300 * 1024 * 1024);
    expect(peak - before).toBeLessThan(150 * 1024 * 1024);
  });

  it('is the same whether an empty piece comes in between or not', async () => {
    const pieces = chunks(content, 999).flatMap((piece) => [piece, Buffer.alloc(0)]);
    expect(await outcome(await collect(writeGzipMember(streamOf(pieces))))).toBe('content');
  });

  it('closes its source when its reader stops', async () => {
    const source = file(member);
    const reader = readGzipMember(source);
    await reader.next();
    await reader.return(undefined);
    expect(source.destroyed).toBe(true);
  });

  it('passes on what goes wrong with its source', async () => {
    await expect(collect(readGzipMember(createReadStream(join(folder, 'absent'))))).rejects.toThrow('ENOENT');
  });
});
