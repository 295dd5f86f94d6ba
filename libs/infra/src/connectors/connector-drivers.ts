import type { ConnectorDriver, ConnectorType } from '#libs/domain/connectors';
import { ConnectorRegistry } from '#libs/domain/gate';

import type { DriverTools } from './driver-tools.js';
import * as SERVED from './served-drivers.js';

const DRIVERS: readonly (new (tools: DriverTools) => ConnectorDriver)[] = Object.values(SERVED);

/** The drivers this build has, by type. */
export class ConnectorDrivers extends ConnectorRegistry {
  private readonly byType: ReadonlyMap<ConnectorType, ConnectorDriver>;

  constructor(tools: DriverTools) {
    super();
    this.byType = new Map(DRIVERS.map((Driver) => new Driver(tools)).map((driver) => [driver.type, driver]));
  }

  get types(): readonly ConnectorType[] {
    return [...this.byType.keys()];
  }

  override driverOf(type: ConnectorType): ConnectorDriver | null {
    return this.byType.get(type) ?? null;
  }
}
