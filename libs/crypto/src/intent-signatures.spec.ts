import { describe, expect, it } from 'vitest';
import { HONEST_OPTIONS } from './testing/bundle-attacks.js';
import { streamOf } from './testing/given-chain.js';
import { INTENTS_LEFT_OPEN } from './testing/intent-attacks.js';
import { intentBundle } from './testing/intent-bundle.js';
import { verifyBundle } from './verify-bundle.js';

/** What was made up is in the list of attacks (testing/intent-attacks.ts). */
describe('calls that an agent signed', () => {
  it.each(INTENTS_LEFT_OPEN)('are counted, and left open by $name', async ({ choices, ...intents }) => {
    const { signed, unsigned, unchecked } = intents;
    expect(await verifyBundle(streamOf([await intentBundle(choices)]), HONEST_OPTIONS)).toMatchObject({
      result: 'intact',
      intents: { signed, unsigned, unchecked },
    });
  });
});
