import { ForeseenFault } from '#libs/domain/kernel';
import { sqlStateOf } from '#libs/infra/postgres';

/**
 * Why a change log cannot be read, closed.
 * `slot_missing`, `slot_in_use` (somebody else reads it), `slot_invalidated` (its log was removed), `slot_foreign` (of another
 * database or plugin), `publication_missing`, `not_logical` (`wal_level`): what stands at the database must be mended.
 * `authentication`, `permission`, `no_database`: the witness's role. `unreachable`: no connection. `unavailable`: the server
 * starts, stops or has no connection left. `connection_lost`: it ended, or nothing came for too long. `malformed`: what came
 * is not the protocol. `refused`: any other error of the server; its SQLSTATE says which.
 */
export type ChangeLogFaultReason =
  | 'slot_missing'
  | 'slot_in_use'
  | 'slot_invalidated'
  | 'slot_foreign'
  | 'publication_missing'
  | 'not_logical'
  | 'authentication'
  | 'permission'
  | 'no_database'
  | 'unreachable'
  | 'unavailable'
  | 'connection_lost'
  | 'malformed'
  | 'refused';

/** The one error of reading a change log. Its message holds nothing of the database's own texts, which may hold values. */
export class ChangeLogFault extends ForeseenFault {
  override readonly name = 'ChangeLogFault';

  constructor(
    readonly reason: ChangeLogFaultReason,
    options: { readonly sqlState?: string | null; readonly cause?: unknown } = {},
  ) {
    super(`the change log cannot be read: ${reason}`, { cause: options.cause });
    this.sqlState = options.sqlState ?? null;
  }

  readonly sqlState: string | null;
}

const BY_STATE: readonly (readonly [beginning: string, reason: ChangeLogFaultReason])[] = [
  ['28', 'authentication'],
  ['42501', 'permission'],
  ['3D000', 'no_database'],
  ['55006', 'slot_in_use'],
  ['53', 'unavailable'],
  ['57P', 'unavailable'],
  ['08', 'connection_lost'],
];

/**
 * What an error of the connection means. 42704 and 55000 are the slot's before the log flows, and 42704 is the publication's
 * afterwards: a slot that is read cannot be dropped.
 */
export const changeLogFaultOf = (error: unknown, phase: 'before' | 'flowing'): ChangeLogFault => {
  if (error instanceof ChangeLogFault) return error;
  const sqlState = sqlStateOf(error);
  if (sqlState === null) return new ChangeLogFault('connection_lost', { cause: error });
  const known = BY_STATE.find(([beginning]) => sqlState.startsWith(beginning))?.[1];
  return new ChangeLogFault(known ?? reasonInPhase(sqlState, phase), { sqlState, cause: error });
};

const reasonInPhase = (sqlState: string, phase: 'before' | 'flowing'): ChangeLogFaultReason => {
  if (sqlState === '42704') return phase === 'before' ? 'slot_missing' : 'publication_missing';
  if (sqlState === '55000') return 'slot_invalidated';
  return 'refused';
};
