import type { ConnectorDriver, ConnectorType } from '#libs/domain/connectors';
import { ConnectorRegistry } from '#libs/domain/gate';

/** The drivers this build has, by type. */
export class ConnectorDrivers extends ConnectorRegistry {
  private readonly byType: ReadonlyMap<ConnectorType, ConnectorDriver>;

  constructor(drivers: readonly ConnectorDriver[]) {
    super();
    this.byType = new Map(drivers.map((driver) => [driver.type, driver]));
  }

  override driverOf(type: ConnectorType): ConnectorDriver | null {
    return this.byType.get(type) ?? null;
  }
}
