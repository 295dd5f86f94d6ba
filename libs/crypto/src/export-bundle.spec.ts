import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { gunzipSync } from 'node:zlib';

import { deedLineBytes, encodeDeedLine, MAX_LINE_BYTES, parseDeedLine, type SealedDeed } from './bundle-format.js';
import { BundleSourceError, writeBundle } from './export-bundle.js';
import {
  at,
  bundleOf,
  collect,
  contentOf,
  entryOf,
  givenChain,
  KEY,
  keyFrom,
  streamOf,
} from './testing/given-chain.js';

const deeds = givenChain(5);

/** The entries of a plain tar, by an independent reading of their headers. */
const untar = (tar: Buffer): Map<string, string> => {
  const entries = new Map<string, string>();
  for (let offset = 0; tar[offset] !== 0;) {
    const name = tar.toString('latin1', offset, offset + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', offset + 124, offset + 135), 8);
    entries.set(name, tar.toString('utf8', offset + 512, offset + 512 + size));
    offset += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
};

describe('an export bundle', () => {
  it('holds manifest.json, keys.json and deeds.ndjson, in this order', async () => {
    const entries = untar(gunzipSync(await bundleOf(contentOf(deeds))));
    expect([...entries.keys()]).toEqual(['manifest.json', 'keys.json', 'deeds.ndjson']);
    expect(JSON.parse(entries.get('manifest.json') ?? '')).toEqual({
      ...contentOf(deeds).range,
      v: 'service.bundle/1',
      count: 5,
      keys: [KEY.publicKey.fingerprint],
    });
    expect(JSON.parse(entries.get('keys.json') ?? '')).toEqual({ keys: [entryOf(KEY)] });
  });

  it('has one canonical line for each deed', async () => {
    const lines =
      untar(gunzipSync(await bundleOf(contentOf(deeds))))
        .get('deeds.ndjson')
        ?.split('\n') ?? [];
    expect(lines.pop()).toBe('');
    const [deed] = deeds;
    expect(lines).toHaveLength(5);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      seq: 1,
      body: Buffer.from(deed?.body ?? []).toString('base64url'),
      body_hash: deed?.seal.bodyHash,
      kid: deed?.seal.kid,
      signature: deed?.seal.signature,
    });
  });

  it('is the same file whenever it is made, and not only at the same pace', async () => {
    const [one, other] = [await bundleOf(contentOf(deeds)), await bundleOf(contentOf(deeds))];
    expect(other.equals(one)).toBe(true);
    expect(one.subarray(0, 10).toString('hex')).toBe('1f8b08000000000000ff');
  });

  it('needs no first pass when the size of the lines is known', async () => {
    let passes = 0;
    const content = {
      ...contentOf(deeds),
      deedsBytes: deeds.reduce((sum, { seq, body }) => sum + deedLineBytes(seq, body.byteLength), 0),
      deeds: () => {
        passes += 1;
        return streamOf(deeds);
      },
    };
    expect((await bundleOf(content)).equals(await bundleOf(contentOf(deeds)))).toBe(true);
    expect(passes).toBe(1);
  });

  it('may be empty', async () => {
    const entries = untar(gunzipSync(await bundleOf(contentOf([]))));
    expect(entries.get('deeds.ndjson')).toBe('');
  });

  it('holds one deed at a time, however many there are', async () => {
    const [deed] = deeds;
    const total = 30_000;
    async function* many(): AsyncGenerator<SealedDeed> {
      for (let seq = 1; seq <= total; seq += 1) yield await Promise.resolve({ ...(deed as SealedDeed), seq });
    }
    const head = { seq: total, body_hash: (deed as SealedDeed).seal.bodyHash };
    const content = { ...contentOf(deeds, { last_seq: total, head }), deeds: many };
    const before = process.memoryUsage().rss;
    const hash = createHash('sha256');
    for await (const chunk of writeBundle(content)) hash.update(chunk);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  const wrongSources: [string, readonly SealedDeed[]][] = [
    ['one is missing at the end', deeds.slice(0, 4)],
    ['one is missing in the middle', [...deeds.slice(0, 2), ...deeds.slice(3)]],
    ['one is too many', [...deeds, ...givenChain(6).slice(5)]],
    ['two are swapped', [...deeds.slice(0, 3), ...deeds.slice(3).reverse()]],
  ];

  it.each(wrongSources)('is not finished when of its deeds %s', async (_name, source) => {
    const content = { ...contentOf(deeds), deeds: () => streamOf(source) };
    await expect(bundleOf(content)).rejects.toThrow(BundleSourceError);
    await expect(collect(writeBundle({ ...content, deedsBytes: 100_000 }))).rejects.toThrow(BundleSourceError);
  });

  it('is not finished when the size that was said is wrong', async () => {
    const exact = deeds.reduce((sum, { seq, body }) => sum + deedLineBytes(seq, body.byteLength), 0);
    for (const deedsBytes of [1, exact - 1, exact + 1]) {
      await expect(bundleOf({ ...contentOf(deeds), deedsBytes })).rejects.toThrow(BundleSourceError);
    }
  });

  it('passes on what goes wrong while deeds are read', async () => {
    async function* failing(): AsyncGenerator<SealedDeed> {
      yield* streamOf(deeds.slice(0, 1));
      throw new Error('the store went away');
    }
    await expect(bundleOf({ ...contentOf(deeds), deeds: failing })).rejects.toThrow('the store went away');
  });

  it.each([
    ['an inverted range', { from: at(5), to: at(5) }],
    ['a link before the first deed', { prev_hash: deeds[0]?.seal.bodyHash ?? null }],
    ['no head', { head: null }],
    ['a head behind its last deed', { head: { seq: 4, body_hash: deeds[3]?.seal.bodyHash ?? ('' as never) } }],
  ])('is not begun with %s', (_name, change) => {
    expect(() => writeBundle(contentOf(deeds, change))).toThrow(RangeError);
  });

  it('is not begun with a key under another kid, or the same key twice', () => {
    const other = { ...entryOf(keyFrom('other')), kid: KEY.publicKey.kid };
    expect(() => writeBundle({ ...contentOf(deeds), keys: [other] })).toThrow(RangeError);
    expect(() => writeBundle({ ...contentOf(deeds), keys: [entryOf(KEY), entryOf(KEY)] })).toThrow(RangeError);
  });
});

describe('a line of a bundle', () => {
  const [deed] = deeds as [SealedDeed];
  const line = encodeDeedLine(deed);

  it('reads back as it was written, and is as long as was computed', () => {
    expect(parseDeedLine(line.subarray(0, -1))).toEqual({ ...deed, body: Buffer.from(deed.body) });
    expect(line.length).toBe(deedLineBytes(deed.seq, deed.body.byteLength));
  });

  it('has at most the bytes that the format page says', () => {
    expect(MAX_LINE_BYTES).toBe(349_789);
  });

  it('has one spelling', () => {
    const text = line.toString().trimEnd();
    const twins = [
      text.replace(',', ', '),
      text.replace('{"body"', '{ "body"'),
      text.replace('"seq":1', '"seq":01'),
      text.replace('"seq":1', '"seq":1.0'),
      text.replace('"seq":1', '"seq":9999999999999999'),
      text.replace('"seq"', '"s\\u0065q"'),
      `${text} `,
      text.replace('sha256:', 'SHA256:'),
      text.replace(/"signature":".{4}/, '"signature":"'),
      text.replace(/"body":"[^"]+"/, '"body":""'),
      text.replace('fQ","body_hash"', 'fR","body_hash"'),
    ];
    expect(twins).not.toContain(text);
    expect(twins.filter((twin) => parseDeedLine(Buffer.from(twin)) !== null)).toEqual([]);
  });
});
