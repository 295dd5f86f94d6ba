import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import type { BoundedAgent } from '#libs/domain/gate';
import { Clock, type OrgId, timestampOf } from '#libs/domain/kernel';
import { CheckLedger } from '#libs/domain/ledger';
import type { LivingOrganization } from '#libs/domain/people';
import { ActionRow, ApprovalRow, type CountedPeriod, ReadModels } from '#libs/infra/read-models';
import { ATTENTION_MAX, attentionOf, EXPIRING_MS } from './attention.js';
import { ConnectorsInNeed } from './connectors-in-need.js';
import { NearBudgets } from './near-budgets.js';

/** Of the ledger's last deeds: a chain that broke lately is seen, and each takes but a tenth of a millisecond. */
const DEEDS_CHECKED = 100;

/** Finds what needs a person. */
@Injectable()
export class AttentionReader {
  constructor(
    private readonly readModels: ReadModels,
    private readonly ledger: CheckLedger,
    private readonly budgets: NearBudgets,
    private readonly connectors: ConnectorsInNeed,
    private readonly clock: Clock,
  ) {}

  /** @param active the agents whose own budgets are looked at */
  async read(
    organization: LivingOrganization,
    window: CountedPeriod,
    active: readonly BoundedAgent[],
  ): Promise<JsonObject[]> {
    const { org } = organization;
    const [ledger, mismatches, expiring, budgets, blind, failing, held] = await Promise.all([
      this.ledger.check(org, { last: DEEDS_CHECKED }, new AbortController().signal),
      this.mismatches(org, window),
      this.expiring(org),
      this.budgets.of(organization, active),
      this.connectors.blind(org),
      this.connectors.failing(org),
      this.connectors.held(org),
    ]);
    return attentionOf({ organization, ledger, mismatches, expiring, budgets, blind, failing, held });
  }

  private async mismatches(org: OrgId, { from, to }: CountedPeriod): Promise<readonly ActionRow[]> {
    const rows = this.readModels
      .of(org, ActionRow)
      .where(`row.verdict = 'MISMATCH' AND row.createdAt >= :from AND row.createdAt < :to`, { from, to });
    return (await rows.orderBy('createdAt', 'DESC').orderBy('id', 'DESC').page(ATTENTION_MAX)).rows;
  }

  private async expiring(org: OrgId): Promise<readonly ApprovalRow[]> {
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
