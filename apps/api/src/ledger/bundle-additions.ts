import { Injectable } from '@nestjs/common';
import type { BundleAdditions, BundleRange } from '#libs/crypto';
import { EventStore, type OrgId } from '#libs/domain/kernel';
import { BundleCheckpoints, type BundleSigning, DeedEvidence, ExportedEvidence } from '#libs/domain/ledger';
import { NamesOfPeople } from '#libs/domain/people';

/** What a bundle of the second format holds behind its deeds. */
@Injectable()
export class BundleAdditionsOf {
  constructor(
    private readonly checkpoints: BundleCheckpoints,
    private readonly evidence: DeedEvidence,
    private readonly store: EventStore,
    private readonly people: NamesOfPeople,
  ) {}

  /** @throws {StoreUnavailable} */
  async of(
    org: OrgId,
    { first_seq: first, last_seq: last }: BundleRange,
    hasEvidence: boolean,
    signing: BundleSigning,
  ): Promise<BundleAdditions> {
    const checkpoint =
      first === null || last === null ? null : await this.checkpoints.covering(org, { first, last }, signing);
    const evidence = hasEvidence ? new ExportedEvidence(org, this.evidence, this.store, this.people) : null;
    return { checkpoint, evidence };
  }
}
