import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { DomainError, parseId, StoreUnavailable, type OrgId } from '#libs/domain/kernel';
import { LedgerReader, type StoredDeed } from '#libs/domain/ledger';
import { FindDeed } from './find-deed.query-handler.js';

/** Deeds by the id in an address: found by their row, read from the ledger. */
@Injectable()
export class StoredDeeds {
  constructor(
    private readonly queries: QueryBus,
    private readonly ledger: LedgerReader,
  ) {}

  /**
   * @throws {DomainError} not_found
   * @throws {StoreUnavailable} it is not known whether the deed exists, or it is not stored as it was sealed
   */
  async named(org: OrgId, text: string): Promise<StoredDeed> {
    const id = parseId('deed', text);
    const row = id && (await this.queries.execute(new FindDeed(org, id)));
    if (!row) throw new DomainError('not_found');
    const deed = await this.ledger.deedAt(org, row.seq);
    if (deed?.deed !== id) throw new StoreUnavailable(`the row of ${id} names a place that holds another deed`);
    return deed;
  }
}
