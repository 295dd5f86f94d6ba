import { createReadStream } from 'node:fs';
import { availableParallelism } from 'node:os';

import { BundleFormatError } from './bundle-format-error.js';
import type { BundleManifest } from './bundle-format.js';
import { BundleReader, type LineBlock } from './bundle-reader.js';
import { type CheckpointTrust, type CheckpointWords, NO_CHECKPOINT, trustedLogs } from './bundle-checkpoint.js';
import { BundleTail } from './bundle-tail.js';
import type { BundleFault, BundleVerdict, Gap, LineFault, VerdictReason } from './bundle-verdict.js';
import { bundleWalk } from './bundle-walk.js';
import type { ChainHead, ChainWalk } from './chain-walk.js';
import type { SealKeyEntry } from './deed-chain.js';
import { isDigest } from './digest.js';
import { isId } from './ids.js';
import { Keyring } from './keyring.js';
import { judgeHere, type LineJudge, type LineJudgement } from './line-judge.js';
import { JudgingThreads } from './line-judge-threads.js';
import type { TlogPolicy } from './transparency/tlog-policy.js';
import type { Vkey } from './transparency/vkey.js';

/** What the user knows and the bundle cannot say of itself. */
export interface VerifyOptions {
  /** The organization whose chain this must be. */
  readonly org: string;
  /** Fingerprints (`sha256:` + 64 hex) of the seal keys that the user trusts. A key that is not among them counts for nothing. */
  readonly pins: readonly string[];
  /**
   * A key set fetched from the service (`parsePublishedKeySet`): it alone then says which keys there are, when each was
   * active and which are revoked, and keys.json decides nothing.
   */
  readonly keySet?: readonly SealKeyEntry[];
  /**
   * Points that the chain must pass through: a head that was published elsewhere, or the head of an earlier check. One
   * at `first_seq - 1` is compared with what the first deed links to; one outside the bundle makes it incomplete.
   */
  readonly heads?: readonly ChainHead[];
  /**
   * The keys of the checkpoints that the reader trusts, one for each time it was rotated. A bundle without a checkpoint is
   * then incomplete.
   */
  readonly checkpointKeys?: readonly Vkey[];
  /** The witnesses that the reader asks, and how many of them. Without `checkpointKeys` its logs are those that count. */
  readonly witnesses?: TlogPolicy;
  /**
   * Threads that judge deeds; the verdict is the same with any number. 1, the default: the calling one, busy for some ms at
   * a time. More: so many threads of their own, while the calling one reads. `auto`: one for each core, for a bundle that is
   * large enough to be verified sooner so.
   */
  readonly threads?: number | 'auto';
  /** Told about every thousandth deed and the last one. */
  readonly onProgress?: (deeds: number, total: number) => void;
}

/** Below so many deeds, threads take longer to start than they save. */
const MIN_DEEDS_FOR_THREADS = 3_000;
/** The thread that reads keeps no more of them busy. */
const MAX_AUTO_THREADS = 8;
const DEEDS_PER_PROGRESS = 1_000;

/**
 * Checks an export bundle from a file path or a stream, offline, reading it once with flat memory.
 * Says what it found as a verdict and never throws for anything in the bundle; it throws `TypeError` for a malformed
 * organization id, pin or number of threads, or for a policy without the key of a log, and whatever reading the source or a thread that fails throws.
 */
export const verifyBundle = async (
  source: string | AsyncIterable<Uint8Array>,
  options: VerifyOptions,
): Promise<BundleVerdict> => {
  if (!isId('org', options.org)) throw new TypeError('org is not an organization id');
  if (!options.pins.every(isDigest)) throw new TypeError('a pin is not sha256: and 64 lowercase hex characters');
  if (!isThreads(options.threads ?? 1)) throw new TypeError('threads is not auto or an integer above 0');
  const trust = { keys: options.checkpointKeys ?? [], policy: options.witnesses ?? null };
  if (trust.policy !== null && trustedLogs(trust) === null) throw new TypeError('witnesses need the key of a log');
  const reader = new BundleReader(typeof source === 'string' ? createReadStream(source) : source);
  const check = new BundleCheck(options, trust);
  try {
    await check.read(reader);
  } catch (error) {
    if (!(error instanceof BundleFormatError)) throw error;
    check.fault = error.reason;
  } finally {
    await reader.close();
  }
  return check.verdict();
};

const isThreads = (threads: number | 'auto'): boolean =>
  threads === 'auto' || (Number.isInteger(threads) && threads > 0);

interface Conclusion {
  readonly result: BundleVerdict['result'];
  readonly reason: VerdictReason | null;
  readonly seq: number | null;
}

const INTACT: Conclusion = { result: 'intact', reason: null, seq: null };

const incomplete = (reason: Gap, seq: number | null): Conclusion => ({ result: 'incomplete', reason, seq });
const broken = (reason: VerdictReason, seq: number | null): Conclusion => ({ result: 'broken', reason, seq });

class BundleCheck {
  fault: BundleFault | null = null;
  private manifest: BundleManifest | null = null;
  private keyring: Keyring | null = null;
  private walk: ChainWalk<LineFault> | null = null;
  private tail: BundleTail | null = null;

  constructor(
    private readonly options: VerifyOptions,
    private readonly trust: CheckpointTrust,
  ) {}

  async read(reader: BundleReader): Promise<void> {
    const manifest = await reader.manifest();
    this.manifest = manifest;
    if (manifest.org !== this.options.org) return this.refuse('wrong_org');
    const listed = await reader.keys(manifest);
    const { keySet = listed, pins } = this.options;
    if (hasConflict(listed, keySet)) return this.refuse('key_conflict');
    const keyring = new Keyring(keySet, new Set(pins));
    this.keyring = keyring;
    const walk = bundleWalk(manifest, this.knownHeads);
    this.walk = walk;
    const tail = new BundleTail(manifest, this.trust);
    this.tail = tail;
    const judge = this.judgeOf(manifest, keyring);
    try {
      await this.readDeeds(walk, tail, judge, reader.deeds());
    } finally {
      await judge.close();
    }
    if (!walk.isChainBroken) await tail.read(reader, walk.nextSeq > (manifest.last_seq ?? 0));
  }

  private judgeOf(manifest: BundleManifest, keyring: Keyring): LineJudge {
    const { threads = 1, pins } = this.options;
    const count = threads === 'auto' ? threadsFor(manifest.count) : threads;
    return count === 1
      ? judgeHere(manifest, keyring)
      : new JudgingThreads(count, { manifest, entries: keyring.entries, pins });
  }

  private refuse(fault: BundleFault): void {
    this.fault = fault;
  }

  private get knownHeads(): readonly ChainHead[] {
    return this.options.heads ?? [];
  }

  /** Keeps a window of blocks that are being judged, and walks their deeds in order. */
  private async readDeeds(
    walk: ChainWalk<LineFault>,
    tail: BundleTail,
    judge: LineJudge,
    blocks: AsyncIterable<LineBlock>,
  ): Promise<void> {
    const window: Promise<readonly LineJudgement[]>[] = [];
    const total = this.manifest?.count ?? 0;
    const stepFirst = async (): Promise<void> => {
      for (const judgement of (await window.shift()) ?? []) {
        if (walk.isChainBroken) return;
        await walk.step(judgement);
        if (judgement.fault === null && !walk.isChainBroken) tail.add(judgement);
        this.report(walk.deeds, total);
      }
    };
    try {
      let seq = walk.nextSeq;
      for await (const { bytes, count } of blocks) {
        const judged = judge.judge(bytes, seq);
        // Until its turn comes nobody waits for it, and a failure that nobody waits for would end the process.
        judged.catch(() => undefined);
        window.push(judged);
        seq += count;
        if (window.length >= judge.blocksInFlight) await stepFirst();
        if (walk.isChainBroken) return;
      }
    } finally {
      // Also when reading failed: the deeds before the failure are judged first, because theirs is the lower seq.
      while (window.length > 0 && !walk.isChainBroken) await stepFirst();
    }
  }

  private report(deeds: number, total: number): void {
    if (deeds % DEEDS_PER_PROGRESS === 0 || deeds === total) this.options.onProgress?.(deeds, total);
  }

  verdict(): BundleVerdict {
    const remainder = this.remainder();
    const fault = this.walk?.fault ?? null;
    // What is wrong with a deed comes before what is wrong with, or missing from, the file around it.
    const { result, reason, seq } = fault === null ? remainder : broken(fault.reason, fault.seq);
    return {
      object: 'bundle_verdict',
      result,
      reason,
      first_bad_seq: seq,
      links_intact: this.walk?.isChainBroken === false && remainder.result === 'intact',
      org: this.options.org,
      ...checkedChain(this.manifest, this.walk),
      keys_from: this.options.keySet === undefined ? 'bundle' : 'reader',
      end_from: this.endFrom(),
      keys: (this.keyring?.keys ?? []).map((key) => ({ ...key, deeds: this.walk?.deedsUnder(key.kid) ?? 0 })),
      ...this.words,
      evidence: this.tail?.fault === null ? this.tail.evidence : null,
      approvals: this.tail?.fault === null ? this.tail.approvals : null,
      intents: this.tail?.fault === null ? this.tail.intents : null,
    };
  }

  private get words(): CheckpointWords {
    return (this.tail?.fault === null && this.tail.checkpoint?.words) || NO_CHECKPOINT;
  }

  /** Witnesses know how long the chain was. That their checkpoint ends where the bundle does says that it was not cut there. */
  private endFrom(): BundleVerdict['end_from'] {
    if (isEndKnown(this.manifest, this.knownHeads)) return 'reader';
    const { checkpoint, quorum } = this.words;
    return quorum === 'met' && checkpoint?.size === this.manifest?.last_seq ? 'witnesses' : 'bundle';
  }

  /** What remains to be said of a bundle in which no deed is at fault. */
  private remainder(): Conclusion {
    const { fault, manifest, walk } = this;
    const nextSeq = walk?.nextSeq ?? null;
    if (fault === 'truncated') return incomplete('truncated', nextSeq);
    if (fault !== null) return broken(fault, fault === 'bad_line' ? nextSeq : null);
    if (manifest === null || walk === null) throw new Error('a verdict is asked for before the bundle was read');
    if (this.tail?.fault) return broken(this.tail.fault.reason, this.tail.fault.seq);
    const missing = missingDeeds(manifest, walk.nextSeq, this.knownHeads);
    return missing.result === 'intact' && !this.isWitnessed ? incomplete('not_witnessed', null) : missing;
  }

  /** As far as the reader asks for it. */
  private get isWitnessed(): boolean {
    if (trustedLogs(this.trust) === null) return true;
    const { checkpoint, quorum } = this.words;
    return checkpoint !== null && quorum !== 'not_met';
  }
}

const threadsFor = (deeds: number): number =>
  deeds < MIN_DEEDS_FOR_THREADS ? 1 : Math.min(availableParallelism(), MAX_AUTO_THREADS);

/** Whether a kid of one key set names another public key in the other. A kid is half of a hash, so two keys may share one. */
const hasConflict = (listed: readonly SealKeyEntry[], known: readonly SealKeyEntry[]): boolean => {
  const listedByKid = new Map(listed.map((entry) => [entry.kid, entry.public_key]));
  return known.some(({ kid, public_key }) => (listedByKid.get(kid) ?? public_key) !== public_key);
};

const isEndKnown = (manifest: BundleManifest | null, knownHeads: readonly ChainHead[]): boolean => {
  const lastSeq = manifest?.last_seq ?? null;
  return lastSeq !== null && knownHeads.some(({ seq }) => seq >= lastSeq);
};

/** What a whole file leaves out: deeds that its manifest promises, or that the user knows of. */
const missingDeeds = (manifest: BundleManifest, nextSeq: number, knownHeads: readonly ChainHead[]): Conclusion => {
  const { from, to, first_seq: firstSeq, last_seq: lastSeq, head } = manifest;
  if (firstSeq === null || lastSeq === null) return incomplete('no_deeds', null);
  if (nextSeq <= lastSeq) return incomplete('missing_deeds', nextSeq);
  if (from === null && firstSeq > 1) return incomplete('front_missing', 1);
  const earliest = Math.min(...knownHeads.map(({ seq }) => seq));
  if (earliest < firstSeq - 1) return incomplete('front_missing', earliest);
  // A range with an open end reaches the head that the manifest names.
  const laterHeads = to === null && head !== null ? [head, ...knownHeads] : knownHeads;
  return laterHeads.some(({ seq }) => seq > lastSeq) ? incomplete('tail_missing', lastSeq + 1) : INTACT;
};

/** How far hashes and links held. */
const checkedChain = (
  manifest: BundleManifest | null,
  walk: ChainWalk<LineFault> | null,
): Pick<BundleVerdict, 'deeds' | 'first_seq' | 'last_seq' | 'prev_hash' | 'head'> => {
  if (manifest === null || walk === null || walk.head === null) {
    return { deeds: 0, first_seq: null, last_seq: null, prev_hash: null, head: null };
  }
  const { first_seq, prev_hash } = manifest;
  return { deeds: walk.deeds, first_seq, last_seq: walk.head.seq, prev_hash, head: walk.head };
};
