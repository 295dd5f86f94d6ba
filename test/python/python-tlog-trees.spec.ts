/**
 * The trees of RFC 6962 in two languages: tlog.py folds them by the definitions, from the texts alone. Each makes what the
 * other judges, and what is no proof is none for both.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  type ConsistencyClaim,
  consistencyProof,
  hashesInMemory,
  type InclusionClaim,
  inclusionProof,
  isConsistent,
  isIncluded,
  leafHash,
  type LedgerRange,
  ledgerRange,
  LedgerRangeError,
  rootOf,
  rootOfRange,
} from '#libs/crypto';

import { flipped } from '../../libs/crypto/src/testing/attacked-bundle.js';
import { bytesOf, hexOf } from '../../libs/crypto/src/testing/given-witnessed.js';
import { drawer } from './given-tlog.js';
import { bytesIn, HAS_PYTHON, TlogProcess } from './tlog-process.js';

describe.skipIf(!HAS_PYTHON)('the trees of the Python transparency log (needs python3 with cryptography)', () => {
  let python: TlogProcess;
  beforeAll(() => {
    python = new TlogProcess();
  });
  afterAll(() => python.end());

  const size = 300;
  const leaves = Array.from({ length: size }, (_, index) => Uint8Array.from(leafHash(bytesOf(`deed ${index}`))));
  const tree = hashesInMemory(leaves);
  const roots = Array.from({ length: size + 1 }, (_, end) => Uint8Array.from(rootOf(leaves.slice(0, end))));
  const draw = drawer('trees');
  const rootAt = (end: number): Uint8Array => roots[end] ?? new Uint8Array();
  const leafAt = (index: number): Uint8Array => leaves[index] ?? new Uint8Array();
  const hashes = (answer: unknown): readonly Uint8Array[] => (answer as readonly string[]).map(bytesIn);
  const turn = (hash: Uint8Array): Uint8Array => Uint8Array.from(flipped(Buffer.from(hash), draw(256)));

  it('the roots of 0 to 300 leaves are the same', async () => {
    const theirs = await python.askEach('roots', { leaves });
    expect(theirs.map(bytesIn).map(hexOf)).toEqual(roots.map(hexOf));
  });

  /** Every size, its first and last leaf and two between. */
  const included = roots.flatMap((_, end) =>
    end === 0 ? [] : [...new Set([0, end - 1, draw(end), draw(end)])].map((index) => [index, end] as const),
  );
  const claimOf = ([index, end]: readonly [number, number], proof: readonly Uint8Array[]): InclusionClaim => ({
    index,
    size: end,
    leafHash: leafAt(index),
    root: rootAt(end),
    proof,
  });
  const inclusionsByPython = (claims: readonly InclusionClaim[]) =>
    python.askEach('inclusions', { claims: claims.map(({ leafHash: leaf, ...claim }) => ({ ...claim, leaf })) });

  it('inclusion proofs are the same, and each verifies those of the other', async () => {
    const ours = await Promise.all(included.map(([index, end]) => inclusionProof(tree, index, end)));
    const theirs = (await python.askEach('inclusion_proofs', { leaves, of: included })).map(hashes);
    expect(theirs.map((proof) => proof.map(hexOf))).toEqual(ours.map((proof) => proof.map(hexOf)));
    expect(included.filter((place, at) => !isIncluded(claimOf(place, theirs[at] ?? [])))).toEqual([]);
    const verified = await inclusionsByPython(included.map((place, at) => claimOf(place, ours[at] ?? [])));
    expect(verified.filter((holds) => holds !== true)).toEqual([]);
  });

  it('an inclusion proof with a bit turned is refused by both, in whichever hash', async () => {
    const turned: InclusionClaim[] = [];
    for (const place of included) {
      const claim = claimOf(place, await inclusionProof(tree, ...place));
      turned.push({ ...claim, leafHash: turn(claim.leafHash) }, { ...claim, root: turn(claim.root) });
      const at = draw(claim.proof.length + 1);
      if (at < claim.proof.length) turned.push({ ...claim, proof: claim.proof.with(at, turn(claim.proof[at]!)) });
    }
    expect(turned.filter(isIncluded)).toEqual([]);
    expect((await inclusionsByPython(turned)).filter((holds) => holds !== false)).toEqual([]);
  });

  it('an inclusion proof for another place, or with other hashes, is judged alike', async () => {
    const claims: InclusionClaim[] = [];
    for (const place of included) {
      const claim = claimOf(place, await inclusionProof(tree, ...place));
      const { index, size: end, proof } = claim;
      claims.push(
        { ...claim, index: index + 1 },
        { ...claim, index: draw(end) },
        { ...claim, size: end + 1 },
        { ...claim, size: end - 1 },
        { ...claim, size: draw(400) },
        { ...claim, proof: proof.slice(0, -1) },
        { ...claim, proof: proof.slice(1) },
        { ...claim, proof: [...proof, rootAt(end)] },
        { ...claim, proof: proof.toReversed() },
        { ...claim, proof: [] },
      );
    }
    const ours = claims.map(isIncluded);
    const theirs = await inclusionsByPython(claims);
    expect(claims.filter((_, at) => ours[at] !== theirs[at])).toEqual([]);
  });

  const grown = roots.flatMap((_, to) =>
    [...new Set([0, to, 1, to - 1, 2 ** Math.floor(Math.log2(to + 1)), draw(to + 1), draw(to + 1)])]
      .filter((from) => from >= 0 && from <= to)
      .map((from) => [from, to] as const),
  );
  const growth = ([from, to]: readonly [number, number], proof: readonly Uint8Array[]): ConsistencyClaim => ({
    from,
    to,
    fromRoot: rootAt(from),
    toRoot: rootAt(to),
    proof,
  });
  const consistenciesByPython = (claims: readonly ConsistencyClaim[]) =>
    python.askEach('consistencies', {
      claims: claims.map(({ fromRoot, toRoot, ...claim }) => ({ ...claim, from_root: fromRoot, to_root: toRoot })),
    });

  it('consistency proofs are the same, and each verifies those of the other', async () => {
    const ours = await Promise.all(grown.map(([from, to]) => consistencyProof(tree, from, to)));
    // RFC 6962 defines none from the empty tree; tlog-witness says that it is empty.
    const defined = grown.filter(([from]) => from > 0);
    const theirs = (await python.askEach('consistency_proofs', { leaves, of: defined })).map(hashes);
    expect(theirs.map((proof) => proof.map(hexOf))).toEqual(
      ours.filter((_, at) => (grown[at]?.[0] ?? 0) > 0).map((proof) => proof.map(hexOf)),
    );
    expect(defined.filter((sizes, at) => !isConsistent(growth(sizes, theirs[at] ?? [])))).toEqual([]);
    const verified = await consistenciesByPython(grown.map((sizes, at) => growth(sizes, ours[at] ?? [])));
    expect(verified.filter((holds) => holds !== true)).toEqual([]);
  });

  it('a consistency proof with a bit turned is refused by both, in whichever hash that is used', async () => {
    const turned: ConsistencyClaim[] = [];
    for (const sizes of grown) {
      const claim = growth(sizes, await consistencyProof(tree, ...sizes));
      turned.push({ ...claim, fromRoot: turn(claim.fromRoot) });
      // Every tree continues the empty one.
      if (claim.from > 0) turned.push({ ...claim, toRoot: turn(claim.toRoot) });
      const at = draw(claim.proof.length + 1);
      if (at < claim.proof.length) turned.push({ ...claim, proof: claim.proof.with(at, turn(claim.proof[at]!)) });
    }
    expect(turned.filter(isConsistent)).toEqual([]);
    expect((await consistenciesByPython(turned)).filter((holds) => holds !== false)).toEqual([]);
  });

  it('a consistency proof for other sizes, or with other hashes, is judged alike', async () => {
    const claims: ConsistencyClaim[] = [];
    for (const sizes of grown) {
      const claim = growth(sizes, await consistencyProof(tree, ...sizes));
      const { from, to, fromRoot, toRoot, proof } = claim;
      claims.push(
        { ...claim, from: from + 1 },
        { ...claim, from: draw(to + 2) },
        { ...claim, from: 0 },
        { ...claim, to: to + 1 },
        { ...claim, to: draw(400) },
        { ...claim, from: to },
        { ...claim, from: to, to: from },
        { ...claim, toRoot: fromRoot },
        { ...claim, fromRoot: toRoot },
        { ...claim, proof: proof.slice(1) },
        { ...claim, proof: proof.slice(0, -1) },
        { ...claim, proof: [fromRoot, ...proof] },
        { ...claim, proof: [...proof, toRoot] },
        { ...claim, proof: [] },
      );
    }
    const ours = claims.map(isConsistent);
    const theirs = await consistenciesByPython(claims);
    expect(claims.filter((_, at) => ours[at] !== theirs[at])).toEqual([]);
  });

  describe('ranges', () => {
    const given = async (count: number) => {
      const ranges: { range: LedgerRange; leaves: readonly Uint8Array[]; root: Uint8Array }[] = [];
      for (let index = 0; index < count; index += 1) {
        const end = 1 + draw(size);
        const first = 1 + draw(end);
        const last = first + draw(end - first + 1);
        const range = await ledgerRange(tree, { first, last, size: end });
        ranges.push({ range, leaves: leaves.slice(first - 1, last), root: rootAt(end) });
      }
      return ranges;
    };
    const ourRoot = (range: LedgerRange, own: readonly Uint8Array[]): string | null => {
      try {
        return hexOf(rootOfRange(range, own));
      } catch (error) {
        if (error instanceof LedgerRangeError) return null;
        throw error;
      }
    };
    const theirRoots = async (ranges: readonly { range: LedgerRange; leaves: readonly Uint8Array[] }[]) =>
      (await python.askEach('range_roots', { ranges })).map((root) => (root === null ? null : hexOf(bytesIn(root))));

    it('any range of deeds leads both to the root of the tree', async () => {
      const ranges = await given(600);
      expect(await theirRoots(ranges)).toEqual(ranges.map(({ root }) => hexOf(root)));
      expect(ranges.map(({ range, leaves: own }) => ourRoot(range, own))).toEqual(
        ranges.map(({ root }) => hexOf(root)),
      );
    });

    it('a tree of 2^40 deeds is folded alike, of which only the deeds of the range are there', async () => {
      const wide = [1, 5, 999].map((count) => {
        const [first, end] = [2 ** 39 + draw(1_000), 2 ** 40 + draw(1_000)];
        const last = first + count - 1;
        const hashesFor = (from: number, to: number) =>
          partsOf(from, to).map((text) => Uint8Array.from(leafHash(bytesOf(text))));
        const range = { first, last, size: end, left: hashesFor(0, first - 1), right: hashesFor(last, end) };
        return { range, leaves: leaves.concat(leaves, leaves, leaves).slice(0, count) };
      });
      const ours = wide.map(({ range, leaves: own }) => ourRoot(range, own));
      expect(ours).not.toContain(null);
      expect(await theirRoots(wide)).toEqual(ours);
    });

    /** One text for each maximal complete subtree of a range, counted by its definition. */
    const partsOf = (from: number, to: number): readonly string[] => {
      const parts: string[] = [];
      for (let at = from; at < to;) {
        let width = 1;
        while (at % (width * 2) === 0 && at + width * 2 <= to) width *= 2;
        parts.push(`${at} ${width}`);
        at += width;
      }
      return parts;
    };

    const spelled = (item: { readonly range: LedgerRange; readonly leaves: readonly Uint8Array[] }): string =>
      JSON.stringify(item, (_name, value: unknown) => (value instanceof Uint8Array ? hexOf(value) : value));

    it('a range that was tampered with leads both to no root, or to the same other one', async () => {
      const tampered = (await given(150)).flatMap(({ range, leaves: own, root }) => {
        const { first, last, size: end, left, right } = range;
        const one = own[0] ?? root;
        return [
          { range, leaves: own.with(0, turn(one)) },
          { range, leaves: own.slice(1) },
          { range, leaves: [...own, root] },
          { range, leaves: [] },
          { range: { ...range, size: end + 1 }, leaves: own },
          { range: { ...range, size: last - 1 }, leaves: own },
          { range: { ...range, first: first + 1 }, leaves: own },
          { range: { ...range, first: first + 1, last: last + 1 }, leaves: own },
          { range: { ...range, first: 0 }, leaves: own },
          { range: { ...range, left: [...left, root] }, leaves: own },
          { range: { ...range, left: left.slice(1) }, leaves: own },
          { range: { ...range, right: right.slice(1) }, leaves: own },
          { range: { ...range, right: [root, ...right] }, leaves: own },
          { range: { ...range, left: left.toReversed(), right: right.toReversed() }, leaves: own },
          { range: { ...range, left: left.map(turn) }, leaves: own },
          { range: { ...range, left: left.map((hash) => hash.subarray(1)) }, leaves: own },
        ].map((item) => ({
          ...item,
          root: hexOf(root),
          isChanged: spelled(item) !== spelled({ range, leaves: own }),
          end,
        }));
      });
      const ours = tampered.map(({ range, leaves: own }) => ourRoot(range, own));
      expect(await theirRoots(tampered)).toEqual(ours);
      // The root alone does not say the size: that is the checkpoint's to say.
      const believed = tampered.filter(
        (item, at) => item.isChanged && item.range.size === item.end && ours[at] === item.root,
      );
      expect(believed).toEqual([]);
    });
  });
});
