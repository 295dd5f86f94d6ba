import type { HeldTool } from '../../connectors/index.js';
import type { LivingOrganization } from '../../people/index.js';
import type { Decision } from '../action/index.js';
import type { ResolvedTool } from './call-request.js';

/** Why a call is denied whose tool is not as a person accepted it (docs/connectors-mcp-http.md). */
const TOOL_CHANGED = 'tool_changed';

/** The refusal of a call whose tool is held; null where its tool can be called. */
export const heldDecision = ({ connector, tool }: ResolvedTool, { enforced }: LivingOrganization): Decision | null =>
  tool.held === undefined
    ? null
    : {
        outcome: 'deny',
        code: 'policy_denied',
        source: 'builtin',
        rule_id: null,
        reason: TOOL_CHANGED,
        message: heldSentence(connector.name, tool.name, tool.held),
        policy: enforced?.policy ?? null,
        policy_version: enforced?.versionId ?? null,
      };

/** What differs, and what to do. Nothing of what the server says stands in it. */
export const heldSentence = (connector: string, tool: string, { observed, accepted }: HeldTool): string => {
  const what =
    accepted === null
      ? `The server of the connector ${connector} has the tool ${tool} newly, and nobody has accepted it: ${observed}.`
      : `The server of the connector ${connector} describes the tool ${tool} otherwise than was accepted: ${accepted} was, and it is ${observed} now.`;
  return `${what} An admin can look at it with GET /v1/connectors/${connector}/tools, and accept it with POST /v1/connectors/${connector}/tools/accept.`;
};
