import {
  canonicalize,
  checkArguments,
  commitUnder,
  digestOf,
  StrictJsonError,
  type Digest,
  type JsonObject,
  type Salt,
} from '#libs/crypto';
import {
  isLive,
  isNamedByServer,
  type ConnectorDriver,
  type ConnectorState,
  type LiveConnector,
  type RequestFacts,
  type ToolDescription,
} from '../../connectors/index.js';
import { stopCodeOf, type LivingAgent } from '../../agents/index.js';
import {
  ERROR_CATALOGUE,
  SIDE_EFFECTS,
  type ActionId,
  type ErrorCode,
  type KeyId,
  type SideEffect,
  type TraceContext,
} from '../../kernel/index.js';
import type { LivingOrganization } from '../../people/index.js';
import type { PolicyInput } from '../../policies/index.js';
import {
  type ActionMode,
  type Decision,
  type Submission,
  type SubmissionOrigin,
  type SubmittedIntent,
  comparisonDigestOf,
  requestDigestOf,
  requestTextOf,
  keptToolName,
  parseToolName,
  type ToolName,
} from '../action/index.js';
import type { ConnectorRegistry } from '../kernel/index.js';

/** A request as the API accepted it: its shape is checked, and nothing is judged yet. */
export interface ActionRequest {
  /** As sent; any length and form. */
  readonly tool: string;
  /**
   * The arguments, or the strict parser's error. The error is not thrown at once, because the checks of a signed intent
   * come first (rule INTENT-6).
   */
  readonly args: JsonObject | StrictJsonError;
  readonly mode: ActionMode;
  /** `mcp`: the agent's own MCP server provides the tool, and no connector of the organization. Proxy mode only. */
  readonly connectorType: 'mcp' | null;
  readonly key: KeyId;
  readonly livemode: boolean;
  readonly idempotencyKey: string | null;
  readonly onBehalfOf: string | null;
  readonly session: string | null;
  /** Every value of the header `Service-Intent`, in the order sent. */
  readonly intent: readonly string[];
  /** Null if the request had no valid trace context. */
  readonly trace: TraceContext | null;
  /** `mcp`: the call came through the MCP door. Absent: through `POST /v1/actions`. */
  readonly origin?: SubmissionOrigin;
}

/** A signed intent that has passed checks 1 to 12 for this call. */
export interface AcceptedIntent extends SubmittedIntent {
  readonly hash: Digest;
  readonly header: string;
}

/**
 * The request with its arguments in canonical form, from which the digests are computed. After its intent was accepted,
 * `onBehalfOf` and `session` are those of the intent.
 */
export interface CanonicalRequest extends ActionRequest {
  readonly args: JsonObject;
  readonly canonicalArgs: string;
  readonly argsDigest: Digest;
  readonly name: ToolName | null;
  /** Null if the call has no signed intent, or the agent's intent mode is `off`. */
  readonly signed: AcceptedIntent | null;
}

/** @throws {StrictJsonError} if the arguments are invalid (rule FORM-7) */
export const canonicalArguments = (
  args: ActionRequest['args'],
): { readonly canonicalArgs: string; readonly argsDigest: Digest } => {
  if (args instanceof StrictJsonError) throw args;
  const { bytes, digest } = checkArguments(args);
  return { canonicalArgs: Buffer.from(bytes).toString('utf8'), argsDigest: digest };
};

/** @throws {StrictJsonError} if the arguments are invalid (rule FORM-7) */
export const canonicalRequest = (request: ActionRequest): CanonicalRequest => {
  const { canonicalArgs, argsDigest } = canonicalArguments(request.args);
  const name = parseToolName(request.tool);
  return {
    canonicalArgs,
    argsDigest,
    name,
    signed: null,
    ...(request as ActionRequest & { args: JsonObject }),
  };
};

/** Whether the tool is known to the agent only. Then no connector is looked up, even if one has the same name. */
export const isKnownToEdgeAlone = ({ connectorType, name }: CanonicalRequest): boolean =>
  connectorType === 'mcp' && name !== null;

/** The connector and tool that a qualified name resolves to now. */
export interface ResolvedTool {
  readonly connector: LiveConnector;
  readonly tool: ToolDescription;
  /** Of this call: the tool's own, or a graver one that its arguments bring. */
  readonly sideEffect: SideEffect;
  readonly facts: RequestFacts;
}

export const resolveTool = (
  request: Pick<CanonicalRequest, 'name' | 'args'>,
  connector: ConnectorState,
  registry: ConnectorRegistry,
): ResolvedTool | null => {
  if (!request.name || !isLive(connector) || connector.status !== 'active') return null;
  const driver = registry.driverOf(connector.type);
  const tool = driver?.toolOf(connector, request.name.tool);
  if (!driver || !tool) return null;
  const sideEffect = sideEffectOfCall(driver, connector, tool, request.args);
  return { connector, tool, sideEffect, facts: driver.requestFacts(connector, request.name.tool, request.args) };
};

/** What a policy reads as the side effect of a call with these arguments: never less than that of its tool. */
export const sideEffectOfCall = (
  driver: ConnectorDriver,
  connector: LiveConnector,
  tool: Pick<ToolDescription, 'name' | 'sideEffect'>,
  args: JsonObject,
): SideEffect => graverOf(tool.sideEffect, driver.sideEffectOf(connector, tool.name, args));

/** They stand in the order of their gravity. Of what nobody knows the gravest is to be feared. */
const graverOf = (one: SideEffect, other: SideEffect): SideEffect =>
  SIDE_EFFECTS.indexOf(one) >= SIDE_EFFECTS.indexOf(other) ? one : other;

/**
 * The digests by which duplicates are compared. For a duplicate, pass the tool digest of the original action: its tool
 * is not resolved again.
 */
export const comparisonOf = (
  request: Pick<CanonicalRequest, 'tool' | 'canonicalArgs' | 'mode' | 'onBehalfOf' | 'session'>,
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
  // The members are in RFC 8785 order, as the document is written.
  agent: { id: agent.agent, labels: agent.labels, name: agent.name },
  args: request.args,
  intent: { signed: request.signed !== null },
  mode: request.mode,
  now,
  request: resolved?.facts ?? {},
  session: { ref: request.session },
  side_effect: resolved?.sideEffect ?? 'unknown',
  tool: request.tool,
  user: { ref: request.onBehalfOf },
});

export const submissionOf = (
  request: CanonicalRequest,
  action: ActionId,
  agent: LivingAgent,
  resolved: ResolvedTool | null,
  input: { document: { body: string; digest: Digest; salt: Salt }; idempotencyKeyHash: string | null },
): Submission => {
  const toolDigest = resolved?.tool.digest ?? null;
  const digests = comparisonOf(request, toolDigest);
  const { document } = input;
  const submission: Submission = {
    action,
    org: agent.org,
    agent: agent.agent,
    agent_name: agent.name,
    key: request.key,
    livemode: request.livemode,
    ...keptToolName(request.tool),
    connector: resolved?.connector.id ?? null,
    tool_digest: toolDigest,
    side_effect: resolved?.sideEffect ?? 'unknown',
    mode: request.mode,
    args_digest: request.argsDigest,
    request_digest: digests.request,
    comparison_digest: digests.comparison,
    idempotency_key_hash: input.idempotencyKeyHash,
    on_behalf_of: request.onBehalfOf,
    session: request.session,
    intent_signed: false,
    intent_hash: null,
    input_digest: document.digest,
    commitments: {
      args: commitUnder(document.salt, 'args', request.canonicalArgs),
      input: commitUnder(document.salt, 'input', document.body),
      request: commitUnder(document.salt, 'request', requestTextOf(request, toolDigest)),
    },
  };
  const from = request.origin === undefined ? submission : { ...submission, origin: request.origin };
  const traced = request.trace === null ? from : { ...from, trace: request.trace };
  return request.signed === null ? traced : signedSubmission(traced, request.signed);
};

const signedSubmission = (submission: Submission, { hash, kid, nonce, exp, header }: AcceptedIntent): Submission => ({
  ...submission,
  intent_signed: true,
  intent_hash: hash,
  intent: { kid, nonce, exp, header },
});

/** The payload document of a policy input: RFC 8785 text and its digest. */
export const inputDocument = (input: PolicyInput): { body: string; digest: Digest } => {
  // Facts and labels are always plain JSON; canonicalize throws for anything else.
  const body = canonicalize(input);
  return { body, digest: digestOf(body) };
};

/** The refusals that the gate makes before it asks a policy: first for a Stop, then for an unknown tool. */
export const builtinDecision = (
  agent: LivingAgent,
  org: LivingOrganization,
  isProvided: boolean,
  whyUnknown: () => string,
): Decision | null => {
  const stopped = stopCodeOf(agent.status, org.status);
  if (stopped) return refusal(stopped, 'stop', org, ERROR_CATALOGUE[stopped].message);
  return isProvided ? null : refusal('tool_unknown', 'builtin', org, whyUnknown());
};

/** A message that says why the tool is unknown. It blames the name only if the name is wrong. */
export const whyToolUnknown = ({ name }: CanonicalRequest, connector: ConnectorState | null): string => {
  if (!name)
    return 'This is no name of a tool. Write <connector>.<tool>, or in an MCP client of all connectors <connector>__<tool>, as the connectors of your organization have it.';
  if (connector === null || !isLive(connector)) {
    return `There is no connector ${name.connector}. Check the name, written <connector>.<tool>, against the connectors of your organization.`;
  }
  if (connector.status !== 'active' && connector.disabledReason !== undefined && connector.disabledReason !== null) {
    return `The service disabled the connector ${name.connector} (${connector.disabledReason}), so none of its tools can be called. An admin sees on the connector what happened, and enables it once the cause is gone.`;
  }
  if (connector.status !== 'active') {
    return `The connector ${name.connector} is disabled, so none of its tools can be called. Ask an admin to enable it with PATCH /v1/connectors/${name.connector} and {"status": "active"}.`;
  }
  if (isNamedByServer(connector.type) && connector.discovered === undefined) {
    return `The server of the connector ${name.connector} has not said yet which tools it has. An admin sees what keeps it from answering with POST /v1/connectors/${name.connector}/test.`;
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
