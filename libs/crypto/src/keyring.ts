import { BundleFormatError } from './bundle-format-error.js';
import { fingerprintOf } from './bundle-format.js';
import type { SealKeyEntry } from './deed-chain.js';
import type { Digest } from './digest.js';
import type { KeyLookup } from './deed-judgement.js';
import { parsePublicKeyText, PublicKeyError, type VerifiedPublicKey } from './ed25519.js';

/**
 * The keys that may vouch for deeds: those listed whose fingerprint the user pinned. Only they are decoded and judged;
 * the others are known by name, so that a verdict can say that a deed's key was not pinned.
 */
export class Keyring {
  readonly #lookups: ReadonlyMap<string, KeyLookup>;
  /** The listed keys in their order. */
  readonly keys: readonly { readonly kid: string; readonly fingerprint: Digest; readonly pinned: boolean }[];

  /** Throws `BundleFormatError` (`bad_keys`) when a pinned key is no point that may be trusted. */
  constructor(
    readonly entries: readonly SealKeyEntry[],
    pins: ReadonlySet<string>,
  ) {
    this.keys = entries.map((entry) => {
      const fingerprint = fingerprintOf(entry);
      return { kid: entry.kid, fingerprint, pinned: pins.has(fingerprint) };
    });
    this.#lookups = new Map(
      entries.map((entry, index) => [
        entry.kid,
        this.keys[index]?.pinned === true
          ? { entry, publicKey: judge(entry) }
          : { publicKey: null, fault: 'key_not_pinned' },
      ]),
    );
  }

  find(kid: string): KeyLookup {
    return this.#lookups.get(kid) ?? { publicKey: null, fault: 'unknown_key' };
  }
}

const judge = (entry: SealKeyEntry): VerifiedPublicKey => {
  try {
    return parsePublicKeyText(entry.public_key);
  } catch (error) {
    if (error instanceof PublicKeyError) throw new BundleFormatError('bad_keys', { cause: error });
    throw error;
  }
};
