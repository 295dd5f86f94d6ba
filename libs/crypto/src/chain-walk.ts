import type { BundleManifest } from './bundle-format.js';
import { parseDeedLine } from './bundle-format.js';
import type { ChainHead, DeedFault, Fault, TrustFault } from './bundle-verdict.js';
import { DeedBodyError, parseDeedBody } from './deed-body.js';
import { afterDeed, type ChainPosition, keyFault, linkFault, revokedKid } from './deed-chain.js';
import type { DeedBody } from './deed-schema.js';
import { type Digest, digestOf } from './digest.js';
import type { Keyring } from './keyring.js';
import { type SealFault, sealFaultInPool } from './seal.js';

/** What a line says by itself, before it is compared with its place in the chain. */
export type LineJudgement = { readonly fault: DeedFault } | SoundLine;

interface SoundLine {
  readonly fault: null;
  readonly body: DeedBody;
  readonly bodyHash: Digest;
  readonly trustFault: TrustFault | null;
  readonly sealFault: Promise<SealFault | null>;
}

/**
 * Judges everything of the line that must hold the deed `seq` of this bundle and that needs no other deed.
 * The signatures are verified on threads of the pool.
 */
export const judgeLine = (bytes: Buffer, seq: number, manifest: BundleManifest, keyring: Keyring): LineJudgement => {
  const deed = parseDeedLine(bytes);
  if (deed === null) return { fault: 'bad_line' };
  if (deed.seq !== seq) return { fault: deed.seq > seq ? 'gap' : 'duplicate' };
  if (manifest.last_seq === null || seq > manifest.last_seq) return { fault: 'extra_deed' };
  const bodyHash = digestOf(deed.body);
  if (bodyHash !== deed.seal.bodyHash) return { fault: 'body_hash_mismatch' };
  const body = readBody(deed.body);
  if (typeof body === 'string') return { fault: body };
  if (body.seq !== seq) return { fault: 'wrong_seq' };
  if (body.chain.kid !== deed.seal.kid) return { fault: 'wrong_kid' };
  if (body.org !== manifest.org) return { fault: 'wrong_org' };
  const key = keyring.find(deed.seal.kid);
  // Without a key that the user vouches for there is nothing to verify a signature with.
  if (key.publicKey === null) {
    return { fault: null, body, bodyHash, trustFault: key.fault, sealFault: Promise.resolve(null) };
  }
  const sealFault = sealFaultInPool(deed.body, deed.seal, key.publicKey);
  return { fault: null, body, bodyHash, trustFault: keyFault(key.entry, body.issued_at), sealFault };
};

const readBody = (bytes: Uint8Array): DeedBody | DeedBodyError['reason'] => {
  try {
    return parseDeedBody(bytes);
  } catch (error) {
    if (error instanceof DeedBodyError) return error.reason;
    throw error;
  }
};

/** Walks the lines of a bundle in order and remembers what is wrong. */
export class ChainWalk {
  #position: ChainPosition;
  #chainFault: Fault<DeedFault> | null = null;
  #trustFault: Fault<TrustFault> | null = null;
  #deeds = 0;
  readonly #firstSeqByKid = new Map<string, number>();
  readonly #deedsByKid = new Map<string, number>();
  readonly #revokedKids = new Set<string>();

  constructor(
    private readonly manifest: BundleManifest,
    /** Points that the chain must pass through: the manifest's own head and those that the user knows. */
    private readonly knownHeads: readonly ChainHead[],
  ) {
    const seq = (manifest.first_seq ?? 1) - 1;
    this.#position = { org: manifest.org, seq, bodyHash: manifest.prev_hash, issuedAt: null };
    if (this.contradictsHead(seq, manifest.prev_hash)) this.#chainFault = { seq: seq + 1, reason: 'head_mismatch' };
  }

  /** Compares the next line with its place. Once the chain is broken nothing after it can be judged. */
  async step(judgement: LineJudgement): Promise<void> {
    const fault = judgement.fault ?? (await this.placeFault(judgement));
    if (fault !== null) this.#chainFault = { seq: this.nextSeq, reason: fault };
    else if (judgement.fault === null) this.advance(judgement);
  }

  private async placeFault({ body, bodyHash, trustFault, sealFault }: SoundLine): Promise<DeedFault | null> {
    const brokenSeal = await sealFault;
    if (brokenSeal !== null) return brokenSeal;
    if (trustFault !== null) this.distrust({ seq: body.seq, reason: trustFault });
    const link = linkFault(this.#position, body);
    if (link !== null) return link;
    const { from, to } = this.manifest;
    if ((from !== null && body.issued_at < from) || (to !== null && body.issued_at >= to)) return 'outside_range';
    return this.contradictsHead(body.seq, bodyHash) ? 'head_mismatch' : null;
  }

  private contradictsHead(seq: number, bodyHash: Digest | null): boolean {
    return this.knownHeads.some((head) => head.seq === seq && head.body_hash !== bodyHash);
  }

  private advance({ body, bodyHash, trustFault }: SoundLine): void {
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
  private distrust(fault: Fault<TrustFault>): void {
    if (this.#trustFault === null || fault.seq < this.#trustFault.seq) this.#trustFault = fault;
  }

  /** The fault of the lowest seq; a key that is not trusted comes before what else is wrong with its deed. */
  get fault(): Fault | null {
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
