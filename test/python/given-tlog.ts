/** What the questions to Python are made of. */
import { sha256, SIGNATURE_TYPE, type SigningNoteKey } from '#libs/crypto';

import { AT, logKey, vkeyText, witness } from '../../libs/crypto/src/testing/given-witnessed.js';

export const OTHER_ORIGIN = 'other.example/ledger/org_1';
export const [LOG, OTHER_LOG] = [vkeyText(logKey()), vkeyText(logKey(OTHER_ORIGIN, 'other'))];

/** The witness `w<index>.example`. */
export const witnessAt = (index: number): SigningNoteKey => witness(`w${index}.example`);
/** Its line in a policy. */
export const witnessLine = (index: number, name = `W${index}`): string =>
  `witness ${name} ${vkeyText(witnessAt(index))}`;
export const policyOf = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** A signer as Python is given it. The seed is the one that the key of the same text has here. */
export const signer = (name: string, seedText = name, type: keyof typeof SIGNATURE_TYPE = 'ed25519', at = AT) => ({
  name,
  type: SIGNATURE_TYPE[type],
  seed: Uint8Array.from(sha256(seedText)),
  at,
});

/** Numbers below a bound that look drawn and are the same in every run. */
export const drawer = (seedText: string): ((bound: number) => number) => {
  let count = 0;
  return (bound) => {
    count += 1;
    return Buffer.from(sha256(`${seedText} ${count}`)).readUInt32BE() % bound;
  };
};
