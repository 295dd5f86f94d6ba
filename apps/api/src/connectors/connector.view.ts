import type { JsonObject } from '#libs/crypto';
import {
  type ConnectorTest,
  healthOf,
  heldToolsIn,
  type LiveConnector,
  type ToolDescription,
} from '#libs/domain/connectors';
import type { WitnessLevel } from '#libs/domain/kernel';
import type { OwnedTool } from './served-words.js';

/**
 * The connector as the API shows it. Of its credential: what is known, never a value (rule CON-3).
 * @param last its last test; null where none was made
 */
export const connectorView = (
  connector: LiveConnector,
  tools: readonly OwnedTool[],
  last: ConnectorTest | null,
): JsonObject => ({
  object: 'connector',
  id: connector.id,
  name: connector.name,
  type: connector.type,
  description: connector.description,
  status: connector.status,
  config: connector.config,
  config_hash: connector.configHash,
  credential: credentialView(connector),
  health: healthView(connector, last),
  tools: tools.map(({ tool }) => toolView(connector, tool)),
  held_tools: heldToolsIn(connector.discovered),
  created_at: connector.createdAt,
  updated_at: connector.updatedAt,
});

/** `tested_at` goes with the status; the last test stays to be read when the connector has changed since. */
const healthView = (connector: LiveConnector, last: ConnectorTest | null): JsonObject => {
  const status = healthOf(connector, last);
  return {
    status,
    reason: connector.disabledReason,
    tested_at: status === 'not_tested' || last === null ? null : last.testedAt,
    last_test: last === null ? null : connectorTestView(last),
  };
};

/** The object `connector_test`: what a test of a connector has found (rule CON-6). */
export const connectorTestView = (test: ConnectorTest): JsonObject => ({
  object: 'connector_test',
  connector: test.connector,
  status: test.status,
  checks: test.checks.map(({ check, status, detail, fix }) => ({ check, status, detail, fix })),
  tested_at: test.testedAt,
  config_hash: test.configHash,
  credential_version: test.credentialVersion,
});

const credentialView = ({ credential }: LiveConnector): JsonObject | null =>
  credential && {
    kind: credential.kind,
    fields: [...credential.fields],
    hint: credential.hint,
    set_at: credential.setAt,
  };

/** The levels that a witness of the tool's calls may have. */
const levelsOf = ({ readBack, changeLog }: ToolDescription): WitnessLevel[] => [
  'L0',
  ...(readBack === undefined ? [] : (['L1'] as const)),
  ...(changeLog === undefined ? [] : (['L2'] as const)),
];

/** A tool, by the name that actions call it by. */
export const toolView = (connector: LiveConnector, tool: ToolDescription): JsonObject => ({
  object: 'tool',
  name: `${connector.name}.${tool.name}`,
  connector: connector.id,
  title: tool.title ?? null,
  description: tool.description,
  side_effect: tool.sideEffect,
  levels: levelsOf(tool),
  read_back: tool.readBack?.sentence ?? null,
  input_schema: tool.inputSchema,
});
