import { ONLY_STREAM, streamRef, type Folded, type FoldedStreams } from '../kernel/index.js';
import type { SealedDeed } from './compose-deed.js';
import { sealKeyDecider, type SealKeys } from './seal-key.decider.js';

/** Consecutive deeds that are signed and not yet written. */
export interface SignedDeeds {
  readonly deeds: readonly SealedDeed[];
  /**
   * The revision of the seal keys' stream at which these deeds may be written: if it has moved, they are signed again.
   * Empty if the store was asked for the keys, which says enough (INV-06).
   */
  readonly keys: ReadonlyMap<string, number>;
}

/** @throws {NoActiveSealKey} when none of these keys is valid now */
export type SignUnder = (keys: Folded<SealKeys>) => Promise<readonly SealedDeed[]>;

const SEAL_KEYS = streamRef(sealKeyDecider, ONLY_STREAM);

/**
 * Makes sure that deeds are signed by a key that counts when they are written. There are two ways, as there are of
 * `CompoundAppends`: {@link RequiredSealKeys} and {@link AskedSealKeys}.
 */
export abstract class SealKeysInForce {
  constructor(protected readonly streams: FoldedStreams) {}

  /** @throws {StoreUnavailable} when the keys cannot be read */
  abstract sign(under: SignUnder): Promise<SignedDeeds>;

  /** The cached keys, for a deed whose commit requires them in any case; null if none are cached. */
  known(): Folded<SealKeys> | null {
    return this.streams.known(SEAL_KEYS);
  }

  /**
   * Loads the current keys, so that the next deeds are signed with them.
   * @throws {StoreUnavailable} when the keys cannot be read
   */
  async askAgain(): Promise<void> {
    await this.streams.load(SEAL_KEYS);
  }
}

/** Signs with the cached keys, because the commit requires that they have not changed. */
export class RequiredSealKeys extends SealKeysInForce {
  async sign(under: SignUnder): Promise<SignedDeeds> {
    const signedUnder = async (keys: Folded<SealKeys>): Promise<SignedDeeds> => {
      return { deeds: await under(keys), keys: standing(keys) };
    };
    const known = this.known();
    // If the cached keys give no signature, the current ones may.
    const signed = known && (await signedUnder(known).catch(() => null));
    return signed ?? signedUnder(await this.streams.load(SEAL_KEYS));
  }
}

/**
 * Signs with the cached keys while the store is asked for the current ones. The signature counts only if they are the
 * same.
 */
export class AskedSealKeys extends SealKeysInForce {
  async sign(under: SignUnder): Promise<SignedDeeds> {
    const [current, signed] = await Promise.allSettled([
      this.streams.load(SEAL_KEYS),
      this.streams.remembered(SEAL_KEYS).then(async (keys) => ({ keys, deeds: await under(keys) })),
    ]);
    if (current.status === 'rejected') throw current.reason;
    const isCurrent = signed.status === 'fulfilled' && signed.value.keys.revision === current.value.revision;
    return { deeds: isCurrent ? signed.value.deeds : await under(current.value), keys: NOTHING_REQUIRED };
  }
}

const NOTHING_REQUIRED: ReadonlyMap<string, number> = new Map();

/** What the commit of deeds that were signed under these keys must require. */
export const standing = ({ stream, revision }: Folded<SealKeys>): ReadonlyMap<string, number> =>
  // Without a stream there is no key, so nothing is signed.
  new Map(revision === 'no_stream' ? [] : [[stream, revision]]);
