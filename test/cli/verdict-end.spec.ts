import { expect, it } from 'vitest';
import { verifyBundle } from '#libs/crypto';
import { pageOfVerdict, textOfPage } from '#libs/evidence';
import { verdictText } from '../../apps/cli/src/commands/verdict-text.js';
import { HONEST_OPTIONS } from '../../libs/crypto/src/testing/attacked-bundle.js';
import { packed, streamOf } from '../../libs/crypto/src/testing/given-chain.js';
import { BOTH, TREE, witnessed, witnessedBundle } from '../../libs/crypto/src/testing/witnessed-bundle.js';

it('an end by the word of witnesses is named as that of the checkpoint in the bundle: its size and its time', async () => {
  const manifest = { from: '2026-10-01T12:00:00.000Z' };
  const bytes = await packed(await witnessedBundle({ deeds: witnessed.slice(2), manifest }));
  const verdict = await verifyBundle(streamOf([bytes]), { ...HONEST_OPTIONS, witnesses: BOTH });
  const since = '2026-09-21T14:14:20.000Z';
  expect(verdict).toMatchObject({ end_from: 'witnesses', checkpoint: { size: TREE }, exists_since: since });
  const pages = [verdictText(verdict, undefined, Buffer.alloc(0)), textOfPage(pageOfVerdict(verdict, Buffer.alloc(0)))];
  for (const text of pages.map((page) => page.replace(/\s+/g, ' '))) {
    expect(text).toContain(`What was sealed behind seq ${TREE} since, or before somebody had it witnessed`.slice(5));
    expect(text).toContain(
      `the witnessed checkpoint in this bundle, over ${TREE} deeds, as the witnesses saw it at ${since}`,
    );
    expect(text).toContain('and no later one');
    expect(text).not.toContain('still');
  }
});
