import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { ActionId, DeedId, OrgId } from '#libs/domain/kernel';
import { LedgerReader } from '#libs/domain/ledger';
import { DeedRow, ReadModels } from '#libs/infra/read-models';

/** What a sealed object shows of its deed. */
export type SealedDeed = Pick<DeedRow, 'id' | 'seq' | 'kind' | 'action' | 'issuedAt'>;

/** An action has one deed and few amendments, so a page never needs more than this. */
const DEEDS_MAX = 100;

/**
 * The deeds of an action that the caller has already seen in the ledger: its own and its amendments, in the order of
 * the chain. If the rows are behind the ledger, a missing deed is read from the ledger, where it is near the end.
 * @throws {StoreUnavailable} when a deed is not in the ledger as it was sealed
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
