import { Injectable } from '@nestjs/common';
import { Clock, type OrgId, timestampOf } from '#libs/domain/kernel';
import {
  type BrokenLedger,
  BrokenLedgers,
  type UnintroducedWitness,
  type WitnessLag,
  WitnessWatch,
} from '#libs/domain/ledger';
import { ActionRow, ApprovalRow, type CountedPeriod, ReadModels } from '#libs/infra/read-models';
import { ATTENTION_MAX, EXPIRING_MS } from './attention.js';

/** Actions and approvals that need a person, and the ledger where it does. */
@Injectable()
export class AttentionRows {
  constructor(
    private readonly readModels: ReadModels,
    private readonly clock: Clock,
    private readonly brokenLedgers: BrokenLedgers,
    private readonly watch: WitnessWatch,
  ) {}

  broken(org: OrgId): Promise<BrokenLedger | null> {
    return this.brokenLedgers.of(org);
  }

  /** Where deeds have waited for the quorum of witnesses for too long. */
  unwitnessed(org: OrgId): Promise<WitnessLag | null> {
    return this.watch.overdue(org);
  }

  unintroduced(org: OrgId): Promise<readonly UnintroducedWitness[]> {
    return this.watch.unintroduced(org);
  }

  async mismatches(org: OrgId, { from, to }: CountedPeriod): Promise<readonly ActionRow[]> {
    const rows = this.readModels
      .of(org, ActionRow)
      .where(`row.verdict = 'MISMATCH' AND row.createdAt >= :from AND row.createdAt < :to`, { from, to });
    return (await rows.orderBy('createdAt', 'DESC').orderBy('id', 'DESC').page(ATTENTION_MAX)).rows;
  }

  async expiring(org: OrgId): Promise<readonly ApprovalRow[]> {
    const now = this.clock.nowMs();
    const rows = this.readModels
      .of(org, ApprovalRow)
      .where(`row.status = 'pending' AND row.expiresAt > :now AND row.expiresAt <= :soon`, {
        now: timestampOf(now),
        soon: timestampOf(now + EXPIRING_MS),
      });
    return (await rows.orderBy('expiresAt', 'ASC').orderBy('id', 'ASC').page(ATTENTION_MAX)).rows;
  }
}
