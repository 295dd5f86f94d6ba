import { afterDeed, type ChainPosition, type DeedBody, linkFault, revokedKid } from '#libs/crypto';
import type { JudgedRecord, SoundRecord } from './judged-record.js';
import type { DeedFault, TrustFault } from './ledger-check.js';

export interface FaultAt<Reason> {
  readonly seq: number;
  readonly reason: Reason;
}

/** Compares judged deeds with their places, one after the other, and remembers what is wrong. */
export class LedgerWalk {
  private chainFault: FaultAt<DeedFault> | null = null;
  private trustFault: FaultAt<TrustFault> | null = null;
  private readonly firstSeqByKid = new Map<string, number>();
  private readonly revokedKids = new Set<string>();
  private passed = 0;

  /** @param position the deed before the first one */
  constructor(private position: ChainPosition) {}

  /** @param seq the place at which the ledger holds it. Once the chain is broken nothing after it can be judged. */
  async step(judged: JudgedRecord, seq: number): Promise<void> {
    const fault = seq === this.nextSeq ? (judged.fault ?? (await this.placeFault(judged))) : 'gap';
    if (fault !== null) this.chainFault = { seq: this.nextSeq, reason: fault };
    else if (judged.fault === null) this.advance(judged);
  }

  private async placeFault({ body, sealFault }: SoundRecord): Promise<DeedFault | null> {
    return (await sealFault) ?? linkFault(this.position, body);
  }

  private advance({ body, bodyHash, trustFault }: SoundRecord): void {
    this.position = afterDeed(body, bodyHash);
    this.passed += 1;
    if (trustFault !== null) this.distrust({ seq: body.seq, reason: trustFault });
    this.noteRevocations(body, trustFault !== null);
  }

  /** The chain itself carries revocations, so a key set that hides one is found out. */
  private noteRevocations(body: DeedBody, isDistrusted: boolean): void {
    const { kid } = body.chain;
    if (!this.firstSeqByKid.has(kid)) this.firstSeqByKid.set(kid, body.seq);
    const revoked = revokedKid(body);
    if (revoked !== null && !isDistrusted) this.revokedKids.add(revoked);
    for (const one of this.revokedKids) {
      const seq = this.firstSeqByKid.get(one);
      if (seq !== undefined) this.distrust({ seq, reason: 'seal_key_revoked' });
    }
  }

  /** Keeps the fault of the lowest seq; at the same seq the one that was found first. */
  private distrust(fault: FaultAt<TrustFault>): void {
    if (this.trustFault === null || fault.seq < this.trustFault.seq) this.trustFault = fault;
  }

  /** Of the lowest seq. A deed without its place is never reached by a trust fault, so no two share one. */
  get fault(): FaultAt<DeedFault | TrustFault> | null {
    return this.trustFault ?? this.chainFault;
  }

  get isChainBroken(): boolean {
    return this.chainFault !== null;
  }

  get nextSeq(): number {
    return this.position.seq + 1;
  }

  /** Deeds whose hash, seal and link hold. */
  get deeds(): number {
    return this.passed;
  }
}
