import { Injectable } from '@nestjs/common';
import {
  BUNDLE_VERSION,
  type BundleContent,
  type BundleRange,
  type BundleVersion,
  FIRST_BUNDLE_VERSION,
  type SealedDeed,
} from '#libs/crypto';
import { Clock, failpoint, StoreUnavailable, timestampOf, type OrgId, type Timestamp } from '#libs/domain/kernel';
import {
  type BundleSigning,
  LedgerReader,
  SealKeyAdministration,
  sealKeyEntries,
  type StoredDeed,
} from '#libs/domain/ledger';
import { BuildFacts } from '#libs/infra/runtime';
import { queryProblem } from '../http/query-string.js';
import { instantAtOrAfter } from '../lists/filter-values.js';
import { BundleAdditionsOf } from './bundle-additions.js';

/** The query parameters as sent. Both are RFC 3339 times over `issued_at`: `from` is inclusive, `to` exclusive. */
export interface ExportRequest {
  readonly from?: string;
  readonly to?: string;
  /** Left out: the first, which every reader knows; the second where evidence is asked for. */
  readonly format?: BundleVersion;
  readonly evidence?: 'true' | 'false';
}

export interface PreparedExport {
  readonly content: BundleContent;
  readonly format: BundleVersion;
  readonly hasEvidence: boolean;
  readonly fileName: string;
}

/**
 * Finds the deeds of a time range in the ledger itself, so that an export needs no projection and lacks no sealed deed.
 */
@Injectable()
export class DeedExport {
  constructor(
    private readonly ledger: LedgerReader,
    private readonly keys: SealKeyAdministration,
    private readonly additions: BundleAdditionsOf,
    private readonly clock: Clock,
    private readonly build: BuildFacts,
  ) {}

  /**
   * @param signing whether a checkpoint is signed for deeds that none covers yet
   * @throws {DomainError} `validation_failed` with `param` `from`, `to` or `format`
   */
  async prepare(org: OrgId, request: ExportRequest, signing: BundleSigning): Promise<PreparedExport> {
    const from = request.from === undefined ? null : instantAtOrAfter('from', request.from);
    const to = request.to === undefined ? null : instantAtOrAfter('to', request.to);
    if (from !== null && to !== null && from >= to) throw queryProblem('to', 'must be later than from');
    const hasEvidence = request.evidence === 'true';
    const format = request.format ?? (hasEvidence ? BUNDLE_VERSION : FIRST_BUNDLE_VERSION);
    if (hasEvidence && format === FIRST_BUNDLE_VERSION) {
      throw queryProblem('format', `must be ${BUNDLE_VERSION} with evidence, which the first format has no place for`);
    }
    const range = await this.rangeOf(org, from, to);
    // The keys are listed after the head was read, so that they include every key that sealed a deed up to the head.
    const keys = sealKeyEntries(await this.keys.list());
    const { first_seq: first, last_seq: last } = range;
    const deeds = (): AsyncIterable<SealedDeed> => sealedDeeds(this.ledger.deeds(org, first ?? 1, last ?? 0));
    const span = first === null || last === null ? 'none' : `${first}-${last}`;
    const additions =
      format === FIRST_BUNDLE_VERSION ? null : await this.additions.of(org, range, hasEvidence, signing);
    const content = { range, keys, deeds, ...(additions && { additions }) };
    return { content, format, hasEvidence, fileName: `${hasEvidence ? 'evidence' : 'deeds'}-${org}-${span}.tar.gz` };
  }

  private async rangeOf(org: OrgId, from: Timestamp | null, to: Timestamp | null): Promise<BundleRange> {
    const headSeq = await this.ledger.lastSeq(org);
    const first = from === null ? 1 : await this.ledger.firstSeqSince(org, from, headSeq);
    const last = to === null ? headSeq : (await this.ledger.firstSeqSince(org, to, headSeq)) - 1;
    const head = headSeq === 0 ? null : await this.deedAt(org, headSeq);
    return {
      org,
      from,
      to,
      ...(first > last
        ? { first_seq: null, last_seq: null, prev_hash: null }
        : { first_seq: first, last_seq: last, prev_hash: (await this.deedAt(org, first)).prev_hash }),
      head: head && { seq: headSeq, body_hash: head.body_hash },
      created_at: timestampOf(this.clock.nowMs()),
      service_version: this.build.version,
    };
  }

  private async deedAt(org: OrgId, seq: number): Promise<StoredDeed> {
    const deed = await this.ledger.deedAt(org, seq);
    if (deed === null) throw new StoreUnavailable(`deed ${seq} of ${org} could not be read`);
    return deed;
  }
}

async function* sealedDeeds(deeds: AsyncIterable<StoredDeed>): AsyncGenerator<SealedDeed> {
  for await (const { seq, body, body_hash: bodyHash, kid, signature } of deeds) {
    await failpoint('export.mid');
    yield { seq, body: Buffer.from(body), seal: { bodyHash, kid, signature } };
  }
}
