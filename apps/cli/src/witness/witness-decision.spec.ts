import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_ROOT, encodeHex } from '#libs/crypto';
import { newLog, SeenStatements } from './testing/given-log.js';
import { type CosignedTree, decideCosignature } from './witness-decision.js';

const log = newLog();
const forks = [log, newLog({ branch: 'b', forkAt: 3 }), newLog({ branch: 'c', forkAt: 8 })];
const at = (size: number): CosignedTree => ({ size, root: log.root(size) });
const inconsistent = (why: string): unknown => ({ kind: 'inconsistent', why });

const asked = async (oldSize: number, size: number, other: Partial<CosignedTree> & { proof?: Uint8Array[] } = {}) => ({
  oldSize,
  size,
  root: log.root(size),
  proof: await log.proof(oldSize, size),
  ...other,
});

describe('a witness decides', () => {
  it('to cosign the first checkpoint of a log, of any size, and each that continues it', async () => {
    expect(decideCosignature(await asked(0, 7), null)).toEqual({ kind: 'cosign' });
    expect(decideCosignature(await asked(7, 20), at(7))).toEqual({ kind: 'cosign' });
  });

  it('to cosign the same tree again, and the empty one', async () => {
    expect(decideCosignature(await asked(7, 7), at(7))).toEqual({ kind: 'cosign' });
    expect(decideCosignature(await asked(0, 0), null)).toEqual({ kind: 'cosign' });
    expect(decideCosignature(await asked(0, 0), { size: 0, root: EMPTY_ROOT })).toEqual({ kind: 'cosign' });
  });

  it('that an old size above the size is malformed, before it compares sizes', async () => {
    expect(decideCosignature(await asked(8, 7), at(7))).toEqual({ kind: 'old_above_size' });
  });

  it('that another old size than the last is a conflict, before it looks at any root or proof', async () => {
    const wrong = { root: new Uint8Array(32), proof: [new Uint8Array(32)] };
    for (const oldSize of [0, 6, 8]) {
      expect(decideCosignature(await asked(oldSize, 9, wrong), at(7))).toEqual({ kind: 'conflict', size: 7 });
    }
    expect(decideCosignature(await asked(4, 9), null)).toEqual({ kind: 'conflict', size: 0 });
  });

  it('that the empty tree has one root', async () => {
    expect(decideCosignature(await asked(0, 0, { root: log.root(1) }), null)).toEqual(
      inconsistent('root_of_empty_tree'),
    );
  });

  it('that nothing is proven from size 0', async () => {
    expect(decideCosignature(await asked(0, 9, { proof: [log.root(1)] }), null)).toEqual(
      inconsistent('proof_from_nothing'),
    );
  });

  it('that one size has one root', async () => {
    const root = forks[1]?.root(7) ?? new Uint8Array();
    expect(decideCosignature(await asked(7, 7, { root }), at(7))).toEqual(inconsistent('root_of_same_size'));
  });

  it('that a proof must lead from the last root to the new one', async () => {
    const proof = [...(await log.proof(7, 20))];
    for (const bad of [[], proof.slice(1), proof.toReversed(), [...proof, log.root(1)]]) {
      expect(decideCosignature(await asked(7, 20, { proof: bad }), at(7))).toEqual(inconsistent('proof'));
    }
    expect(decideCosignature(await asked(7, 7, { proof: [log.root(7)] }), at(7))).toEqual(inconsistent('proof'));
  });

  it('never for two roots of one size, and never back, whatever forks of a log ask', async () => {
    const size = fc.integer({ min: 0, max: 24 });
    const fork = fc.constantFrom(...forks);
    const step = fc.record({ proven: fork, told: fork, from: fc.option(size), size, flipped: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const seen = new SeenStatements();
        let latest: CosignedTree | null = null;
        for (const { proven, told, from, size, flipped } of steps) {
          const oldSize: number = from ?? latest?.size ?? 0;
          const proof = (await proven.proof(oldSize, Math.max(size, oldSize))).map((hash) => Uint8Array.from(hash));
          if (flipped && proof[0]?.[0] !== undefined) proof[0][0] ^= 1;
          const tree: CosignedTree = { size, root: told.root(size) };
          if (decideCosignature({ oldSize, proof, ...tree }, latest).kind !== 'cosign') continue;
          expect(seen.see({ size, root: encodeHex(tree.root) })).toBeNull();
          latest = tree;
        }
      }),
      { numRuns: 300 },
    );
  });

  it('for every growth that an honest log asks for', async () => {
    for (let from = 0; from <= 24; from += 1) {
      for (let to = from; to <= 24; to += 1) {
        const latest = from === 0 ? null : at(from);
        expect(decideCosignature(await asked(from, to), latest)).toEqual({ kind: 'cosign' });
      }
    }
  });
});
