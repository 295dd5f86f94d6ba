import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { DomainError, parseId, StoreUnavailable, type OrgId } from '#libs/domain/kernel';
import { LedgerReader, type StoredDeed } from '#libs/domain/ledger';
import type { DeedRow } from '#libs/infra/read-models';
import { FindDeed } from './find-deed.query-handler.js';

/** Of the row of a deed, what a proof of it needs; `agent` is null for an admin deed. */
export type DeedPlace = Pick<DeedRow, 'seq' | 'agent'>;

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
    const row = await this.rowOf(org, text);
    const deed = await this.ledger.deedAt(org, row.seq);
    if (deed?.deed !== row.id) throw misplaced(row);
    return deed;
  }

  /**
   * Where a deed stands, also where its bytes are lost or altered: what was signed of it needs none of them.
   * @throws {DomainError} not_found
   * @throws {StoreUnavailable} it is not known whether the deed exists, or another one stands there
   */
  async placeOf(org: OrgId, text: string): Promise<DeedPlace> {
    const row = await this.rowOf(org, text);
    const deed = await this.ledger.soundDeedAt(org, row.seq);
    if (deed !== null && deed.deed !== row.id) throw misplaced(row);
    return row;
  }

  private async rowOf(org: OrgId, text: string): Promise<DeedRow> {
    const id = parseId('deed', text);
    const row = id && (await this.queries.execute(new FindDeed(org, id)));
    if (!row) throw new DomainError('not_found');
    return row;
  }
}

const misplaced = ({ id }: DeedRow): StoreUnavailable =>
  new StoreUnavailable(`the row of ${id} names a place that holds another deed`);
