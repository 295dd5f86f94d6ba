import { sqlStateOf } from './sql-state.js';

/** What to do about a server that accepts no writes, by SQLSTATE. */
const ADVICE: Readonly<Record<string, string>> = {
  '53100': 'The disk of the database is full: free some space there',
  '25006':
    'It takes no writes, as a standby or by its settings: name the primary in DATABASE_URL, or let it write again',
  '58030': "The disk of the database fails: look at the machine's own log, and at that of PostgreSQL",
};

/** A half sentence that says what to do about a server which answers but refuses to write. Null for any other error. */
export const adviceOnRefusedWrite = (error: unknown): string | null => ADVICE[sqlStateOf(error) ?? ''] ?? null;

/** Whether a text is the message of the C library (and so of PostgreSQL and its tools) for a full disk. */
export const isOutOfSpace = (said: string): boolean => /No space left on device|Disk quota exceeded/.test(said);
