/** Tamper evidence (rule DEED-18): every bit, every line, every cut of a bundle of twenty deeds. */
import { describe, expect, it } from 'vitest';
import { gunzipSync } from 'node:zlib';

import { type DeedJudgement, digestOf, judgeDeed, type SealedDeed, verifyBundle } from '#libs/crypto';

import { type BundleManifest, encodeDeedLine } from '../../libs/crypto/src/bundle-format.js';
import { bundleWalk } from '../../libs/crypto/src/bundle-walk.js';
import { Keyring } from '../../libs/crypto/src/keyring.js';
import { judgeLines, type LineJudgement } from '../../libs/crypto/src/line-judge.js';
import {
  entryOf,
  givenChain,
  KEY,
  keyFrom,
  ORG,
  OTHER_ORG,
  packed,
  rawOf,
  streamOf,
} from '../../libs/crypto/src/testing/given-chain.js';

const DEEDS = 20;
const LONG_TEST_MS = 600_000;
const OPTIONS = { org: ORG, pins: [KEY.publicKey.fingerprint] };

const deeds = givenChain(DEEDS);
const raw = rawOf(deeds);
const { lines } = raw;
const manifest = raw.manifest as BundleManifest;
const keyring = new Keyring([entryOf(KEY)], new Set(OPTIONS.pins));
const seqs = deeds.map(({ seq }) => seq);

const flip = (bytes: Buffer, bit: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
};

const lineOf = (seq: number): Buffer => lines[seq - 1] ?? Buffer.alloc(0);
const deedOf = (seq: number): SealedDeed => deeds[seq - 1] as SealedDeed;

/** What a changed deed says by itself, its seal included; null when nothing is wrong with it. */
const faultOf = async (judgement: DeedJudgement<string> | LineJudgement): Promise<string | null> => {
  if (judgement.fault !== null) return judgement.fault;
  return (await judgement.isSigned) === false ? 'bad_signature' : judgement.trustFault;
};

const LINE_FEED = Buffer.from('\n');

/** The judgement of a line that is given without its line feed. */
const judged = (line: Buffer, seq: number) =>
  judgeLines(Buffer.concat([line, LINE_FEED]), seq, manifest, keyring)[0] as LineJudgement;
const judgedDeed = (deed: SealedDeed) => judgeDeed(deed, ORG, (kid) => keyring.find(kid));

/** Every flip of one bit: each is given in the same buffer, which holds it until the next. */
function* eachFlip(bytes: Buffer): Generator<Buffer> {
  const flipped = Buffer.from(bytes);
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    flipped[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield flipped;
    flipped[bit >> 3] = bytes[bit >> 3] ?? 0;
  }
}

const verdictOf = async (changed: readonly Buffer[]) => {
  const { result, reason, first_bad_seq } = await verifyBundle(
    streamOf([await packed({ ...raw, lines: changed })]),
    OPTIONS,
  );
  return { result, reason, seq: first_bad_seq };
};

/** A deterministic sample, so that a failure can be repeated. */
const sample = (count: number, below: number): number[] =>
  Array.from({ length: count }, (_, index) => Number.parseInt(digestOf(`${index}`).slice(7, 15), 16) % below);

describe('single bits', () => {
  it.each(seqs)(
    'of line %i: every flip is found',
    async (seq) => {
      const bySignature: Promise<string | null>[] = [];
      for (const flipped of eachFlip(lineOf(seq).subarray(0, -1))) {
        const judgement = judged(flipped, seq);
        if (judgement.fault === null) bySignature.push(faultOf(judgement));
      }
      expect(new Set(await Promise.all(bySignature))).toEqual(new Set(['bad_signature']));
    },
    LONG_TEST_MS,
  );

  it.each(seqs)(
    'of the canonical bytes of deed %i: every flip is found by the hash',
    (seq) => {
      const deed = deedOf(seq);
      const faults = new Set<string | null>();
      for (const flipped of eachFlip(Buffer.from(deed.body))) {
        faults.add(judgedDeed({ ...deed, body: flipped }).fault);
      }
      expect([...faults]).toEqual(['body_hash_mismatch']);
    },
    LONG_TEST_MS,
  );

  it(
    'of the canonical bytes with the hash computed again: every flip is found by form or by signature',
    async () => {
      const deed = deedOf(2);
      const verdicts: Promise<string | null>[] = [];
      for (const flipped of eachFlip(Buffer.from(deed.body))) {
        const seal = { ...deed.seal, bodyHash: digestOf(flipped) };
        verdicts.push(faultOf(judgedDeed({ ...deed, body: flipped, seal })));
      }
      const faults = new Set(await Promise.all(verdicts));
      expect(faults).not.toContain(null);
      expect([...faults].sort()).toEqual(['bad_signature', 'not_canonical', 'schema', 'wrong_kid', 'wrong_seq'].sort());
    },
    LONG_TEST_MS,
  );

  it(
    'in a whole bundle: the verdict is broken and names the seq',
    async () => {
      for (const place of sample(200, Buffer.concat(lines).length * 8)) {
        const content = flip(Buffer.concat(lines), place);
        const seq = seqOfByte(place >> 3);
        const { result, reason, seq: named } = await verdictOf([content]);
        // A line feed that is gone or new moves the end of a line: the fault may stand at the deed after it.
        expect({ place, result }).toEqual({ place, result: 'broken' });
        expect({ place, reason, isNamed: named === seq || named === seq + 1 }).toEqual({
          place,
          reason,
          isNamed: true,
        });
      }
    },
    LONG_TEST_MS,
  );

  const seqOfByte = (offset: number): number => {
    let end = 0;
    return 1 + lines.findIndex((line) => (end += line.length) > offset);
  };
});

describe('lines', () => {
  const pairs = seqs.flatMap((one) => seqs.filter((other) => other > one).map((other) => [one, other] as const));
  const foreign = givenChain(DEEDS, { org: OTHER_ORG }).map(encodeDeedLine);
  const resealed = givenChain(DEEDS, { keyAt: () => keyFrom('a stranger') }).map(encodeDeedLine);

  it('dropped: every one, with its seq', async () => {
    for (const seq of seqs) {
      const expected =
        seq === DEEDS
          ? { result: 'incomplete', reason: 'missing_deeds', seq }
          : { result: 'broken', reason: 'gap', seq };
      expect(await verdictOf(lines.toSpliced(seq - 1, 1))).toEqual(expected);
    }
  });

  it('twice: every one, at the place of the next', async () => {
    for (const seq of seqs) {
      const verdict = await verdictOf(lines.toSpliced(seq, 0, lineOf(seq)));
      expect(verdict).toEqual({ result: 'broken', reason: 'duplicate', seq: seq + 1 });
    }
  });

  it(
    'swapped: every pair, with the lower seq',
    async () => {
      for (const [one, other] of pairs) {
        const verdict = await verdictOf(lines.with(one - 1, lineOf(other)).with(other - 1, lineOf(one)));
        expect(verdict).toEqual({ result: 'broken', reason: 'gap', seq: one });
      }
    },
    LONG_TEST_MS,
  );

  it('cut off: at every place, with the first missing seq', async () => {
    for (const seq of seqs) {
      const verdict = await verdictOf(lines.slice(0, seq - 1));
      expect(verdict).toEqual({ result: 'incomplete', reason: 'missing_deeds', seq });
    }
  });

  it('spliced in from another organization: at every place', async () => {
    for (const seq of seqs) {
      const verdict = await verdictOf(lines.with(seq - 1, foreign[seq - 1] ?? Buffer.alloc(0)));
      expect(verdict).toEqual({ result: 'broken', reason: 'wrong_org', seq });
    }
  });

  it('replaced by the same deed under a strange key: at every place', async () => {
    for (const seq of seqs) {
      const verdict = await verdictOf(lines.with(seq - 1, resealed[seq - 1] ?? Buffer.alloc(0)));
      expect(verdict).toEqual({ result: 'broken', reason: 'unknown_key', seq });
    }
  });
});

describe('the file', () => {
  it(
    'cut at every byte is incomplete',
    async () => {
      const short = await packed(rawOf(deeds.slice(0, 2)));
      for (let length = 0; length < short.length; length += 1) {
        const { result, reason } = await verifyBundle(streamOf([short.subarray(0, length)]), OPTIONS);
        expect({ length, result, reason }).toEqual({ length, result: 'incomplete', reason: 'truncated' });
      }
    },
    LONG_TEST_MS,
  );

  it(
    'with a bit flipped is not intact, or holds the very same archive',
    async () => {
      const bundle = await packed(raw);
      const archive = gunzipSync(bundle);
      const edges = Array.from({ length: 18 * 8 }, (_, bit) => (bit < 80 ? bit : bundle.length * 8 - 1 - (bit - 80)));
      const harmless: number[] = [];
      for (const bit of [...edges, ...sample(1_000, bundle.length * 8)]) {
        const changed = flip(bundle, bit);
        const { result } = await verifyBundle(streamOf([changed]), OPTIONS);
        if (result !== 'intact') continue;
        harmless.push(bit >> 3);
        expect(gunzipSync(changed).equals(archive)).toBe(true);
      }
      // Time, hint and system of the gzip header say nothing about the content.
      expect(harmless.filter((byte) => byte < 10).every((byte) => byte >= 4)).toBe(true);
      expect(harmless.filter((byte) => byte >= 10).length).toBeLessThan(8);
    },
    LONG_TEST_MS,
  );
});

it('a walk ends at the first broken deed and never resumes', async () => {
  const walk = bundleWalk(manifest, []);
  await walk.step(judged(lineOf(1).subarray(0, -1), 1));
  await walk.step(judged(Buffer.from('x'), 2));
  expect({ fault: walk.fault, deeds: walk.deeds, isBroken: walk.isChainBroken }).toEqual({
    fault: { seq: 2, reason: 'bad_line' },
    deeds: 1,
    isBroken: true,
  });
});
