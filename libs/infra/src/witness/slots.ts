import type pg from 'pg';
import { sqlStateOf } from '#libs/infra/postgres';
import { ChangeLogFault, changeLogFaultOf } from './change-log-fault.js';

/** Any connection to the database, in replication mode or not. */
export interface Questioned {
  query<Row extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<Row>>;
}

export interface SlotState {
  readonly plugin: string | null;
  readonly database: string | null;
  /** Whether somebody reads it now. */
  readonly isActive: boolean;
  /** `lost`: its log was removed, and it can be read no more. */
  readonly walStatus: 'reserved' | 'extended' | 'unreserved' | 'lost' | null;
  /** Up to here its reader has acknowledged; null in a slot that is lost, or being made. */
  readonly confirmedLsn: string | null;
  /** Written behind that place, and not acknowledged. */
  readonly lagBytes: number | null;
  /** How much of the log the server keeps for it: what fills the database's disk. */
  readonly heldBytes: number | null;
  /** How much may be written before it is lost; null where nothing bounds it. */
  readonly safeBytes: number | null;
}

/** Which log this is: both change when a server is restored from a backup or a standby takes its place. */
export interface LogIdentity {
  readonly systemId: string;
  readonly timeline: number;
}

const SLOT_PATTERN = /^[a-z0-9_]{1,63}$/;
/** Names of its own kind exist already. */
const DUPLICATE_OBJECT = '42710';
const UNDEFINED_OBJECT = '42704';

/** @throws {RangeError} for a text that is no slot's name, and might be something else in a statement */
export const checkedSlot = (slot: string): string => {
  if (!SLOT_PATTERN.test(slot)) throw new RangeError('not the name of a replication slot');
  return slot;
};

const CURRENT = 'case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end';

// Without parameters: a connection in replication mode takes none.
const stateSql = (slot: string): string => `
  select plugin::text, database::text, active, wal_status, confirmed_flush_lsn::text as confirmed,
    pg_wal_lsn_diff(${CURRENT}, confirmed_flush_lsn)::float8 as lag,
    pg_wal_lsn_diff(${CURRENT}, restart_lsn)::float8 as held, safe_wal_size::float8 as safe
  from pg_replication_slots where slot_name = '${checkedSlot(slot)}'`;

interface SlotRow {
  readonly plugin: string | null;
  readonly database: string | null;
  readonly active: boolean;
  readonly wal_status: SlotState['walStatus'];
  readonly confirmed: string | null;
  readonly lag: number | null;
  readonly held: number | null;
  readonly safe: number | null;
}

/** Null where there is no such slot. Any role may ask. */
export const slotStateOf = async (client: Questioned, slot: string): Promise<SlotState | null> => {
  const { rows } = await asked(client.query<SlotRow>(stateSql(slot)));
  const [row] = rows;
  if (row === undefined) return null;
  return {
    plugin: row.plugin,
    database: row.database,
    isActive: row.active,
    walStatus: row.wal_status,
    confirmedLsn: row.confirmed,
    lagBytes: row.lag,
    heldBytes: row.held,
    safeBytes: row.safe,
  };
};

/**
 * Makes the slot; false where there is one of that name. Waits for every transaction that runs and has written.
 * @throws {ChangeLogFault}
 */
export const createSlot = async (client: Questioned, slot: string): Promise<boolean> => {
  const name = checkedSlot(slot);
  try {
    await client.query(`select pg_create_logical_replication_slot('${name}', 'pgoutput')`);
    return true;
  } catch (error) {
    if (sqlStateOf(error) === DUPLICATE_OBJECT) return false;
    // Of a slot that is being made, 55000 speaks of `wal_level`.
    if (sqlStateOf(error) === '55000') throw new ChangeLogFault('not_logical', { sqlState: '55000', cause: error });
    throw changeLogFaultOf(error, 'before');
  }
};

/**
 * Lets the server remove what it kept for the slot; false where there is none of that name that we could have read. One of
 * another database or plugin, or of a standby, is somebody else's, whatever a config calls it.
 * @throws {ChangeLogFault} `slot_in_use` while somebody reads it
 */
export const dropSlot = async (client: Questioned, slot: string): Promise<boolean> => {
  const name = checkedSlot(slot);
  try {
    const { rowCount } = await client.query(
      `select pg_drop_replication_slot(slot_name) from pg_replication_slots
       where slot_name = '${name}' and plugin = 'pgoutput' and database = current_database()`,
    );
    return rowCount === 1;
  } catch (error) {
    if (sqlStateOf(error) === UNDEFINED_OBJECT) return false;
    throw changeLogFaultOf(error, 'before');
  }
};

/** On a primary: a standby's place in the log has no timeline of its own. */
export const logIdentityOf = async (client: Questioned): Promise<LogIdentity> => {
  const { rows } = await asked(
    client.query<{ system: string; timeline: string }>(
      `select system_identifier::text as system, left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline
       from pg_control_system()`,
    ),
  );
  const { system = '', timeline = '' } = rows[0] ?? {};
  return { systemId: system, timeline: Number.parseInt(timeline, 16) };
};

const asked = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
  try {
    return await answer;
  } catch (error) {
    throw changeLogFaultOf(error, 'before');
  }
};
