import type { SigningKey } from '#libs/crypto';
import { ForeseenFault, Rounds, timestampOf, type Clock, type Timestamp } from '../kernel/index.js';
import { composeDeed, sealComposed, type ChainEnd, type SealedDeed } from './compose-deed.js';
import type { LedgerTail } from './ledger-tails.js';
import { nextSeal, type NextSeal, type SealKeys } from './seal-key.decider.js';
import { type SealKeysInForce, type SignedDeeds, standing } from './seal-keys-in-force.js';
import type { SealRequest } from './seal-source.js';
import type { SealKeyRing } from './sealing.ports.js';

/** The most bytes of deeds in one append (rule DEED-8). */
const BATCH_MAX_BYTES = 512 * 1024;
/** Signing a deed blocks the event loop for 0.2 ms: two signatures and a verification. */
const DEEDS_A_ROUND = 16;

/** No key is valid now. Outcomes stay recorded and unsealed until a key is (rule DEED-5). */
export class NoActiveSealKey extends ForeseenFault {
  override readonly name = 'NoActiveSealKey';
  constructor() {
    super('no seal key is active: outcomes are recorded and wait. Make one with `npm run ags -- seal-keys rotate`.');
  }
}

export interface SignerParts {
  readonly keysInForce: SealKeysInForce;
  readonly keyRing: SealKeyRing;
  readonly clock: Clock;
}

/** Composes deeds at the end of a ledger and signs them with the active key. */
export class DeedSigner {
  /** The key that signed the last deeds. */
  private signingKey: SigningKey | null = null;
  private readonly rounds = new Rounds(DEEDS_A_ROUND);

  constructor(private readonly parts: SignerParts) {}

  /**
   * Signs the next deeds after a tail, as many as one append holds.
   * @throws {NoActiveSealKey} when no key is valid now
   * @throws {StoreUnavailable} when the seal keys cannot be read
   * @throws what the key ring throws
   */
  async sign(tail: LedgerTail, requests: readonly SealRequest[]): Promise<SignedDeeds> {
    // The time is read before the keys. A rotation that the store's answer does not include yet retires its key at
    // least a minute after that time, however long this process stops before it signs (INV-06).
    const now = timestampOf(this.parts.clock.nowMs());
    return this.parts.keysInForce.sign(({ state }) => this.signUnder(state, now, tail, requests));
  }

  /** Signs one deed synchronously, from cached keys alone; null if they are not enough. */
  signAtOnce(tail: LedgerTail, request: SealRequest): SignedDeeds | null {
    const { signingKey } = this;
    const keys = this.parts.keysInForce.known();
    const seal = keys && nextSealAfter(tail, keys.state, timestampOf(this.parts.clock.nowMs()));
    if (!seal || seal.key.kid !== signingKey?.publicKey.kid) return null;
    const deed = sealComposed(composeDeed(request, tail, seal.issuedAt, seal.key.kid), signingKey);
    return { deeds: [deed], keys: standing(keys) };
  }

  private async signUnder(
    keys: SealKeys,
    now: Timestamp,
    tail: LedgerTail,
    requests: readonly SealRequest[],
  ): Promise<readonly SealedDeed[]> {
    const seal = nextSealAfter(tail, keys, now);
    if (!seal) throw new NoActiveSealKey();
    const { key, issuedAt } = seal;
    const signingKey = await this.parts.keyRing.open(key.kid);
    this.signingKey = signingKey;
    const sealed: SealedDeed[] = [];
    let bytes = 0;
    let previous: ChainEnd = tail;
    for (const request of requests) {
      await this.rounds.room();
      const deed = composeDeed(request, previous, issuedAt, signingKey.publicKey.kid);
      bytes += deed.body.byteLength;
      if (sealed.length > 0 && bytes > BATCH_MAX_BYTES) break;
      sealed.push(sealComposed(deed, signingKey));
      previous = { seq: previous.seq + 1, bodyHash: deed.bodyHash };
    }
    return sealed;
  }
}

/** A deed is never dated before the deed that it follows, even if the clock was set back (rule DEED-4). */
const nextSealAfter = ({ issuedAt }: LedgerTail, keys: SealKeys, now: Timestamp): NextSeal | null =>
  nextSeal(keys, issuedAt !== null && issuedAt > now ? issuedAt : now);
