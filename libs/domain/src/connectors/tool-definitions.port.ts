import type { Digest } from '#libs/crypto';

import type { ConnectorId, OrgId } from '../kernel/index.js';

/** Whose definitions they are: the stream of the name says which of them it names. */
export interface DefinitionsPlace {
  readonly org: OrgId;
  readonly name: string;
  readonly connector: ConnectorId;
}

export interface ToolDefinition {
  readonly digest: Digest;
  /** RFC 8785 text. */
  readonly body: string;
}

export interface StoredDefinition extends DefinitionsPlace {
  readonly digest: Digest;
}

/**
 * What servers say of their tools, beside the log (docs/architecture.md, Rows beside the log): written no later than the
 * event that names them by digest, and inert until then. They stay while their connector names them.
 */
export abstract class ToolDefinitions {
  /** Writes all or none. Writing the same again makes its rows young again, for the sweeper. */
  abstract put(place: DefinitionsPlace, definitions: readonly ToolDefinition[]): Promise<void>;

  /** By digest; those that are not stored, or not as their digest says, are left out. */
  abstract get(connector: ConnectorId, digests: readonly Digest[]): Promise<ReadonlyMap<Digest, string>>;

  /** Rows that were written before that age, in no particular order, for the sweeper. */
  abstract olderThan(ageMs: number): AsyncIterable<StoredDefinition>;

  /** Removes a row that is still older: one that was written again meanwhile may be named by an event on its way. */
  abstract removeOlder(row: StoredDefinition, ageMs: number): Promise<void>;
}
