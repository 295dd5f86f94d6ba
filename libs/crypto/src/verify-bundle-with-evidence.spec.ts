import { logKey } from './testing/given-witnessed.js';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { writeBundle } from './export-bundle.js';
import { readBundle } from './read-bundle.js';
import { collect, contentOf, packed, streamOf } from './testing/given-chain.js';
import { HONEST_OPTIONS } from './testing/attacked-bundle.js';
import { LESS_EVIDENCE, UNUSUAL_EVIDENCE, WITNESSED_ATTACKS } from './testing/witnessed-attacks.js';
import {
  BOTH,
  encoded,
  HELD,
  honestNote,
  LEDGER_ORIGIN,
  ledgerKey,
  linesOf,
  noteText,
  TREE,
  treeText,
  witnessed,
  witnessedBundle,
} from './testing/witnessed-bundle.js';
import { verifyBundle, type VerifyOptions } from './verify-bundle.js';

const verify = (bytes: Uint8Array, change: Partial<VerifyOptions> = {}) =>
  verifyBundle(streamOf([bytes]), { ...HONEST_OPTIONS, ...change });

const all = linesOf(witnessed.slice(0, HELD));
const count = (...kinds: readonly string[]): number => all.filter(({ kind }) => kinds.includes(kind)).length;
const counts = {
  given: count('opened', 'document'),
  removed: 1,
  missing: 1,
  unproven: count('told', 'name'),
  not_given: 0,
};

describe('a bundle with its checkpoint and its evidence', () => {
  it('is intact, and says how far it is witnessed and how much is given', async () => {
    const verdict = await verify(await packed(await witnessedBundle()), { witnesses: BOTH });
    expect(verdict).toMatchObject({
      result: 'intact',
      deeds: HELD,
      end_from: 'bundle',
      checkpoint: { size: TREE, signed: true, made_by: LEDGER_ORIGIN },
      witnesses: [
        { name: 'anna', at: '2026-09-21T14:14:20.000Z', counts: true },
        { name: 'ben', at: '2026-09-21T14:13:20.000Z', counts: true },
      ],
      quorum: 'met',
      exists_since: '2026-09-21T14:14:20.000Z',
      evidence: counts,
    });
  });

  it.each(Array.from({ length: TREE }, (_, index) => index + 1))('leads to the root from deed %i on', async (first) => {
    const deeds = witnessed.slice(first - 1);
    const bytes = await packed(await witnessedBundle({ deeds, manifest: { from: '2026-10-01T12:00:00.000Z' } }));
    expect(await verify(bytes, { witnesses: BOTH })).toMatchObject({ result: 'intact', end_from: 'witnesses' });
  });

  it('may be of a tree that an operator has begun anew', async () => {
    const origin = `${LEDGER_ORIGIN}/2`;
    const key = logKey(origin);
    const bytes = await packed(await witnessedBundle({ note: noteText(treeText(witnessed, origin), key) }));
    const verdict = await verify(bytes, { checkpointKeys: [key.vkey] });
    expect(verdict).toMatchObject({ result: 'intact', checkpoint: { signed: true, made_by: origin } });
  });

  it('is weighed by nobody where the reader trusts no log', async () => {
    const verdict = await verify(await packed(await witnessedBundle()));
    expect(verdict).toMatchObject({ result: 'intact', checkpoint: { signed: false }, witnesses: [], quorum: null });
  });

  it('needs no witness where the reader asks for none', async () => {
    const verdict = await verify(await packed(await witnessedBundle()), { checkpointKeys: [ledgerKey.vkey] });
    expect(verdict).toMatchObject({
      result: 'intact',
      checkpoint: { signed: true },
      quorum: 'none',
      exists_since: null,
    });
  });

  it.each([HELD, 0])('is what the writer writes, also when it must read the evidence again (%i)', async (kept) => {
    const deeds = witnessed.slice(0, HELD);
    const lines = linesOf(deeds);
    const more = kept === 0 ? Array.from({ length: 9 }, () => Buffer.alloc(1_048_576)) : [];
    const raw = await witnessedBundle({ lines: [...more, ...encoded(lines)] });
    const [parts, range] = [await partsOf(await packed(raw), kept > 0), raw.more?.[1]?.[1]];
    const bytes = await collect(
      writeBundle({
        ...contentOf(deeds),
        additions: {
          checkpoint: { note: honestNote, range: parts.range },
          evidence: {
            of: ({ seq }) =>
              Promise.resolve([
                ...(seq === 1 ? more : []),
                ...encoded(lines.filter((line) => 'seq' in line && line.seq === seq)),
              ]),
            rest: () => Promise.resolve(encoded(lines.filter((line) => !('seq' in line)))),
          },
        },
      }),
    );
    expect(range).toBeDefined();
    expect(gunzipSync(bytes).equals(gunzipSync(await packed(raw)))).toBe(true);
  });

  it.each([1, -1])('stays cut where the evidence has changed between its two readings (%i)', async (more) => {
    const large = Array.from({ length: 9 }, () => Buffer.alloc(1_048_576));
    let asked = 0;
    const rest = () =>
      Promise.resolve(Array.from({ length: 2 + (asked++ === 0 ? 0 : more) }, () => Buffer.from('line\n')));
    const evidence = { of: ({ seq }: { seq: number }) => Promise.resolve(seq === 1 ? large : []), rest };
    const additions = { checkpoint: null, evidence };
    await expect(collect(writeBundle({ ...contentOf(witnessed.slice(0, 2)), additions }))).rejects.toThrow(
      `payloads.ndjson is ${more > 0 ? 'longer' : 'shorter'} than was said`,
    );
  });

  it('can be read part by part', async () => {
    const { kinds, lines } = await partsOf(await packed(await witnessedBundle()));
    expect(kinds).toEqual(['manifest', 'keys', 'deed', 'checkpoint', 'range', 'payload']);
    expect(encoded(lines)).toEqual(encoded(linesOf(witnessed.slice(0, HELD))));
  });

  it('is judged as far as it goes when it holds fewer deeds than it says', async () => {
    const raw = await witnessedBundle();
    const verdict = await verify(await packed({ ...raw, lines: raw.lines.slice(0, -1) }), { witnesses: BOTH });
    expect(verdict).toMatchObject({
      result: 'incomplete',
      reason: 'missing_deeds',
      first_bad_seq: HELD,
      checkpoint: null,
    });
  });

  it.each(LESS_EVIDENCE)('counts what was taken out of it: %s', async (_, values, bytes) => {
    expect(await verify(await bytes())).toMatchObject({ result: 'intact', evidence: { not_given: values } });
  });

  it.each(UNUSUAL_EVIDENCE)('is intact with less of it, and with anything that JSON can say (%#)', async (bytes) => {
    expect(await verify(await bytes())).toMatchObject({ result: 'intact' });
  });

  it('needs a log for a policy', async () => {
    const witnesses = { ...BOTH, logs: [] };
    await expect(verify(await packed(await witnessedBundle()), { witnesses })).rejects.toThrow(TypeError);
  });
});

const partsOf = async (bytes: Uint8Array, toTheEnd = true) => {
  const kinds = new Set<string>();
  const lines = [];
  let range = null;
  for await (const part of readBundle(streamOf([bytes]))) {
    kinds.add(part.part);
    if (part.part === 'range') range = part.range;
    if (part.part === 'payload') lines.push(part.line);
    if (range !== null && !toTheEnd) break;
  }
  if (range === null) throw new Error('no range');
  return { kinds: [...kinds], lines, range };
};

describe.each(Object.entries(WITNESSED_ATTACKS))('attacks on %s', (_group, attacks) => {
  it.each(attacks)('$name: $reason', async ({ bytes, options, result, reason, seq }) => {
    const verdict = await verify(await bytes(), options);
    expect({ result: verdict.result, reason: verdict.reason, seq: verdict.first_bad_seq }).toEqual({
      result,
      reason,
      seq,
    });
  });
});
