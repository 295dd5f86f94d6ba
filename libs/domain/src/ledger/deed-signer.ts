import type { SigningKey } from '#libs/crypto';
import {
  ForeseenFault,
  ONLY_STREAM,
  Rounds,
  streamRef,
  timestampOf,
  type Clock,
  type Folded,
  type FoldedStreams,
  type Timestamp,
} from '../kernel/index.js';
import { composeDeed, sealComposed, type ChainEnd, type SealedDeed } from './compose-deed.js';
import type { LedgerTail } from './ledger-tails.js';
import { nextSeal, type NextSeal, sealKeyDecider, type SealKeys } from './seal-key.decider.js';
import type { SealRequest } from './seal-source.js';
import type { SealKeyRing } from './sealing.ports.js';

/** At most this many bytes in one append (rule DEED-8). */
const BATCH_MAX_BYTES = 512 * 1024;
/** A deed holds the event loop for 0.2 ms: two signatures and a verification. */
const DEEDS_A_ROUND = 16;

const SEAL_KEYS = streamRef(sealKeyDecider, ONLY_STREAM);

/** No key is valid now. Outcomes stay recorded and unsealed until one is (rule DEED-5). */
export class NoActiveSealKey extends ForeseenFault {
  override readonly name = 'NoActiveSealKey';
  constructor() {
    super('no seal key is active: outcomes are recorded and wait. Make one with `npm run ags -- seal-keys rotate`.');
  }
}

/** Deeds that follow each other, not written yet. */
export interface SignedDeeds {
  readonly deeds: readonly SealedDeed[];
  /**
   * The revisions of the seal keys that they were signed under: nothing is sealed under keys that have changed
   * meanwhile.
   */
  readonly keys: ReadonlyMap<string, number>;
}

export interface SignerParts {
  readonly streams: FoldedStreams;
  readonly keyRing: SealKeyRing;
  readonly clock: Clock;
}

/** Makes deeds at the end of a ledger and signs them with the key that is active. */
export class DeedSigner {
  /** The key of the last deeds. */
  private signingKey: SigningKey | null = null;
  private readonly rounds = new Rounds(DEEDS_A_ROUND);

  constructor(private readonly parts: SignerParts) {}

  /**
   * The next deeds after a tail, as many as one append holds.
   * @throws {NoActiveSealKey} {StoreUnavailable} and what the key ring throws
   */
  async sign(tail: LedgerTail, requests: readonly SealRequest[]): Promise<SignedDeeds> {
    // The time is read before the keys are. A rotation that this answer does not know of yet retires its key at least a
    // minute after that time, however long this process stands still before it signs (INV-06).
    const now = timestampOf(this.parts.clock.nowMs());
    const under = async (keys: Folded<SealKeys>): Promise<SignedDeeds> => {
      return { deeds: await this.signUnder(keys.state, now, tail, requests), keys: standing(keys) };
    };
    const { streams } = this.parts;
    if (streams.canRequire) {
      // The append requires that the keys are still these. Where these give no signature, the current ones may.
      const known = streams.known(SEAL_KEYS);
      const signed = known && (await under(known).catch(() => null));
      return signed ?? under(await streams.load(SEAL_KEYS));
    }
    // Signed under the keys as they were, while the store is asked. The signature counts only where they are still the
    // same.
    const [current, signed] = await Promise.allSettled([
      streams.load(SEAL_KEYS),
      streams.remembered(SEAL_KEYS).then(async (keys) => ({ keys, signed: await under(keys) })),
    ]);
    if (current.status === 'rejected') throw current.reason;
    const isCurrent = signed.status === 'fulfilled' && signed.value.keys.revision === current.value.revision;
    return isCurrent ? signed.value.signed : under(current.value);
  }

  /** One deed, at once, by what is known without asking anybody; null where that is not enough. */
  signAtOnce(tail: LedgerTail, request: SealRequest): SignedDeeds | null {
    const { signingKey } = this;
    const keys = this.parts.streams.known(SEAL_KEYS);
    const seal = keys && nextSealAfter(tail, keys.state, timestampOf(this.parts.clock.nowMs()));
    if (!seal || seal.key.kid !== signingKey?.publicKey.kid) return null;
    const deed = sealComposed(composeDeed(request, tail, seal.issuedAt, seal.key.kid), signingKey);
    return { deeds: [deed], keys: standing(keys) };
  }

  /** From now on deeds are signed under the keys as they are now. @throws {StoreUnavailable} */
  async askAgain(): Promise<void> {
    await this.parts.streams.load(SEAL_KEYS);
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

/** A clock that goes back cannot put a deed before the one it follows (rule DEED-4). */
const nextSealAfter = ({ issuedAt }: LedgerTail, keys: SealKeys, now: Timestamp): NextSeal | null =>
  nextSeal(keys, issuedAt !== null && issuedAt > now ? issuedAt : now);

const standing = ({ stream, revision }: Folded<SealKeys>): ReadonlyMap<string, number> =>
  // Without a stream there is no key, and nothing is signed.
  new Map(revision === 'no_stream' ? [] : [[stream, revision]]);
