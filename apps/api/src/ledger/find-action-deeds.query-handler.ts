import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { ActionId, DeedId, OrgId } from '#libs/domain/kernel';
import { LedgerReader } from '#libs/domain/ledger';
import { DeedRow, ReadModels } from '#libs/infra/read-models';

/** What an object that was sealed says of its deed. */
export type SealedDeed = Pick<DeedRow, 'id' | 'seq' | 'kind' | 'action' | 'issuedAt'>;

/** An action has one deed and few amendments; more than this nobody reads on one page. */
const DEEDS_MAX = 100;

/**
 * Deeds of an action that whoever asks has seen in the ledger: its own and the amendments to it, in the order of the chain.
 * Rows may be behind the ledger; what they miss is then read from there, near whose end it stands.
 * @throws {StoreUnavailable}
 */
export class FindActionDeeds extends Query<readonly SealedDeed[]> {
  constructor(
    readonly org: OrgId,
    readonly action: ActionId,
    readonly deeds: readonly DeedId[],
  ) {
    super();
  }
}

@QueryHandler(FindActionDeeds)
export class FindActionDeedsHandler implements IQueryHandler<FindActionDeeds> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly ledger: LedgerReader,
  ) {}

  async execute({ org, action, deeds }: FindActionDeeds): Promise<readonly SealedDeed[]> {
    const listed = this.readModels.of(org, DeedRow).where('row.action = :action', { action });
    const { rows } = await listed.orderBy('seq', 'ASC').page(DEEDS_MAX);
    const known = new Map<DeedId, SealedDeed>(rows.map((row) => [row.id, row]));
    const asked = deeds.slice(0, DEEDS_MAX);
    return Promise.all(asked.map(async (deed) => known.get(deed) ?? (await this.ofLedger(org, action, deed))));
  }

  private async ofLedger(org: OrgId, action: ActionId, deed: DeedId): Promise<SealedDeed> {
    const { seq, kind, issued_at: issuedAt } = await this.ledger.latest(org, deed);
    return { id: deed, seq, kind, action, issuedAt };
  }
}
