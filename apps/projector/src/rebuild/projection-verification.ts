import type { ProjectionIdentity, ProjectionName, RowDifference } from '#libs/infra/read-models';
import type { Projection } from '../projection.js';
import { FoldBeside, type Folded, type FoldParts, type OnFolding } from './fold-beside.js';

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

/** The log was read up to where the rows that are served were when they were compared. */
export interface Verified extends Folded {
  /** That the log gives. */
  readonly rows: number;
  readonly differenceCount: number;
  /** The first of them. */
  readonly differences: readonly RowDifference[];
}

/**
 * Compares rows that are made anew from the log with those that lists read, at one position. The projection that runs
 * meanwhile waits for nothing, but where it begins its rows anew.
 */
export class ProjectionVerification {
  private readonly beside: FoldBeside;
  private readonly differences: RowDifference[] = [];
  private differenceCount = 0;
  private rows = 0;

  constructor(
    projection: Projection,
    parts: FoldParts,
    onFolding: OnFolding,
    private readonly onComparing: OnComparing,
  ) {
    this.beside = new FoldBeside(projection, parts, onFolding);
  }

  /**
   * Changes nothing of what is served, whatever comes of it.
   * @throws {OtherIdentity} @throws {RowsBegunAnew} @throws {UnreadableEvent} @throws {LogHasHole}
   * @throws {StoreUnavailable}
   */
  async run(): Promise<Verified> {
    const folded = await this.beside.run(async (identity) => {
      await this.approach(identity);
      await this.beside.tables.analyze();
      await this.compare(identity);
      return 'beside';
    });
    const { rows, differenceCount, differences } = this;
    return { ...folded, rows, differenceCount, differences };
  }

  /** Never beyond the rows that are served, and near where they are: what they are told meanwhile is little. */
  private async approach(identity: ProjectionIdentity): Promise<void> {
    let before: number;
    do {
      before = this.beside.events;
      await this.beside.fold(await this.beside.database.positionOf(identity));
      this.beside.mayGoOn();
    } while (this.beside.events - before >= this.beside.pageEvents);
  }

  private async compare(identity: ProjectionIdentity): Promise<void> {
    await this.beside.database.compare(
      identity,
      this.beside.tables,
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
