import type pg from 'pg';
import type { RecordedEvent } from '#libs/domain/kernel';
import { sqlStateOf } from '../../postgres/index.js';
import { LogWentBack } from '../log-went-back.js';

const AT = { name: 'event_store_at', text: 'select id from event_store.events where position = $1' } as const;
/** The SQLSTATE of a database that was dropped and created anew: the table does not exist. */
const UNDEFINED_TABLE = '42P01';
const IS_REPLAYING = 'select pg_is_in_recovery() as is_replaying';

/**
 * The last event of the log that this process has seen. A database can go back in time only while nobody is connected
 * to it. So every new connection of the process, for events, rows or leases, is first asked for that event.
 */
export class SeenLog {
  /** The event with the highest position that this process has seen. */
  private latest: Pick<RecordedEvent, 'position' | 'id'> | null = null;

  /**
   * @param onWentBack called when the log went back in time: what the process has cached of it is void, and the process
   * must end
   */
  constructor(private readonly onWentBack: (error: LogWentBack) => void) {}

  see(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
    for (const event of events) if (this.latest === null || event.position > this.latest.position) this.latest = event;
    return events;
  }

  /**
   * @throws {LogWentBack} when the database does not hold the last seen event
   * @throws {Error} when the database is a standby that has not replayed the log yet: try again
   */
  readonly verify = async (connection: pg.ClientBase): Promise<void> => {
    if (this.latest === null || (await holds(connection, this.latest))) return;
    const { rows } = await connection.query<{ is_replaying: boolean }>(IS_REPLAYING);
    if (rows[0]?.is_replaying) throw new Error('the database is a standby that has not replayed the whole log yet');
    // The database may have been a standby at the first question and have replayed the event since.
    if (await holds(connection, this.latest)) return;
    const error = new LogWentBack('database', this.latest.position);
    this.onWentBack(error);
    throw error;
  };
}

const holds = async (connection: pg.ClientBase, event: Pick<RecordedEvent, 'position' | 'id'>): Promise<boolean> => {
  try {
    const { rows } = await connection.query<{ id: string }>({ ...AT, values: [event.position] });
    return rows[0]?.id === event.id;
  } catch (error) {
    if (sqlStateOf(error) === UNDEFINED_TABLE) return false;
    throw error;
  }
};
