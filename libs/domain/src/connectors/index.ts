export type {
  ConnectorEvent,
  ConnectorStatus,
  ConnectorType,
  CredentialFacts,
  CredentialKind,
} from './connector.events.js';
export type { CheckedConfig, ConnectorCommand } from './connector.commands.js';
export { connectorDecider } from './connector.decider.js';
export { connectorStreamId, type ConnectorState, isLive, type LiveConnector } from './connector.state.js';
export {
  type ArgumentFault,
  type CallOutcome,
  type ConnectorCall,
  ConnectorDriver,
  type RequestFacts,
  type SideEffect,
  type ToolDescription,
} from './connector-driver.port.js';
export { EgressPolicy } from './egress-policy.port.js';
export { RunningExecutions } from './running-executions.port.js';
export { type OpenedSecret, type SecretPlace, type StoredSecret, Vault } from './vault.port.js';
