import { setTimeout as sleep } from 'node:timers/promises';

import { digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';
import {
  ATTEMPTS_MAX,
  type CallOutcome,
  type CheckFinding,
  COMMON_CHECKS,
  type ConnectorCall,
  type ConnectorCheck,
  ConnectorDriver,
  failedOutcome,
  type LiveConnector,
  NO_PREVIEW,
  nothingToRead,
  type Observation,
  type ReadBackCall,
  type RequestFacts,
  type RequestPreview,
  type TestedConnector,
  type ToolDescription,
} from '#libs/domain/connectors';
import {
  buildRestRequest,
  inputSchemaOf,
  isConfirmed,
  isRepeatable,
  moneyMarksOf,
  planReadBack,
  previewOfRestRequest,
  readBackTermsOf,
  type RestConfig,
  restConfigOf,
  restRequestFacts,
  type RestTool,
  sensitiveValuesOf,
} from '#libs/domain/connectors/rest';
import type { Clock } from '#libs/domain/kernel';

import type { DriverTools } from '../driver-tools.js';
import { type EndedCall, type HttpCall, HttpCaller, withoutAnswer } from '../http-caller.js';
import { applyCredential } from './rest-credential.js';
import { authFindingOf, NO_TEST_REQUEST, testToolOf } from './rest-auth-check.js';
import { observationOf } from './rest-observation.js';
import { redirectOf } from './rest-redirects.js';

/** A call, or the request of a connection test, which is no action. */
type RestCall = HttpCall & Pick<ConnectorCall, 'args' | 'traceparent'>;

interface ToolCall {
  readonly call: RestCall;
  readonly config: RestConfig;
  readonly tool: RestTool;
}

/** Runs the tools of connectors of type `rest` (docs/connectors-rest.md). */
export class RestDriver extends ConnectorDriver {
  override readonly type = 'rest';
  /** A folded config is one object until it changes, and its descriptions go with it. */
  private readonly described = new WeakMap<JsonObject, readonly ToolDescription[]>();

  private readonly caller: HttpCaller;
  private readonly clock: Clock;

  constructor({ door, vault, clock, randomness, logger }: Omit<DriverTools, 'sql'>) {
    super();
    this.caller = new HttpCaller({ door, vault, clock, randomness, logger });
    this.clock = clock;
  }

  override toolOf(connector: LiveConnector, toolName: string): ToolDescription | null {
    return this.toolsOf(connector).find(({ name }) => name === toolName) ?? null;
  }

  override toolsOf({ config }: LiveConnector): readonly ToolDescription[] {
    const known = this.described.get(config);
    if (known !== undefined) return known;
    const rest = restConfigOf(config);
    const described = rest.tools.map((tool) => describe(rest, tool));
    this.described.set(config, described);
    return described;
  }

  override requestFacts({ config }: LiveConnector, toolName: string, args: JsonObject): RequestFacts {
    const tool = toolNamed(config, toolName);
    return tool === undefined ? {} : restRequestFacts(restConfigOf(config), tool, args);
  }

  override previewOf({ config }: LiveConnector, toolName: string, args: JsonObject): RequestPreview {
    const tool = toolNamed(config, toolName);
    return tool === undefined ? NO_PREVIEW : previewOfRestRequest(restConfigOf(config), tool, args);
  }

  override async send(call: ConnectorCall): Promise<CallOutcome> {
    const { outcome } = await this.call(call);
    const { connector, toolName, args } = call;
    if (outcome.status !== 'succeeded' || toolNamed(connector.config, toolName)?.cost === undefined) return outcome;
    const { cost } = this.requestFacts(connector, toolName, args);
    return cost === undefined ? outcome : { ...outcome, cost };
  }

  override async observe(write: ReadBackCall): Promise<Observation> {
    const { connector, toolName, args, result } = write;
    const tool = toolNamed(connector.config, toolName);
    if (tool === undefined || !isConfirmed(tool)) return nothingToRead('tool_unknown');
    const plan = planReadBack(tool.readback, args, result);
    if (typeof plan === 'string') return nothingToRead(plan);
    const read = { ...write, toolName: tool.readback.tool, args: plan.args };
    const ended = await this.callPatiently(read, sensitiveValuesOf(tool, args));
    return observationOf({ tool, args, plan }, ended);
  }

  /** With the attempts that a call of the read tool has (rule EXEC-2). */
  private async callPatiently(
    call: Omit<ConnectorCall, 'agent' | 'attempt' | 'recordProgress'>,
    alsoSensitive: readonly JsonValue[],
  ): Promise<EndedCall> {
    for (let attempt = 1; ; attempt += 1) {
      const ended = await this.call({ ...call, attempt: attempt as ConnectorCall['attempt'] }, alsoSensitive);
      const { retryAfterMs: delayMs } = ended.outcome;
      if (delayMs === null) return ended;
      await sleep(delayMs);
    }
  }

  override checks(): readonly ConnectorCheck[] {
    return [{ name: 'auth', restsOn: COMMON_CHECKS, run: (tested) => this.checkAuth(tested) }];
  }

  /** As a call of a tool that reads, once, on a connection of its own, and with nothing of ours in its headers. */
  private async checkAuth({ connector, deadlineMonotonicMs, mayStillSend }: TestedConnector): Promise<CheckFinding> {
    const config = { ...restConfigOf(connector.config), send_action_id: false };
    const tool = testToolOf(config);
    if (tool === null) return NO_TEST_REQUEST;
    const itsDeadlineMs = this.clock.monotonicMs() + config.timeout_ms;
    const call: RestCall = {
      org: connector.org,
      action: null,
      connector,
      args: {},
      attempt: ATTEMPTS_MAX,
      traceparent: null,
      deadlineMonotonicMs: Math.min(deadlineMonotonicMs, itsDeadlineMs),
      mayStillSend,
    };
    return authFindingOf(config, tool, await this.callTool({ call, config, tool }));
  }

  private async call(
    call: Omit<ConnectorCall, 'agent' | 'recordProgress'>,
    alsoSensitive: readonly JsonValue[] = [],
  ): Promise<EndedCall> {
    const config = restConfigOf(call.connector.config);
    const tool = toolNamed(call.connector.config, call.toolName);
    if (tool === undefined) return withoutAnswer(failedOutcome('tool_unknown', TOOL_GONE));
    return this.callTool({ call, config, tool }, alsoSensitive);
  }

  private async callTool(
    { call, config, tool }: ToolCall,
    alsoSensitive: readonly JsonValue[] = [],
  ): Promise<EndedCall> {
    const built = buildRestRequest(config, tool, call.args, call.action ?? '', call.traceparent);
    if (!built.ok) return withoutAnswer(failedOutcome('validation_failed', `${built.fault.message} Nothing was sent.`));
    return this.caller.send({
      call,
      toolName: tool.name,
      isRead: tool.side_effect === 'read',
      isRepeatable: isRepeatable(tool),
      request: built.request,
      // A config that asks for none uses none, also when one is stored; another kind than asked for is as good as none.
      credentialKind: config.auth.kind,
      applied: (secret) => applyCredential(config, secret),
      sensitive: alsoSensitive,
      maxResponseBytes: config.max_response_bytes,
      redirectOf: (response, from, followed) => redirectOf(config, tool, response, from, followed),
    });
  }
}

const TOOL_GONE = 'The connector no longer has this tool, and nothing was sent.';

const toolNamed = (config: JsonObject, toolName: string): RestTool | undefined =>
  restConfigOf(config).tools.find(({ name }) => name === toolName);

const describe = (config: RestConfig, tool: RestTool): ToolDescription => {
  const readBack = readBackTermsOf(tool);
  const money = moneyMarksOf(tool);
  return {
    name: tool.name,
    description: tool.description ?? null,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(money === null ? {} : { money }),
    ...(tool.cost === undefined ? {} : { namesCost: true }),
    sideEffect: tool.side_effect,
    isRepeatable: isRepeatable(tool),
    digest: digestOfJson(definitionOf(config, tool)),
    timeoutMs: config.timeout_ms,
    inputSchema: inputSchemaOf(tool),
    ...(readBack === null ? {} : { readBack }),
  };
};

/**
 * What a call of the tool sends, where to, how the credential travels, and what confirms it: what the policy judged, and
 * a deed names. A tool that another one is confirmed by belongs to the meaning of that other.
 */
const definitionOf = ({ base_url, auth, headers, send_action_id, tools }: RestConfig, tool: RestTool): JsonObject => {
  const reader = tools.find(({ name }) => name === tool.readback?.tool);
  const confirmed = reader === undefined ? {} : { read_tool: reader };
  const definition = { base_url, auth, headers: headers ?? {}, send_action_id, tool, ...confirmed };
  return definition as unknown as JsonObject;
};
