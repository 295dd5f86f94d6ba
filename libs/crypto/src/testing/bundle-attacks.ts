/** Every attack on a bundle. The Python verifier is judged by the same list. */
import type { BundleAttack } from './attacked-bundle.js';
import { lineAttacks, orderAttacks, sealAttacks } from './deed-attacks.js';
import { fileAttacks, promiseAttacks } from './file-attacks.js';

export { DEEDS, honestBundle, HONEST_OPTIONS } from './attacked-bundle.js';

/** Every attack, in groups. */
export const ATTACKS: Readonly<Record<string, readonly BundleAttack[]>> = {
  'a line': lineAttacks,
  'the order': orderAttacks,
  'the seal': sealAttacks,
  'what the bundle promises': promiseAttacks,
  'the file': fileAttacks,
};
