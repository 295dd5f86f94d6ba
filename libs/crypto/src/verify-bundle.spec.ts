import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { digestOf } from './digest.js';
import { ATTACKS, DEEDS, honestBundle, HONEST_OPTIONS } from './testing/bundle-attacks.js';
import {
  at,
  bundleOf,
  contentOf,
  entryOf,
  givenChain,
  KEY,
  keyFrom,
  packed,
  rawOf,
  streamOf,
} from './testing/given-chain.js';
import { verifyBundle, type VerifyOptions } from './verify-bundle.js';

const verify = (bytes: Uint8Array, options: Partial<VerifyOptions> = {}) =>
  verifyBundle(streamOf([bytes]), { ...HONEST_OPTIONS, ...options });

const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('an honest bundle', () => {
  const deeds = givenChain(DEEDS);
  const last = deeds.at(-1);

  it('is intact, and says what was checked', async () => {
    expect(await verify(await honestBundle())).toEqual({
      object: 'bundle_verdict',
      result: 'intact',
      reason: null,
      first_bad_seq: null,
      links_intact: true,
      org: HONEST_OPTIONS.org,
      deeds: DEEDS,
      first_seq: 1,
      last_seq: DEEDS,
      prev_hash: null,
      head: { seq: DEEDS, body_hash: last?.seal.bodyHash },
      keys_from: 'bundle',
      end_from: 'bundle',
      keys: [{ kid: KEY.publicKey.kid, fingerprint: KEY.publicKey.fingerprint, pinned: true, deeds: DEEDS }],
      checkpoint: null,
      witnesses: [],
      quorum: null,
      exists_since: null,
      evidence: null,
      approvals: null,
      intents: null,
    });
  });

  it('is what the writer writes', async () => {
    expect((await honestBundle()).equals(await bundleOf(contentOf(deeds)))).toBe(true);
  });

  it('is read from a file, and in chunks of any size', async () => {
    const bytes = await honestBundle();
    const path = join(folder, 'bundle.tar.gz');
    writeFileSync(path, bytes);
    expect((await verifyBundle(path, HONEST_OPTIONS)).result).toBe('intact');
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    expect((await verifyBundle(streamOf(single), HONEST_OPTIONS)).result).toBe('intact');
  });

  it('may be a range, which continues what was checked before', async () => {
    const change = {
      from: at(3),
      to: at(7),
      prev_hash: deeds[1]?.seal.bodyHash ?? null,
      head: rawOf(deeds).manifest.head,
    };
    const bytes = await packed(rawOf(deeds.slice(2, 6), [entryOf(KEY)], change));
    const heads = [{ seq: 2, body_hash: change.prev_hash as never }];
    expect(await verify(bytes, { heads })).toMatchObject({ result: 'intact', first_seq: 3, last_seq: 6, deeds: 4 });
  });

  it('may be sealed by several keys, each in its window', async () => {
    const next = keyFrom('the seal key after a rotation');
    const chain = givenChain(DEEDS, { keyAt: (seq) => (seq < 5 ? KEY : next) });
    const bytes = await packed(
      rawOf(chain, [entryOf(KEY, { retired_at: at(5) }), entryOf(next, { activated_at: at(5) })]),
    );
    const { result, keys } = await verify(bytes);
    expect({ result, deeds: keys.map((key) => key.deeds) }).toEqual({ result: 'intact', deeds: [4, 4] });
  });

  it('may list keys that the user did not pin, as long as they sealed nothing', async () => {
    const stranger = keyFrom('a key that nobody pinned');
    const { result, keys } = await verify(await packed(rawOf(deeds, [entryOf(KEY), entryOf(stranger)])));
    expect(result).toBe('intact');
    expect(keys.map(({ pinned }) => pinned)).toEqual([true, false]);
  });

  it('may be judged by a key set of the reader, which the verdict then lists', async () => {
    const next = keyFrom('the seal key after a rotation');
    const keySet = [entryOf(KEY, { retired_at: at(100) }), entryOf(next, { activated_at: at(100) })];
    expect(await verify(await honestBundle(), { keySet })).toMatchObject({
      result: 'intact',
      keys_from: 'reader',
      keys: [
        { kid: KEY.publicKey.kid, deeds: DEEDS },
        { kid: next.publicKey.kid, deeds: 0 },
      ],
    });
  });

  it.each([
    ['bundle', 'before its end', DEEDS - 1],
    ['reader', 'at its end', DEEDS],
    ['reader', 'behind its end', DEEDS + 1],
  ])('ends by the word of the %s with a head %s', async (word, _place, seq) => {
    const heads = [{ seq, body_hash: deeds[seq - 1]?.seal.bodyHash ?? digestOf('a deed that is missing') }];
    expect(await verify(await honestBundle(), { heads })).toMatchObject({ end_from: word });
  });

  it('reports its progress', async () => {
    const seen: [number, number][] = [];
    await verify(await honestBundle(), { onProgress: (done, total) => seen.push([done, total]) });
    expect(seen).toEqual([[DEEDS, DEEDS]]);
  });
});

it('a bundle of ten million lines takes no memory for them', async () => {
  const bytes = await packed({ ...rawOf(givenChain(1)), lines: [Buffer.alloc(10_000_000, '\n')] });
  const before = process.memoryUsage.rss();
  expect(await verify(bytes)).toMatchObject({ result: 'broken', reason: 'bad_line', first_bad_seq: 1 });
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
});

describe('what the user says', () => {
  it.each([
    ['an organization', { org: 'acme' }],
    ['a pin', { pins: ['sha256:abc'] }],
  ])("%s that is malformed is the caller's fault", async (_name, options) => {
    await expect(verify(await honestBundle(), options)).rejects.toThrow(TypeError);
  });

  it('a file that is not there is no verdict', async () => {
    await expect(verifyBundle(join(folder, 'absent'), HONEST_OPTIONS)).rejects.toThrow('ENOENT');
  });
});

describe.each(Object.entries(ATTACKS))('attacks on %s', (_group, attacks) => {
  it.each(attacks)('$name: $reason', async ({ bytes, options, result, reason, seq, linksIntact }) => {
    const verdict = await verify(await bytes(), options);
    expect({ result: verdict.result, reason: verdict.reason, seq: verdict.first_bad_seq }).toEqual({
      result,
      reason,
      seq,
    });
    expect(verdict.links_intact).toBe(linksIntact ?? false);
  });
});
