import type { ConnectorDriver, ConnectorType } from '../connectors/index.js';

/** The drivers of this deployment. A type without one serves no tools. */
export abstract class ConnectorRegistry {
  abstract driverOf(type: ConnectorType): ConnectorDriver | null;
}
