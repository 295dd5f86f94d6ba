import { expect, it } from 'vitest';
import { vkeyOf } from './vkey.ts';

const ORIGIN = 'governance.example/ledger/org_01h2xcejqtf2nbrexx3vqjhp40';

// As `npm run ags -- ledger vkey` prints them.
it.each([
  ['ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', '4f603baa+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea'],
  ['ed25519:A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg', '9d99d7b2+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4'],
])('the verifier key of a tree is the line that the command line prints: %s', async (publicKey, line) => {
  expect(await vkeyOf(ORIGIN, publicKey)).toBe(`${ORIGIN}+${line}`);
});
