import type { JsonObject } from '#libs/crypto';
import type { ConnectorDriver, LiveConnector, ToolDescription } from '#libs/domain/connectors';

/** The connector object (document 3, Connector). Of its credential: what is known, never a value. */
export const connectorView = (connector: LiveConnector, driver: ConnectorDriver | null): JsonObject => ({
  object: 'connector',
  id: connector.id,
  name: connector.name,
  type: connector.type,
  description: connector.description,
  status: connector.status,
  config: connector.config,
  config_hash: connector.configHash,
  credential: credentialView(connector),
  // No connection test is served yet, so a breaker's reason is all that can be known.
  health: { status: 'not_tested', reason: connector.disabledReason },
  tools: (driver?.toolsOf(connector.config) ?? []).map((tool) => toolView(connector, tool)),
  created_at: connector.createdAt,
  updated_at: connector.updatedAt,
});

const credentialView = ({ credential }: LiveConnector): JsonObject | null =>
  credential && {
    kind: credential.kind,
    fields: [...credential.fields],
    hint: credential.hint,
    set_at: credential.setAt,
  };

/** A tool, by the name that actions call it by. */
export const toolView = (connector: LiveConnector, tool: ToolDescription): JsonObject => ({
  object: 'tool',
  name: `${connector.name}.${tool.name}`,
  connector: connector.id,
  title: tool.title ?? null,
  description: tool.description,
  side_effect: tool.sideEffect,
  levels: tool.readBack === undefined ? ['L0'] : ['L0', 'L1'],
  read_back: tool.readBack?.sentence ?? null,
  input_schema: tool.inputSchema,
});
