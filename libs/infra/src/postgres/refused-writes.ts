import { sqlStateOf } from './sql-state.js';

/** Where the server says that it takes no writes: what to do, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  '53100': 'The disk of the database is full: free some space there',
  '25006':
    'It takes no writes, as a standby or by its settings: name the primary in DATABASE_URL, or let it write again',
  '58030': "The disk of the database fails: look at the machine's own log, and at that of PostgreSQL",
};

/** A half sentence that says what to do about a server which answers and refuses to write. Null for any other error. */
export const adviceOnRefusedWrite = (error: unknown): string | null => ADVICE[sqlStateOf(error) ?? ''] ?? null;

/** How the C library, and with it PostgreSQL and its tools, say that a disk is full. */
export const isOutOfSpace = (said: string): boolean => /No space left on device|Disk quota exceeded/.test(said);
