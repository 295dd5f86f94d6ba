import type { Payload } from '#libs/domain/kernel';

/** A prepared statement by its name. */
interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/**
 * SQL functions that write rows of another context in the commit of an append. Each takes the log's lock, writes the
 * rows, and calls the append function. The store knows only how to call them; they are installed by, and belong to, the
 * context that has the rows.
 */
export interface AppendFunctions {
  /** Takes what the append function takes, then the payloads' arrays; returns what the append function does. */
  readonly withPayloads: NamedStatement;
  /**
   * Writes companions as well. Takes the number of the appends and of their events without companions, the end of the
   * log, the demanded streams and their revisions, and then what `withPayloads` takes, for appends and companions
   * together. Returns one more column, `is_accompanied`.
   */
  readonly accompanied: NamedStatement;
  /** Payloads as arrays for the parameters of these statements. */
  payloadArrays(payloads: readonly Payload[]): readonly Buffer[];
}
