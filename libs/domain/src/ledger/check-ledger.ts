import { type ChainPosition, ChainWalk, type DeedJudgement, startOfChain } from '#libs/crypto';
import { type Clock, type EndSignal, type OrgId, type Timestamp, timestampOf, Turns } from '../kernel/index.js';
import { bodyHashOf, judgeRecord, ListedKeys } from './judged-record.js';
import type { DeedFault, Gap, LedgerCheck } from './ledger-check.js';
import type { LedgerReader } from './ledger-reader.js';
import type { SealKeyAdministration } from './seal-key-administration.js';
import { sealKeyEntries } from './seal-key-entries.js';
import { SharedChecks } from './shared-checks.js';

/** The part of the ledger that is checked, up to its head: the last so many deeds, or those issued since an instant. */
export type CheckedRange = { readonly last: number } | { readonly since: Timestamp };

/** Below the route's own limit, so that the answer can still tell the caller what was checked until then. */
export const CHECK_TIME_LIMIT_MS = 20_000;
/**
 * The number of deeds whose signatures are verified at a time: enough to be quick, few enough to leave threads of the
 * pool to the sealer. Each deed is judged in a round of the event loop of its own, so that requests are answered
 * between any two.
 */
const DEEDS_IN_FLIGHT = 4;

/**
 * Verifies stored deeds again, from the bytes in the log: hash, form, seal, key and link of each, and that the stored
 * members beside the bytes agree with them. It does in place what an auditor does with a bundle.
 */
export class CheckLedger {
  private readonly checks = new SharedChecks<LedgerCheck>();
  private readonly turns = new Turns();

  constructor(
    private readonly ledger: LedgerReader,
    private readonly keys: Pick<SealKeyAdministration, 'list'>,
    private readonly clock: Clock,
  ) {}

  /** @param abandoned aborted when the caller has gone: the remaining deeds are not checked */
  check(org: OrgId, range: CheckedRange, abandoned: EndSignal): Promise<LedgerCheck> {
    // The deadline counts from the call, so that a caller who had to wait for its turn still gets an answer in time,
    // even if that answer is that nothing was checked.
    const deadlineMs = this.clock.monotonicMs() + CHECK_TIME_LIMIT_MS;
    const what = 'last' in range ? `last ${range.last}` : `since ${range.since}`;
    return this.checks.run(org, what, abandoned, (gone) => this.checkNow(org, range, deadlineMs, gone));
  }

  private async checkNow(
    org: OrgId,
    range: CheckedRange,
    deadlineMs: number,
    abandoned: EndSignal,
  ): Promise<LedgerCheck> {
    const checkedAt = timestampOf(this.clock.nowMs());
    const headSeq = await this.ledger.lastSeq(org);
    const first =
      'last' in range
        ? Math.max(1, headSeq - range.last + 1)
        : await this.ledger.firstSeqSince(org, range.since, headSeq);
    const head = await this.headAt(org, headSeq);
    // The keys are listed after the head was read, so that they include every key that sealed a deed up to the head.
    const keys = new ListedKeys(sealKeyEntries(await this.keys.list()));
    const walk = new ChainWalk<DeedFault>(await this.positionBefore(org, first));
    const mayGoOn = (): boolean => !abandoned.aborted && this.clock.monotonicMs() < deadlineMs;
    await this.walkTo(walk, { org, first, last: headSeq }, keys, mayGoOn);
    const isEmpty = first > headSeq;
    return {
      object: 'ledger_check',
      ...conclusionOf(walk, headSeq, mayGoOn() ? 'missing_deeds' : 'time_limit'),
      checked: walk.deeds,
      first_seq: isEmpty ? null : first,
      last_seq: isEmpty ? null : headSeq,
      head,
      checked_at: checkedAt,
    };
  }

  private async walkTo(
    walk: ChainWalk<DeedFault>,
    { org, first, last }: { readonly org: OrgId; readonly first: number; readonly last: number },
    keys: ListedKeys,
    mayGoOn: () => boolean,
  ): Promise<void> {
    const inFlight: { readonly seq: number; readonly judged: Promise<DeedJudgement<DeedFault>> }[] = [];
    const stepFirst = async (): Promise<void> => {
      const next = inFlight.shift();
      if (next === undefined) return;
      const judgement = await next.judged;
      if (!walk.isChainBroken) await walk.step(next.seq === walk.nextSeq ? judgement : { fault: 'gap' });
    };
    for await (const recorded of this.ledger.records(org, first, last)) {
      await this.turns.next();
      inFlight.push({ seq: recorded.revision + 1, judged: judgeRecord(org, recorded, keys) });
      if (inFlight.length >= DEEDS_IN_FLIGHT) await stepFirst();
      if (walk.isChainBroken || !mayGoOn()) break;
    }
    while (inFlight.length > 0) await stepFirst();
  }

  /** What the first deed must link to: the hash of the deed before it, which itself is not judged. */
  private async positionBefore(org: OrgId, first: number): Promise<ChainPosition> {
    if (first === 1) return startOfChain(org);
    const recorded = await this.ledger.recordAt(org, first - 1);
    return { org, seq: first - 1, bodyHash: recorded && bodyHashOf(recorded), issuedAt: null };
  }

  private async headAt(org: OrgId, seq: number): Promise<LedgerCheck['head']> {
    const recorded = seq === 0 ? null : await this.ledger.recordAt(org, seq);
    const bodyHash = recorded && bodyHashOf(recorded);
    return bodyHash && { seq, body_hash: bodyHash };
  }
}

const conclusionOf = (
  walk: ChainWalk<DeedFault>,
  headSeq: number,
  gap: Gap,
): Pick<LedgerCheck, 'result' | 'reason' | 'first_bad_seq' | 'links_intact'> => {
  const isWhole = walk.nextSeq > headSeq;
  const links_intact = isWhole && !walk.isChainBroken;
  if (walk.fault !== null) {
    return { result: 'broken', reason: walk.fault.reason, first_bad_seq: walk.fault.seq, links_intact };
  }
  return isWhole
    ? { result: 'intact', reason: null, first_bad_seq: null, links_intact }
    : { result: 'incomplete', reason: gap, first_bad_seq: walk.nextSeq, links_intact };
};
