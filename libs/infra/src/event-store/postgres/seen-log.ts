import type pg from 'pg';
import type { RecordedEvent } from '#libs/domain/kernel';
import { sqlStateOf } from '../../postgres/index.js';
import { LogWentBack } from '../log-went-back.js';

const AT = { name: 'event_store_at', text: 'select id from event_store.events where position = $1' } as const;
/** Of a database that was dropped and made anew. */
const UNDEFINED_TABLE = '42P01';
const IS_REPLAYING = 'select pg_is_in_recovery() as is_replaying';

/**
 * What this process has seen of the log. A database goes back in time only while nobody is connected to it, so whatever
 * connection the process makes, for events, rows or leases, it asks first for the last event that it has seen.
 */
export class SeenLog {
  /** Of all events that this process has seen, the last of the log. */
  private latest: Pick<RecordedEvent, 'position' | 'id'> | null = null;

  /** @param onWentBack told of it: all that the process remembers of the log is void, and it must end */
  constructor(private readonly onWentBack: (error: LogWentBack) => void) {}

  see(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
    for (const event of events) if (this.latest === null || event.position > this.latest.position) this.latest = event;
    return events;
  }

  /** @throws {LogWentBack} {Error} a standby has not replayed the log yet: try again */
  readonly verify = async (connection: pg.ClientBase): Promise<void> => {
    if (this.latest === null || (await holds(connection, this.latest))) return;
    const { rows } = await connection.query<{ is_replaying: boolean }>(IS_REPLAYING);
    if (rows[0]?.is_replaying) throw new Error('the database is a standby that has not replayed the whole log yet');
    // It may have been one when it was asked first.
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
