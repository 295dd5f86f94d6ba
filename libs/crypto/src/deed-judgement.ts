import type { SealedDeed } from './bundle-format.js';
import { DeedBodyError, parseDeedBody } from './deed-body.js';
import { keyFault, type KeyFault, type LinkedBody, type SealKeyEntry } from './deed-chain.js';
import type { DeedBody } from './deed-schema.js';
import { type Digest, digestOf } from './digest.js';
import type { VerifiedPublicKey } from './ed25519.js';
import { isSealSignedInPool, type Seal, type SealVerifier } from './seal.js';

/** Faults of the key behind a deed. Hashes and links can be judged on, so that a verdict can say whether they hold. */
export type TrustFault = 'unknown_key' | 'key_not_pinned' | KeyFault;

/** Faults that a deed shows by itself, before its seal is judged. In the order in which they are judged. */
export type OwnFault = 'body_hash_mismatch' | 'not_canonical' | 'schema' | 'wrong_seq' | 'wrong_kid' | 'wrong_org';

/** What is known of the key that a deed names: a trusted key, or why there is none. */
export type KeyLookup =
  | { readonly entry: SealKeyEntry; readonly publicKey: VerifiedPublicKey }
  | { readonly publicKey: null; readonly fault: 'unknown_key' | 'key_not_pinned' };

/** A deed that is whole by itself but for its signature, which was not verified yet. */
export interface ReadDeed<Body extends LinkedBody = DeedBody> {
  readonly fault: null;
  readonly body: Body;
  readonly seal: Seal;
  readonly key: KeyLookup;
}

/** A deed that is whole by itself. Its signature was verified, or is being verified on a thread of the pool. */
export interface SoundDeed<Body extends LinkedBody = DeedBody> {
  readonly fault: null;
  readonly body: Body;
  readonly bodyHash: Digest;
  readonly trustFault: TrustFault | null;
  /** Null when there is no key to verify with; then `trustFault` says why. */
  readonly isSigned: boolean | Promise<boolean> | null;
}

/** What one deed says by itself, before it is compared with its place in the chain. */
export type DeedJudgement<Fault extends string, Body extends LinkedBody = DeedBody> =
  { readonly fault: Fault } | SoundDeed<Body>;

/**
 * Judges everything of a deed that needs no other deed: hash, canonical form, schema, what stands beside the bytes,
 * and the key. One rule for bundles and for the ledger itself. `verify` says where signatures are verified.
 */
export const judgeDeed = (
  deed: SealedDeed,
  org: string,
  findKey: (kid: string) => KeyLookup,
  verify: SealVerifier = isSealSignedInPool,
): DeedJudgement<OwnFault> => {
  const read = readDeed(deed, org, findKey);
  return read.fault === null ? judgeSeal(read, verify) : read;
};

/** The first half of `judgeDeed`: everything but the signature and the key behind it. */
export const readDeed = (
  { seq, body: bytes, seal }: SealedDeed,
  org: string,
  findKey: (kid: string) => KeyLookup,
): { readonly fault: OwnFault } | ReadDeed => {
  if (digestOf(bytes) !== seal.bodyHash) return { fault: 'body_hash_mismatch' };
  const body = readBody(bytes);
  if (typeof body === 'string') return { fault: body };
  if (body.seq !== seq) return { fault: 'wrong_seq' };
  if (body.chain.kid !== seal.kid) return { fault: 'wrong_kid' };
  if (body.org !== org) return { fault: 'wrong_org' };
  return { fault: null, body, seal, key: findKey(seal.kid) };
};

/** The second half. */
export const judgeSeal = <Body extends LinkedBody>(
  { body, seal, key }: ReadDeed<Body>,
  verify: SealVerifier,
): SoundDeed<Body> => {
  const { bodyHash } = seal;
  // Without a key that the reader vouches for there is nothing to verify a signature with.
  if (key.publicKey === null) {
    return { fault: null, body, bodyHash, trustFault: key.fault, isSigned: null };
  }
  const isSigned = verify(seal, key.publicKey);
  return { fault: null, body, bodyHash, trustFault: keyFault(key.entry, body.issued_at), isSigned };
};

const readBody = (bytes: Uint8Array): DeedBody | DeedBodyError['reason'] => {
  try {
    return parseDeedBody(bytes);
  } catch (error) {
    if (error instanceof DeedBodyError) return error.reason;
    throw error;
  }
};
