import { START, type OrgId, type Position } from '#libs/domain/kernel';
import type { DataSource } from 'typeorm';
import { storedText } from '../columns.js';
import { translateRowError } from '../row-errors.js';
import { PublicEventRow } from './public-event.row.js';

/** How far the public events are. */
export interface PublicEventReach {
  /** Every event up to here has its row; {@link START} where none has. */
  readonly upTo: Position;
  /** Rows below it are gone. */
  readonly floor: bigint;
}

/**
 * The public events of several organizations at once, for the one part of a process that reads them for all its streams.
 * Whoever answers a request of one organization gets them from there, and nothing from here.
 */
export class PublicEventReads {
  constructor(private readonly source: DataSource) {}

  /** @throws {StoreUnavailable} the database did not answer */
  async reach(storeId: string): Promise<PublicEventReach> {
    const [found] = await this.query<{ position: string; floor: string }>(
      `SELECT reached.position, coalesce(gone.seq, 0) AS floor FROM read_models.projection_checkpoints AS reached
         LEFT JOIN read_models.public_event_floors AS gone ON gone.store_id = reached.store_id
        WHERE reached.name = 'public_events' AND reached.store_id = $1`,
      [storeId],
    );
    return found ? { upTo: BigInt(found.position), floor: BigInt(found.floor) } : { upTo: START, floor: 0n };
  }

  /**
   * The first `limit` of these organizations behind `after`, none beyond `upTo`, in order.
   * @throws {StoreUnavailable} the database did not answer
   */
  async between(
    orgs: readonly OrgId[],
    after: Position,
    upTo: Position,
    limit: number,
  ): Promise<readonly PublicEventRow[]> {
    try {
      return await this.source.manager
        .createQueryBuilder(PublicEventRow, 'row')
        .where('row.seq > :after AND row.seq <= :upTo', { after: after.toString(), upTo: upTo.toString() })
        .andWhere('row.org = ANY(:orgs)', { orgs: orgs.map(storedText) })
        .orderBy('row.seq', 'ASC')
        .limit(limit)
        .getMany();
    } catch (error) {
      throw translateRowError(error);
    }
  }

  private async query<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.source.query<Row[]>(text, [...values]);
    } catch (error) {
      throw translateRowError(error);
    }
  }
}
