import type { ConnectorId, OrgId } from '../kernel/index.js';

/** What the gate knows and connectors must ask: a connector with an action executing cannot be deleted (rule CON-5). */
export abstract class RunningExecutions {
  abstract isAnyRunning(org: OrgId, connector: ConnectorId): Promise<boolean>;
}
