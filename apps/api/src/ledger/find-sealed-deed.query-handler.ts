import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { DeedId, OrgId } from '#libs/domain/kernel';
import { LedgerReader } from '#libs/domain/ledger';
import { DeedRow, ReadModels } from '#libs/infra/read-models';

/** What an object that was sealed says of its deed. */
export type SealedDeed = Pick<DeedRow, 'id' | 'seq' | 'kind' | 'action' | 'issuedAt'>;

/**
 * A deed that the ledger holds, as whoever asks has seen there: its row may be behind the log, and then it is read from
 * the ledger, near whose end it stands.
 * @throws {StoreUnavailable}
 */
export class FindSealedDeed extends Query<SealedDeed> {
  constructor(
    readonly org: OrgId,
    readonly deed: DeedId,
  ) {
    super();
  }
}

@QueryHandler(FindSealedDeed)
export class FindSealedDeedHandler implements IQueryHandler<FindSealedDeed> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly ledger: LedgerReader,
  ) {}

  async execute({ org, deed }: FindSealedDeed): Promise<SealedDeed> {
    const row = await this.readModels.of(org, DeedRow).where('row.id = :deed', { deed }).first();
    if (row) return row;
    const { seq, kind, action, issued_at: issuedAt } = await this.ledger.latest(org, deed);
    return { id: deed, seq, kind, action, issuedAt };
  }
}
