import type { Position } from '#libs/domain/kernel';
import { sqlStateOf } from '#libs/infra/postgres';
import { ProjectionDatabase, ReplacementTables, type ProjectionIdentity } from '#libs/infra/read-models';
import type { Projection } from '../projection.js';
import { FoldBeside, type FoldParts, type OnFolding } from './fold-beside.js';

/** A reader that holds a live table makes the swap wait for a second each time, and gives the readers behind it a turn. */
const SWAP_ATTEMPTS = 60;
const LOCK_NOT_AVAILABLE = '55P03';

export interface Rebuilt {
  /** Read of the log, of whatever category. */
  readonly events: number;
  readonly position: Position;
}

/**
 * Makes the rows of one projection anew from the log, beside those that lists go on reading, and then puts them in their
 * place. The projection that runs meanwhile goes on, and after the swap resumes from the new rows.
 */
export class ProjectionRebuild {
  private readonly database: ProjectionDatabase;
  private readonly tables: ReplacementTables;
  private readonly beside: FoldBeside;

  constructor(
    private readonly projection: Projection,
    private readonly parts: FoldParts,
    onFolding: OnFolding,
  ) {
    this.database = new ProjectionDatabase(parts.source);
    this.tables = new ReplacementTables(parts.source, projection.rowTypes);
    this.beside = new FoldBeside(projection, parts, this.tables, onFolding);
  }

  /**
   * The live rows are as they were whenever this throws.
   * @throws {OtherIdentity} @throws {UnreadableEvent} @throws {LogHasHole} @throws {StoreUnavailable}
   */
  async run(): Promise<Rebuilt> {
    const { name, version, rowTypes } = this.projection;
    const identity = { name, version, rowTypes, storeId: await this.parts.store.storeId() };
    await this.database.requireSame(identity);
    this.beside.mayGoOn();
    await this.tables.create();
    try {
      await this.beside.fold();
      this.beside.mayGoOn();
      await this.tables.makeIndexes();
      await this.swap(identity);
    } catch (error) {
      await this.tables.drop();
      throw error;
    }
    const { events, position } = this.beside;
    return { events, position };
  }

  private async swap(identity: ProjectionIdentity): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      // What arrived meanwhile, so that the live projection waits for little.
      await this.beside.fold();
      this.beside.mayGoOn();
      try {
        let [reached, read] = [this.beside.position, 0];
        await this.database.replace(identity, this.tables, async (rows, upTo) => {
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
