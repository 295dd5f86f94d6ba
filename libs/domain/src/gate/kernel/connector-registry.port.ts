import type { ConnectorDriver, ConnectorType } from '../../connectors/index.js';

/** The connector drivers of this deployment. A connector type without a driver (null) has no tools. */
export abstract class ConnectorRegistry {
  abstract driverOf(type: ConnectorType): ConnectorDriver | null;
}
