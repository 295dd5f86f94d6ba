import { sqlStateOf } from '#libs/infra/postgres';
import type { ProjectionIdentity } from '#libs/infra/read-models';
import type { Projection } from '../projection.js';
import { FoldBeside, type Folded, type FoldParts, type OnFolding } from './fold-beside.js';

/** A reader that holds a live table makes the swap wait for a second each time, and gives the readers behind it a turn. */
const SWAP_ATTEMPTS = 60;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Puts rows that are made anew from the log in the place of those that lists read. The projection that runs meanwhile
 * resumes from the new rows after the swap.
 */
export class ProjectionRebuild {
  private readonly beside: FoldBeside;

  constructor(projection: Projection, parts: FoldParts, onFolding: OnFolding) {
    this.beside = new FoldBeside(projection, parts, onFolding);
  }

  /**
   * The live rows are as they were whenever this throws.
   * @throws {OtherIdentity} @throws {UnreadableEvent} @throws {LogHasHole} @throws {StoreUnavailable}
   */
  run(): Promise<Folded> {
    return this.beside.run(async (identity) => {
      await this.beside.fold();
      this.beside.mayGoOn();
      await this.beside.tables.makeIndexes();
      await this.swap(identity);
      return 'in place';
    });
  }

  private async swap(identity: ProjectionIdentity): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      // What arrived meanwhile, so that the live projection waits for little.
      await this.beside.fold();
      this.beside.mayGoOn();
      try {
        let [reached, read] = [this.beside.position, 0];
        await this.beside.database.replace(identity, this.beside.tables, async (rows, upTo) => {
          [reached, read] = await this.beside.catchUp(rows, upTo);
          return reached;
        });
        this.beside.moveTo(reached, read);
        return;
      } catch (error) {
        if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE || attempt === SWAP_ATTEMPTS) throw error;
      }
    }
  }
}
