import { describe, expect, it } from 'vitest';
import { HONEST_OPTIONS } from './testing/bundle-attacks.js';
import { streamOf } from './testing/given-chain.js';
import { LEFT_OPEN } from './testing/signed-attacks.js';
import { APPROVED, REMOVED, signedBundle, type SignedChoices } from './testing/signed-bundle.js';
import { verifyBundle } from './verify-bundle.js';

const verdictOf = async (choices: SignedChoices) =>
  verifyBundle(streamOf([await signedBundle(choices)]), HONEST_OPTIONS);

/** What was made up is in the list of attacks (testing/signed-attacks.ts). */
describe('decisions that devices signed', () => {
  it.each(LEFT_OPEN)('are counted, and left open by $name', async ({ choices, signed, unchecked }) => {
    expect(await verdictOf(choices)).toMatchObject({
      result: 'intact',
      approvals: { signed, unsigned: 1, unchecked },
    });
  });

  it('may be of a passkey that is removed later', async () => {
    expect(REMOVED).toBeGreaterThan(APPROVED);
    expect((await verdictOf({})).approvals?.signed).toBe(3);
  });
});
