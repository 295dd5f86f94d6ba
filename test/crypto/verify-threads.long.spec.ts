/** One verdict, however many threads judge. Each program here is one of its own, so its threads are real ones. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type BundleVerdict, digestOf, type SealedDeed, verifyBundle, type VerifyOptions } from '#libs/crypto';

import { ATTACKS, honestBundle, HONEST_OPTIONS } from '../../libs/crypto/src/testing/bundle-attacks.js';
import {
  at,
  entryOf,
  givenChain,
  KEY,
  keyFrom,
  packed,
  type RawBundle,
  rawOf,
} from '../../libs/crypto/src/testing/given-chain.js';
import { WITNESSED_ATTACKS } from '../../libs/crypto/src/testing/witnessed-attacks.js';
import { witnessedBundle } from '../../libs/crypto/src/testing/witnessed-bundle.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPILED = join(ROOT, 'dist/test/crypto/verify-bundles.child.js');
const SOURCE = fileURLToPath(new URL('verify-bundles.child.ts', import.meta.url));
const FROM_SOURCES = [
  '--conditions=source',
  '--import',
  new URL('../support/register-typescript.mjs', import.meta.url).href,
];
const END_DEADLINE_MS = 120_000;

interface Answer {
  readonly verdict?: BundleVerdict;
  readonly error?: string;
  readonly peakKiB: number;
}

interface Given {
  readonly bytes: Buffer;
  readonly options?: Partial<VerifyOptions>;
  readonly chunkBytes?: number;
}

const folder = mkdtempSync(join(tmpdir(), 'threads-'));
beforeAll(() => {
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT });
  expect(status).toBe(0);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The verdicts of a program that ends by itself, so none of its threads lives on. */
const verdictsOf = (program: readonly string[], given: readonly Given[], threads = 2): Answer[] => {
  const cases = given.map(({ bytes, options, chunkBytes = 65_536 }, index) => {
    const path = join(folder, `${index}.tar.gz`);
    writeFileSync(path, bytes);
    return JSON.stringify({ path, options: { ...HONEST_OPTIONS, ...options, threads }, chunkBytes });
  });
  const { status, stdout, stderr } = spawnSync(process.execPath, program, {
    input: cases.map((line) => `${line}\n`).join(''),
    encoding: 'utf8',
    timeout: END_DEADLINE_MS,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
};

const onOneThread = async ({ bytes, options }: Given): Promise<BundleVerdict> => {
  const path = join(folder, 'one.tar.gz');
  writeFileSync(path, bytes);
  return verifyBundle(path, { ...HONEST_OPTIONS, ...options });
};

const expectOneVerdict = async (given: Readonly<Record<string, Given>>): Promise<void> => {
  const answers = verdictsOf([COMPILED], Object.values(given));
  for (const [index, [name, one]] of Object.entries(given).entries()) {
    expect({ name, verdict: answers[index]?.verdict }).toEqual({ name, verdict: await onOneThread(one) });
  }
};

it.each(Object.entries(ATTACKS))('attacks on %s get the verdict of one thread', async (_group, attacks) => {
  const given: Record<string, Given> = { honest: { bytes: await honestBundle() } };
  for (const { name, bytes, options = {} } of attacks) given[name] = { bytes: await bytes(), options };
  await expectOneVerdict(given);
});

describe('a bundle of many blocks', () => {
  const DEEDS = 120;
  // So little of the file at a time makes blocks of a few lines, and a few of no whole one.
  const chunkBytes = 512;
  const next = keyFrom('the seal key after a rotation');
  const chain = givenChain(DEEDS);
  const raw = rawOf(chain);
  const lines = (change: (lines: readonly Buffer[]) => readonly Buffer[]): Promise<Buffer> =>
    packed({ ...raw, lines: change(raw.lines) });
  const given = async (bytes: Buffer | Promise<Buffer>, options: Partial<VerifyOptions> = {}): Promise<Given> => ({
    bytes: await bytes,
    options,
    chunkBytes,
  });
  const withBadSeal = (seq: number): SealedDeed[] =>
    chain.map((deed) => (deed.seq === seq ? { ...deed, seal: { ...deed.seal, signature: 'A'.repeat(86) } } : deed));
  const places = Array.from({ length: 3 }, (_, index) => Number.parseInt(digestOf(`${index}`).slice(7, 15), 16));

  it('gets the verdict of one thread for flips, drops and swaps anywhere', async () => {
    const cases: Record<string, Given> = { whole: await given(packed(raw)) };
    for (const place of places) {
      const seq = 1 + (place % (DEEDS - 1));
      const content = Buffer.concat(raw.lines);
      const bit = place % (content.length * 8);
      content.writeUInt8(content.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      cases[`bit ${bit} flipped`] = await given(packed({ ...raw, lines: [content] }));
      cases[`deed ${seq} dropped`] = await given(lines((all) => all.toSpliced(seq - 1, 1)));
      cases[`deeds ${seq} and ${seq + 1} swapped`] = await given(
        lines((all) => all.toSpliced(seq - 1, 2, ...all.slice(seq - 1, seq + 1).reverse())),
      );
      cases[`seal ${seq} forged`] = await given(packed(rawOf(withBadSeal(seq))));
    }
    await expectOneVerdict(cases);
  });

  it('gets the verdict of one thread with its checkpoint and its evidence', async () => {
    const wrong = Object.values(WITNESSED_ATTACKS).flat();
    // Keys of witnesses are bytes, which this way of asking has no spelling for.
    const asked = wrong.filter(({ options }) => options === undefined);
    const cases: Record<string, Given> = { whole: await given(packed(await witnessedBundle())) };
    for (const { name, bytes } of asked) cases[name] = await given(bytes());
    await expectOneVerdict(cases);
  });

  it('gets the verdict of one thread where deeds and the file are at fault', async () => {
    const good = await packed(raw);
    const forged = await packed(rawOf(withBadSeal(30)));
    const half = good.length >> 1;
    await expectOneVerdict({
      'cut in the middle': await given(good.subarray(0, half)),
      'cut at the end': await given(good.subarray(0, -1)),
      'a wrong checksum': await given(Buffer.concat([good.subarray(0, -8), Buffer.alloc(8)])),
      'a forged seal, then cut': await given(forged.subarray(0, half)),
      'a forged seal, then a wrong checksum': await given(Buffer.concat([forged.subarray(0, -8), Buffer.alloc(8)])),
      'a line without an end': await given(lines((all) => [...all.slice(0, -1), Buffer.alloc(400_000, 0x61)])),
    });
  });

  it('gets the verdict of one thread about keys', async () => {
    const keyAt = (seq: number) => (seq < 60 ? KEY : next);
    const rotated = (...entries: RawBundle['keys']): Promise<Buffer> =>
      packed(rawOf(givenChain(DEEDS, { keyAt }), [...entries]));
    const revocation: SealedDeed[] = givenChain(DEEDS, {
      keyAt,
      changeAt: (seq) => {
        if (seq !== 117) return {};
        const target = { type: 'seal_key', id: KEY.publicKey.kid };
        return { admin: { action: 'seal_key.revoked', target, reason: null, data_digest: null } };
      },
    });
    await expectOneVerdict({
      'two keys': await given(rotated(entryOf(KEY), entryOf(next))),
      'one not pinned': await given(rotated(entryOf(KEY), entryOf(next)), { pins: [KEY.publicKey.fingerprint] }),
      'one not listed': await given(rotated(entryOf(next))),
      'one outside its window': await given(rotated(entryOf(KEY, { retired_at: at(30) }), entryOf(next))),
      'one revoked in the chain': await given(packed(rawOf(revocation, [entryOf(KEY), entryOf(next)]))),
      'one revoked in the set of the reader': await given(rotated(entryOf(KEY), entryOf(next)), {
        keySet: [entryOf(KEY), entryOf(next, { revoked_at: at(1_000) })],
      }),
    });
  });

  it('takes no memory for its lines', async () => {
    const bomb = await packed({ ...rawOf(givenChain(1)), lines: [Buffer.alloc(10_000_000, '\n')] });
    const [small, large] = verdictsOf([COMPILED], [{ bytes: await honestBundle() }, { bytes: bomb }]);
    expect(large?.verdict).toMatchObject({ result: 'broken', reason: 'bad_line', first_bad_seq: 1 });
    expect((large?.peakKiB ?? 0) - (small?.peakKiB ?? 0)).toBeLessThan(100 * 1024);
  });
});

it('finds its threads where a loader runs the sources', async () => {
  const [honest] = verdictsOf([...FROM_SOURCES, SOURCE], [{ bytes: await honestBundle() }]);
  expect(honest?.verdict).toEqual(await verifyBundle(await savedHonest(), HONEST_OPTIONS));
});

const savedHonest = async (): Promise<string> => {
  const path = join(folder, 'honest.tar.gz');
  writeFileSync(path, await honestBundle());
  return path;
};

describe('a thread that fails', () => {
  const inThreads = (statement: string): string =>
    `--import=data:text/javascript,import{isMainThread,parentPort}from"node:worker_threads";if(!isMainThread)${encodeURIComponent(statement)}`;

  it.each([
    ['at its start', 'throw new Error("no thread today")', 'no thread today'],
    ['when it is given a block', 'parentPort.once("message",()=>process.exit(7))', 'a judging thread has ended'],
    ['in the middle of a block', 'parentPort.once("message",()=>{throw new Error("lost")})', 'lost'],
  ])('%s gives no verdict, and the program goes on', async (_title, statement, message) => {
    const bytes = await honestBundle();
    const answers = verdictsOf([inThreads(statement), COMPILED], [{ bytes }, { bytes }]);
    expect(answers).toMatchObject([{ error: message }, { error: message }]);
  });
});

it('a number of threads that is none is refused', async () => {
  for (const threads of [0, -1, 1.5, Number.NaN]) {
    await expect(verifyBundle(await savedHonest(), { ...HONEST_OPTIONS, threads })).rejects.toThrow(TypeError);
  }
});
