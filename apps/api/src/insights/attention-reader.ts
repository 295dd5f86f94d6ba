import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import type { BoundedAgent } from '#libs/domain/gate';
import { CheckLedger } from '#libs/domain/ledger';
import type { LivingOrganization } from '#libs/domain/people';
import type { CountedPeriod } from '#libs/infra/read-models';
import { AttentionRows } from './attention-rows.js';
import { attentionOf } from './attention.js';
import { ConnectorsInNeed } from './connectors-in-need.js';
import { CopiedPasskeys } from './copied-passkeys.js';
import { NearBudgets } from './near-budgets.js';

/** Of the ledger's last deeds: a chain that broke lately is seen, and each takes but a tenth of a millisecond. */
const DEEDS_CHECKED = 100;

/** Finds what needs a person. */
@Injectable()
export class AttentionReader {
  constructor(
    private readonly rows: AttentionRows,
    private readonly ledger: CheckLedger,
    private readonly budgets: NearBudgets,
    private readonly connectors: ConnectorsInNeed,
    private readonly passkeys: CopiedPasskeys,
  ) {}

  /** @param active the agents whose own budgets are looked at */
  async read(
    organization: LivingOrganization,
    window: CountedPeriod,
    active: readonly BoundedAgent[],
  ): Promise<JsonObject[]> {
    const { org } = organization;
    const [unintroduced, unwitnessed] = await Promise.all([this.rows.unintroduced(org), this.rows.unwitnessed(org)]);
    const [ledger, broken, mismatches, expiring, copied, budgets, blind, disabled, failing, held] = await Promise.all([
      this.ledger.check(org, { last: DEEDS_CHECKED }, new AbortController().signal),
      this.rows.broken(org),
      this.rows.mismatches(org, window),
      this.rows.expiring(org),
      this.passkeys.of(organization),
      this.budgets.of(organization, active),
      this.connectors.blind(org),
      this.connectors.disabled(org),
      this.connectors.failing(org),
      this.connectors.held(org),
    ]);
    return attentionOf({
      ...{ organization, ledger, broken, mismatches, expiring },
      ...{ copied, budgets, blind, disabled, failing, held, unintroduced, unwitnessed },
    });
  }
}
