export {
  CHANGE_KINDS,
  type ChangeKind,
  type CommittedTransaction,
  type SaidTable,
  type SqlKind,
  type StatementSaid,
  type TableCounts,
} from './change-log.js';
export type { CheckedConfig, ConnectorCommand } from './connector.commands.js';
export { isConnectorName } from './connector-name.js';
export { connectorDecider } from './connector.decider.js';
export {
  CONNECTOR_STATUSES,
  CONNECTOR_TYPES,
  type ConnectorEvent,
  type ConnectorStatus,
  type ConnectorType,
  CREDENTIAL_KINDS,
  type CredentialFacts,
  type CredentialKind,
} from './connector.events.js';
export { connectorStreamId, type ConnectorState, isLive, type LiveConnector } from './connector.state.js';
export {
  type ArgumentFault,
  type CallOutcome,
  type ChangeJudgement,
  type ChangeLogTerms,
  type ConnectorCall,
  type FactsQuestion,
  type ReadFacts,
  ConnectorDriver,
  failedOutcome,
  type HeldTool,
  type LostCall,
  NO_PREVIEW,
  type ReadBackCall,
  type RequestPreview,
  type ShownRequest,
  type ShownStatement,
  type SideEffect,
  type ToolDescription,
  type ToolsAnswer,
  type ToolsQuestion,
} from './connector-driver.port.js';
export type { CallCost, RequestFacts, SqlFacts } from './request-facts.js';
export { ConnectorSettings } from './connector-settings.js';
export { ConnectorStreams } from './connector-streams.js';
export { ConnectorHealth, TESTS_A_MINUTE } from './connector-health.port.js';
export { ConnectorHealthSweeper } from './connector-health-sweeper.js';
export {
  type CheckFinding,
  COMMON_CHECKS,
  type ConnectorCheck,
  type ConnectorTest,
  failedCheck,
  healthOf,
  passedCheck,
  skippedCheck,
  type TestedConnector,
  type TestedPlace,
} from './connector-test.js';
export type { CatalogueEntry, ChangeLogPlace } from './connector-type.js';
export {
  catalogueOf,
  changeLogOf,
  CONNECTOR_CATALOGUE,
  isNamedByServer,
  NAMED_BY_SERVER,
  readConfig,
  SERVED_TYPES,
  servedTypesOf,
  type StoredConfig,
} from './connector-types.js';
export { CREDENTIAL_BODY_MAX_BYTES, CREDENTIAL_FIELDS, OPTIONAL_CREDENTIAL_FIELDS } from './credential.js';
export { CredentialSweeper } from './credential-sweeper.js';
export {
  DISCOVERED_STATUSES,
  type DiscoveredTool,
  type DiscoveredTools,
  discoveredStatusOf,
  heldToolsIn,
  isHeldTool,
  type ToolHints,
} from './discovered-tools.js';
export { EgressPolicy, type Reach, type ReachedAddresses, type TlsFault } from './egress-policy.port.js';
export {
  AcceptTools,
  type ConnectorAddress,
  CreateConnector,
  DeleteConnector,
  PutCredentials,
  RemoveCredentials,
  UpdateConnector,
} from './handlers/connector.messages.js';
export { AcceptToolsHandler } from './handlers/accept-tools.handler.js';
export { ConnectorTests } from './handlers/connector-tests.js';
export { CreateConnectorHandler } from './handlers/create-connector.handler.js';
export { DeleteConnectorHandler } from './handlers/delete-connector.handler.js';
export { PutCredentialsHandler } from './handlers/put-credentials.handler.js';
export { RemoveCredentialsHandler } from './handlers/remove-credentials.handler.js';
export { ToolDiscovery } from './handlers/tool-discovery.js';
export { ToolDiscoverySweeper } from './handlers/tool-discovery-sweeper.js';
export { UpdateConnectorHandler } from './handlers/update-connector.handler.js';
export type { ListedConnector, ListedConnectors } from './listed-connectors.port.js';
export {
  type ComparedValues,
  longestReadBackMs,
  nothingToRead,
  type Observation,
  type ReadBackTerms,
  type ReadBackVerdict,
} from './read-back.js';
export { REDACTED } from './redacted.js';
export { RunningExecutions } from './running-executions.port.js';
export { partsOfTable, qualifiedName, spelledName } from './table-name.js';
export {
  ATTEMPTS_MAX,
  isRetriedStatus,
  retryDelayMs,
  type UpstreamVerdict,
  verdictOfStatus,
} from './upstream-mapping.js';
export {
  DIFF_ROWS_MAX,
  type LoggedColumn,
  type LoggedRow,
  type LoggedTable,
  type LoggedTransaction,
  type LoggedValue,
  type ReplicaIdentity,
} from './logged-transaction.js';
export {
  type DefinitionsPlace,
  type StoredDefinition,
  type ToolDefinition,
  ToolDefinitions,
} from './tool-definitions.port.js';
export { ToolDefinitionSweeper } from './tool-definition-sweeper.js';
export { type FetchedTools, ToolRecorder } from './tool-recorder.js';
export { type ChangedTool, changedTools, type ToolsBrief, toolsBriefAfter } from './tools-brief.js';
export { ConnectorBreakers } from './connector-breakers.js';
export type { TrippedBreaker } from './tripped-breaker.js';
export { argumentsFaultOfFixed, argumentText, type FixedTool, inputSchemaOfFixed } from './fixed-tool.js';
export type { HttpRequest } from './http-request.js';
export { type OpenedSecret, type SecretPlace, type StoredSecret, Vault } from './vault.port.js';
