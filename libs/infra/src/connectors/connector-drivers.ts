import { type ConnectorDriver, type ConnectorType, servedTypesOf } from '#libs/domain/connectors';
import { ConnectorRegistry } from '#libs/domain/gate';

import type { DriverTools } from './driver-tools.js';
import * as SERVED from './served-drivers.js';

const DRIVERS: readonly (new (tools: DriverTools) => ConnectorDriver)[] = Object.values(SERVED);

/**
 * The drivers that run here, by type. A log that was begun in development may have connectors of a type that production
 * does not have: without a driver they have no tools, and no call of theirs runs.
 */
export class ConnectorDrivers extends ConnectorRegistry {
  private readonly byType: ReadonlyMap<ConnectorType, ConnectorDriver>;

  constructor(tools: DriverTools, surroundings: { readonly isProduction: boolean }) {
    super();
    const served = servedTypesOf(surroundings);
    const drivers = DRIVERS.map((Driver) => new Driver(tools)).filter(({ type }) => served.includes(type));
    this.byType = new Map(drivers.map((driver) => [driver.type, driver]));
  }

  get types(): readonly ConnectorType[] {
    return [...this.byType.keys()];
  }

  override driverOf(type: ConnectorType): ConnectorDriver | null {
    return this.byType.get(type) ?? null;
  }
}
