import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentOf, bundleOf, givenChain, packed, rawOf } from '../../libs/crypto/src/testing/given-chain.js';
import { honestNote, witnessed, witnessedBundle } from '../../libs/crypto/src/testing/witnessed-bundle.js';
import { objectsIn, runInProcess } from '../support/run-program.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compare-'));
});
afterAll(() => rm(folder, { recursive: true }));

const file = async (name: string, content: Uint8Array | string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};

const compare = async (one: string, other: string) => {
  const { code, stdout, stderr } = await runInProcess(['ledger', 'compare', one, other, '--json']);
  return {
    code,
    said: objectsIn(stdout)[0],
    refused: stderr.includes('{') ? objectsIn(stderr.slice(stderr.indexOf('{')))[0] : null,
  };
};

describe('ags ledger compare', () => {
  it('tells one chain that goes on from two that part, and where they part', async () => {
    const chain = givenChain(8);
    const other = givenChain(8, { changeAt: (seq) => (seq === 6 ? { issued_at: '2026-10-01T12:00:06.500Z' } : {}) });
    const [whole, half, forked] = [
      await file('whole.tar.gz', await bundleOf(contentOf(chain))),
      await file('half.tar.gz', await bundleOf(contentOf(chain.slice(0, 4)))),
      await file('forked.tar.gz', await bundleOf(contentOf(other))),
    ];
    expect(await compare(whole, whole)).toMatchObject({ code: 0, said: { result: 'same' } });
    expect(await compare(half, whole)).toMatchObject({ code: 0, said: { result: 'continues', further: whole } });
    expect(await compare(whole, forked)).toMatchObject({
      code: 1,
      said: { result: 'fork', fork_at: 6, fork_is_first: true },
    });
    const { stdout } = await runInProcess(['ledger', 'compare', whole, forked]);
    expect(stdout).toMatch(/^FORK at seq 6: /);
    // Of files that agree, too: whoever made one of them up may have made up both.
    const agreed = await runInProcess(['ledger', 'compare', whole, whole]);
    expect(agreed.stdout).toMatch(/\n\nNot checked here: who signed the checkpoints.*--checkpoint-key and --keys/);
    expect((await compare(whole, whole)).said).toMatchObject({ checkpoint_signatures: 'not_checked' });
  });

  it('compares a part with the checkpoint that covers it, and gives the notes of a fork', async () => {
    const part = await file('part.tar.gz', await packed(await witnessedBundle({ deeds: witnessed.slice(3, 9) })));
    const note = await file('checkpoint.txt', honestNote);
    expect(await compare(part, note)).toMatchObject({
      code: 0,
      said: { result: 'same', notes: [honestNote, honestNote] },
    });
    const forged = await file('forged.txt', honestNote.replace(/\n12\n.{10}/, '\n12\nAAAAAAAAAA'));
    expect(await compare(part, forged)).toMatchObject({
      code: 1,
      said: { result: 'fork', fork_at: 12, fork_is_first: false },
    });
  });

  it('says what is missing where nothing is in common, and what is no ledger', async () => {
    const chain = givenChain(8);
    const begin = await file('begin.tar.gz', await bundleOf(contentOf(chain.slice(0, 2))));
    const note = await file('later.txt', honestNote.replace('\n12\n', '\n7\n'));
    expect(await compare(begin, note)).toMatchObject({ code: 2, refused: { code: 'file_unusable' } });
    expect(await compare(begin, await file('letter.txt', 'Dear Sir'))).toMatchObject({
      code: 2,
      refused: { code: 'file_unusable' },
    });
  });

  it('ends as a fork does for a fork alone: not where a file is broken, cut or unpacked', async () => {
    const whole = await bundleOf(contentOf(givenChain(8)));
    const good = await file('good.tar.gz', whole);
    const cut = await file('cut.tar.gz', whole.subarray(0, -900));
    expect(await compare(good, cut)).toMatchObject({ code: 2, refused: { code: expect.any(String) as string } });
    const raw = rawOf(givenChain(8));
    const changed = await file('changed.tar.gz', await packed({ ...raw, lines: raw.lines.slice(0, -1) }));
    expect((await compare(good, changed)).code).toBe(2);
    const { code, stderr } = await runInProcess([
      ...['ledger', 'compare', good, await file('raw.tar.gz', gunzipSync(whole))],
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('it was unpacked. Packed by gzip -n')]);
  });
});
