import type { OrgId } from '../kernel/index.js';
import type { ConnectorType } from './connector.events.js';

/** Where to find a connector: its stream says what it is. */
export interface ListedConnector {
  readonly org: OrgId;
  readonly name: string;
}

/**
 * The connectors of all organizations as a projection lists them, for work that looks again and again: one that was just
 * made may not be there yet, and one that was deleted may be there still. Never for an answer to a request.
 */
export interface ListedConnectors {
  /** Those of these types that are active, in pages and in no particular order. */
  active(types: readonly ConnectorType[]): AsyncIterable<readonly ListedConnector[]>;
}
