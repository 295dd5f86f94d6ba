import { afterDeed, type ChainPosition, type LinkedBody, linkFault, type LinkFault, revokedKid } from './deed-chain.js';
import type { DeedJudgement, SoundDeed, TrustFault } from './deed-judgement.js';
import type { Digest } from './digest.js';

/** A fault and the deed it stands at. */
export interface FaultAt<Reason extends string> {
  readonly seq: number;
  readonly reason: Reason;
}

/** A deed by its place and hash: the end of a chain, or a point of it that somebody remembers. */
export interface ChainHead {
  readonly seq: number;
  readonly body_hash: Digest;
}

/** What a walk finds beside the faults that its judgements bring along. */
export type PlaceFault = 'bad_signature' | LinkFault;

/** A rule of the caller's about a deed that continues the chain; the fault it finds, or null. */
export type PlaceRule<Fault extends string> = (body: LinkedBody, bodyHash: Digest) => Fault | null;

/**
 * Walks a chain deed by deed and remembers what is wrong. A fault of a deed or of its place ends the walk, because what
 * follows cannot be judged; a fault of a key does not, so that hashes and links are judged to the end.
 */
export class ChainWalk<Fault extends string> {
  #chainFault: FaultAt<Fault | PlaceFault> | null = null;
  #trustFault: FaultAt<TrustFault> | null = null;
  #deeds = 0;
  readonly #firstSeqByKid = new Map<string, number>();
  readonly #deedsByKid = new Map<string, number>();
  readonly #revokedKids = new Set<string>();
  #position: ChainPosition;

  /** `position` is the deed before the first one; `rule` is judged after the link. */
  constructor(
    position: ChainPosition,
    private readonly rule: PlaceRule<Fault> = () => null,
  ) {
    this.#position = position;
  }

  /** Compares the next deed with its place. */
  async step(judgement: DeedJudgement<Fault, LinkedBody>): Promise<void> {
    const fault = isSound(judgement) ? this.placeFault(judgement, await judgement.isSigned) : judgement.fault;
    if (fault !== null) this.break(fault);
    else if (isSound(judgement)) this.advance(judgement);
  }

  /** Ends the walk at the next deed, for a reason that stands outside it. */
  break(reason: Fault | PlaceFault): void {
    this.#chainFault ??= { seq: this.nextSeq, reason };
  }

  private placeFault(
    { body, bodyHash, trustFault }: SoundDeed<LinkedBody>,
    isSigned: boolean | null,
  ): Fault | PlaceFault | null {
    if (isSigned === false) return 'bad_signature';
    if (trustFault !== null) this.distrust({ seq: body.seq, reason: trustFault });
    // Also of a deed that does not get into the chain: its key is not trusted, whatever else is wrong with it.
    if (this.#revokedKids.has(body.chain.kid)) this.distrust({ seq: body.seq, reason: 'seal_key_revoked' });
    return linkFault(this.#position, body) ?? this.rule(body, bodyHash);
  }

  private advance({ body, bodyHash, trustFault }: SoundDeed<LinkedBody>): void {
    const { kid } = body.chain;
    this.#position = afterDeed(body, bodyHash);
    this.#deeds += 1;
    this.#deedsByKid.set(kid, this.deedsUnder(kid) + 1);
    if (!this.#firstSeqByKid.has(kid)) this.#firstSeqByKid.set(kid, body.seq);
    const revoked = revokedKid(body);
    // The chain itself carries revocations, so a key set that hides one is found out. A revocation by a key that is not
    // trusted is the word of a stranger.
    if (revoked !== null && trustFault === null) this.#revokedKids.add(revoked);
    for (const one of this.#revokedKids) {
      const seq = this.#firstSeqByKid.get(one);
      if (seq !== undefined) this.distrust({ seq, reason: 'seal_key_revoked' });
    }
  }

  /** Keeps the fault of the lowest seq; at the same seq the one that was found first. */
  private distrust(fault: FaultAt<TrustFault>): void {
    if (this.#trustFault === null || fault.seq < this.#trustFault.seq) this.#trustFault = fault;
  }

  /** The fault of the lowest seq; a key that is not trusted comes before what else is wrong with its deed. */
  get fault(): FaultAt<Fault | PlaceFault | TrustFault> | null {
    const [chain, trust] = [this.#chainFault, this.#trustFault];
    if (chain === null || trust === null) return chain ?? trust;
    return chain.seq < trust.seq ? chain : trust;
  }

  get isChainBroken(): boolean {
    return this.#chainFault !== null;
  }

  get nextSeq(): number {
    return this.#position.seq + 1;
  }

  /** How many deeds are linked without a break. */
  get deeds(): number {
    return this.#deeds;
  }

  /** The last deed whose hashes and links held, null when none did. */
  get head(): ChainHead | null {
    const { seq, bodyHash } = this.#position;
    return this.#deeds === 0 || bodyHash === null ? null : { seq, body_hash: bodyHash };
  }

  deedsUnder(kid: string): number {
    return this.#deedsByKid.get(kid) ?? 0;
  }
}

const isSound = <Fault extends string>(
  judgement: DeedJudgement<Fault, LinkedBody>,
): judgement is SoundDeed<LinkedBody> => judgement.fault === null;
