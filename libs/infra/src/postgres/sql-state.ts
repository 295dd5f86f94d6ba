const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * SQLSTATE classes and codes after which the same statement may succeed on this or a fresh connection
 * (PostgreSQL documentation, appendix A).
 */
const PASSING = [
  '08', // connection exception
  '53', // insufficient resources: disk, memory, connections
  '57P', // administrator's shutdown, crash shutdown, cannot connect now
  '57014', // query canceled: our statement timeout
  '55P03', // lock not available in time
  '40001', // serialization failure
  '40P01', // deadlock
  '25006', // read-only: the old primary after a failover
  '58030', // input or output error
] as const;

/** The server judged the statement itself: class 22 (data), 23 (constraints), 54 (a program's limit). */
const REFUSED = ['22', '23', '54'] as const;

/** The SQLSTATE of an error: five characters; null if the error does not come from the server. */
export const sqlStateOf = (error: unknown): string | null => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && SQLSTATE.test(code) && isFromServer(error) ? code : null;
};

/** System errors (`EPIPE`) have codes of five letters too, but only errors of the server have a severity. */
const isFromServer = (error: unknown): boolean =>
  typeof (error as { severity?: unknown } | null)?.severity === 'string';

/** Whether the statement itself was refused and would be again: bad data, a violated constraint. */
export const isRefusedStatement = (error: unknown): boolean => startsWithAny(sqlStateOf(error), REFUSED);

/**
 * Whether an error may pass, so that another try is worth it: those in {@link PASSING}, and errors of the driver or the
 * system without an SQLSTATE (most have no code at all: connection terminated, timeouts). An error of a class of its
 * own is a defect or somebody's answer, and never passes.
 */
export const isPassing = (error: unknown): boolean => {
  const state = sqlStateOf(error);
  if (state !== null) return startsWithAny(state, PASSING);
  // Dialling several addresses fails with one error for all of them.
  return error instanceof AggregateError || (error instanceof Error && error.constructor === Error);
};

const startsWithAny = (state: string | null, beginnings: readonly string[]): boolean =>
  state !== null && beginnings.some((beginning) => state.startsWith(beginning));
