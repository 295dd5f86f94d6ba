import { canonicalize, checkArguments, digestOf, type Digest, type JsonObject } from '#libs/crypto';
import {
  isLive,
  type ConnectorState,
  type LiveConnector,
  type RequestFacts,
  type ToolDescription,
} from '../connectors/index.js';
import { stopCodeOf, type LivingAgent } from '../agents/index.js';
import { ERROR_CATALOGUE, type ActionId, type ErrorCode, type KeyId } from '../kernel/index.js';
import type { LivingOrganization } from '../people/index.js';
import type { PolicyInput } from '../policies/index.js';
import type { ActionMode, Decision, Submission } from './action.events.js';
import type { ConnectorRegistry } from './connector-registry.port.js';
import { comparisonDigestOf, requestDigestOf } from './request-digest.js';
import { keptToolName, parseToolName, type ToolName } from './tool-name.js';

/** A request as the api accepted it: shapes checked, nothing judged yet. */
export interface ActionRequest {
  /** As sent, of any length and form. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly mode: ActionMode;
  readonly key: KeyId;
  readonly livemode: boolean;
  readonly idempotencyKey: string | null;
  readonly onBehalfOf: string | null;
  readonly session: string | null;
}

/** The request with its arguments in canonical form: everything a digest is taken over. */
export interface CanonicalRequest extends ActionRequest {
  readonly canonicalArgs: string;
  readonly argsDigest: Digest;
  readonly name: ToolName | null;
}

/** @throws {StrictJsonError} depth, too_large (document 2, arguments profile) */
export const canonicalRequest = (request: ActionRequest): CanonicalRequest => {
  const { bytes, digest } = checkArguments(request.args);
  const canonicalArgs = Buffer.from(bytes).toString('utf8');
  return { canonicalArgs, argsDigest: digest, name: parseToolName(request.tool), ...request };
};

/** What the qualified name leads to, at this moment. */
export interface ResolvedTool {
  readonly connector: LiveConnector;
  readonly tool: ToolDescription;
  readonly facts: RequestFacts;
}

export const resolveTool = (
  request: CanonicalRequest,
  connector: ConnectorState,
  registry: ConnectorRegistry,
): ResolvedTool | null => {
  if (!request.name || !isLive(connector) || connector.status !== 'active') return null;
  const driver = registry.driverOf(connector.type);
  const tool = driver?.toolOf(connector.config, request.name.tool);
  if (!driver || !tool) return null;
  return { connector, tool, facts: driver.requestFacts(connector.config, request.name.tool, request.args) };
};

/** The digest a duplicate is compared by. A duplicate uses the original's tool digest: the tool is not resolved again. */
export const comparisonOf = (
  request: CanonicalRequest,
  toolDigest: Digest | null,
): { request: Digest; comparison: Digest } => {
  const digest = requestDigestOf(request, toolDigest);
  return { request: digest, comparison: comparisonDigestOf(digest, request.onBehalfOf, request.session) };
};

export const policyInputOf = (
  request: CanonicalRequest,
  agent: LivingAgent,
  resolved: ResolvedTool | null,
  now: string,
): PolicyInput => ({
  // In the order of RFC 8785, in which the document is written.
  agent: { id: agent.agent, labels: agent.labels, name: agent.name },
  args: request.args,
  intent: { signed: false },
  mode: request.mode,
  now,
  request: resolved?.facts ?? {},
  session: { ref: request.session },
  side_effect: resolved?.tool.sideEffect ?? 'unknown',
  tool: request.tool,
  user: { ref: request.onBehalfOf },
});

export const submissionOf = (
  request: CanonicalRequest,
  action: ActionId,
  agent: LivingAgent,
  resolved: ResolvedTool | null,
  input: { digest: Digest; idempotencyKeyHash: string | null },
): Submission => {
  const toolDigest = resolved?.tool.digest ?? null;
  const digests = comparisonOf(request, toolDigest);
  return {
    action,
    org: agent.org,
    agent: agent.agent,
    agent_name: agent.name,
    key: request.key,
    livemode: request.livemode,
    ...keptToolName(request.tool),
    connector: resolved?.connector.id ?? null,
    tool_digest: toolDigest,
    side_effect: resolved?.tool.sideEffect ?? 'unknown',
    mode: request.mode,
    args_digest: request.argsDigest,
    request_digest: digests.request,
    comparison_digest: digests.comparison,
    idempotency_key_hash: input.idempotencyKeyHash,
    on_behalf_of: request.onBehalfOf,
    session: request.session,
    intent_signed: false,
    intent_hash: null,
    input_digest: input.digest,
  };
};

/** The payload document of a policy input: RFC 8785 text and its digest. */
export const inputDocument = (input: PolicyInput): { body: string; digest: Digest } => {
  // Facts and labels are plain JSON by construction; canonicalize refuses anything else.
  const body = canonicalize(input);
  return { body, digest: digestOf(body) };
};

/** The refusals the gate makes before any policy is asked: a Stop, then a tool that nobody provides. */
export const builtinDecision = (
  agent: LivingAgent,
  org: LivingOrganization,
  resolved: ResolvedTool | null,
  whyUnresolved: () => string,
): Decision | null => {
  const stopped = stopCodeOf(agent.status, org.status);
  if (stopped) return refusal(stopped, 'stop', org, ERROR_CATALOGUE[stopped].message);
  return resolved ? null : refusal('tool_unknown', 'builtin', org, whyUnresolved());
};

/** What nobody provides, in the words of its cause: only a wrong name is a matter of the name. */
export const whyToolUnknown = ({ name }: CanonicalRequest, connector: ConnectorState | null): string => {
  if (!name)
    return 'This is no name of a tool. Write <connector>.<tool>, as the connectors of your organization have it.';
  if (connector === null || !isLive(connector)) {
    return `There is no connector ${name.connector}. Check the name, written <connector>.<tool>, against the connectors of your organization.`;
  }
  if (connector.status !== 'active') {
    return `The connector ${name.connector} is disabled, so none of its tools can be called. Ask an admin to enable it with PATCH /v1/connectors/${name.connector} and {"status": "active"}.`;
  }
  return `The connector ${name.connector} has no tool ${name.tool}. Check the name against the tools of that connector.`;
};

const refusal = (code: ErrorCode, source: Decision['source'], org: LivingOrganization, message: string): Decision => ({
  outcome: 'deny',
  code,
  source,
  rule_id: null,
  reason: code,
  message,
  policy: org.enforced?.policy ?? null,
  policy_version: org.enforced?.versionId ?? null,
});
