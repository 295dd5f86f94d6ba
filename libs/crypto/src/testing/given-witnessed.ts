/** A log, its tree and its witnesses, for the tests of checkpoints and proofs. Every key comes from a text. */
import { sha256 } from '../digest.js';
import { encodeCheckpoint } from '../transparency/checkpoint.js';
import { rootOf } from '../transparency/compact-range.js';
import { leafHash } from '../transparency/merkle-hash.js';
import { MlDsa44SigningKey } from '../transparency/ml-dsa-44.js';
import { ed25519Cosigner, ed25519NoteSigner, mlDsa44Cosigner } from '../transparency/note-key.js';
import { formatNote, type NoteSigner, signNote } from '../transparency/signed-note.js';
import { encodeVkey, type Vkey } from '../transparency/vkey.js';
import { keyFrom } from './given-chain.js';

export const ORIGIN = 'governance.example/ledger/org_1';
export const AT = 1_790_000_000;

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export const leaves = Array.from({ length: 20 }, (_, index) => leafHash(bytesOf(`entry ${index}`)));

export const logKey = (origin = ORIGIN, seed = 'log') => ed25519NoteSigner(origin, keyFrom(seed));
export const witness = (name: string, seed = name, at = AT) => ed25519Cosigner(name, keyFrom(seed), at);
export const pqWitness = (name: string, seed = name, at = AT) =>
  mlDsa44Cosigner(name, new MlDsa44SigningKey(sha256(seed)), at);

export const vkeyText = ({ vkey }: { readonly vkey: Vkey }): string => encodeVkey(vkey);

/** The checkpoint of a tree of so many of the leaves. */
export const checkpointOf = (size: number, origin = ORIGIN): string =>
  encodeCheckpoint({ origin, size, root: rootOf(leaves.slice(0, size)) });

/** The bytes of a checkpoint with these signatures. */
export const noteOf = (text: string, ...signers: readonly NoteSigner[]): Uint8Array =>
  bytesOf(formatNote(signNote(text, signers)));

/** The reason of the error of this class that an action throws. */
export const reasonOf = (
  type: new (...parts: never[]) => Error & { readonly reason: string },
  action: () => unknown,
): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof type) return error.reason;
    throw error;
  }
  return 'accepted';
};
