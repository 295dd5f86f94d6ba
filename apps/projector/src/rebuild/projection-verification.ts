import type { Position } from '#libs/domain/kernel';
import {
  ProjectionDatabase,
  ReplacementTables,
  type ProjectionIdentity,
  type ProjectionName,
  type RowDifference,
} from '#libs/infra/read-models';
import type { Projection } from '../projection.js';
import { FoldBeside, type FoldParts, type OnFolding } from './fold-beside.js';

const DIFFERENCES_KEPT = 100;

/** A projector began the rows anew meanwhile: they are behind what they were told to be. */
export class RowsBegunAnew extends Error {
  override readonly name = 'RowsBegunAnew';
  constructor(projection: ProjectionName) {
    super(`The rows of projection ${projection} were begun anew meanwhile. Run it again.`);
  }
}

/** Told after every stretch of rows. */
export type OnComparing = (rows: number, ofRows: number) => void;

export interface Verified {
  /** Read of the log, of whatever category. */
  readonly events: number;
  /** Up to where the log was read: where the rows that are served were when they were compared. */
  readonly position: Position;
  /** That the log gives. */
  readonly rows: number;
  readonly differenceCount: number;
  /** The first of them. */
  readonly differences: readonly RowDifference[];
}

/**
 * Makes the rows of one projection anew from the log, beside those that lists go on reading, compares the two at one
 * position, and drops the new ones. The projection that runs meanwhile goes on, and waits for
 * nothing, but where it begins its rows anew.
 */
export class ProjectionVerification {
  private readonly database: ProjectionDatabase;
  private readonly tables: ReplacementTables;
  private readonly beside: FoldBeside;
  private readonly differences: RowDifference[] = [];
  private differenceCount = 0;
  private rows = 0;

  constructor(
    private readonly projection: Projection,
    private readonly parts: FoldParts,
    onFolding: OnFolding,
    private readonly onComparing: OnComparing,
  ) {
    this.database = new ProjectionDatabase(parts.source);
    this.tables = new ReplacementTables(parts.source, projection.rowTypes);
    this.beside = new FoldBeside(projection, parts, this.tables, onFolding);
  }

  /**
   * Changes nothing of what is served, whatever comes of it.
   * @throws {OtherIdentity} @throws {RowsBegunAnew} @throws {UnreadableEvent} @throws {LogHasHole}
   * @throws {StoreUnavailable}
   */
  async run(): Promise<Verified> {
    const { name, version, rowTypes } = this.projection;
    const identity = { name, version, rowTypes, storeId: await this.parts.store.storeId() };
    await this.database.requireSame(identity);
    this.beside.mayGoOn();
    await this.tables.create();
    try {
      await this.approach(identity);
      await this.tables.analyze();
      await this.compare(identity);
    } finally {
      await this.tables.drop();
    }
    const { events, position } = this.beside;
    const { rows, differenceCount, differences } = this;
    return { events, position, rows, differenceCount, differences };
  }

  /** Never beyond the rows that are served, and near where they are: what they are told meanwhile is little. */
  private async approach(identity: ProjectionIdentity): Promise<void> {
    let before: number;
    do {
      before = this.beside.events;
      await this.beside.fold(await this.database.positionOf(identity));
      this.beside.mayGoOn();
    } while (this.beside.events - before >= this.beside.pageEvents);
  }

  private async compare(identity: ProjectionIdentity): Promise<void> {
    await this.database.compare(
      identity,
      this.tables,
      async (rows, upTo) => {
        if (upTo < this.beside.position) throw new RowsBegunAnew(identity.name);
        const [reached, read] = await this.beside.catchUp(rows, upTo);
        this.beside.moveTo(reached, read);
      },
      ({ rows, ofRows, differenceCount, differences }) => {
        this.beside.mayGoOn();
        this.rows += rows;
        this.differenceCount += differenceCount;
        this.differences.push(...differences.slice(0, DIFFERENCES_KEPT - this.differences.length));
        this.onComparing(this.rows, ofRows);
      },
    );
  }
}
