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
  isRetriedStatus,
  type LiveConnector,
  NO_PREVIEW,
  nothingToRead,
  type Observation,
  type OpenedSecret,
  type ReadBackCall,
  type RequestFacts,
  type RequestPreview,
  retryDelayMs,
  type TestedConnector,
  type ToolDescription,
  type Vault,
  verdictOfStatus,
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
  type RestRequest,
  restRequestFacts,
  type RestTool,
  sensitiveValuesOf,
} from '#libs/domain/connectors/rest';
import {
  type ActionId,
  type Clock,
  DomainError,
  type EndSignal,
  failpoint,
  type Logger,
  type Randomness,
} from '#libs/domain/kernel';
import { type EgressDoor, EgressFailure, type EgressResponse } from '#libs/infra/egress';

import { deadlineAfter } from '../call-deadline.js';
import { outcomeOfFailure } from '../call-outcomes.js';
import type { DriverTools } from '../driver-tools.js';
import { Redactor } from '../redactor.js';
import {
  type AppliedCredential,
  applyCredential,
  hasFittingCredential,
  needsCredential,
  NO_CREDENTIAL,
} from './rest-credential.js';
import { authFindingOf, NO_TEST_REQUEST, testToolOf } from './rest-auth-check.js';
import { type EndedCall, observationOf } from './rest-observation.js';
import { redirectOf, type RequestTarget } from './rest-redirects.js';
import { recordedResult, RESULT_MAX_BYTES } from '../http-result.js';
import { retryAfterMs } from '../retry-after.js';

/** A call, or the request of a connection test, which is no action. */
interface RestCall extends Omit<ConnectorCall, 'action' | 'agent' | 'toolName' | 'recordProgress'> {
  readonly action: ActionId | null;
}

/** One attempt under way: what every step of it reads. */
interface Attempt {
  readonly call: RestCall;
  readonly config: RestConfig;
  readonly tool: RestTool;
  readonly request: RestRequest;
  readonly credential: AppliedCredential;
  /** What is redacted from its answer beside the credential. */
  readonly sensitive: readonly JsonValue[];
  readonly signal: EndSignal;
}

const withoutAnswer = (outcome: CallOutcome): EndedCall => ({ outcome, answer: null });

/** Runs the tools of connectors of type `rest` (docs/connectors-rest.md). */
export class RestDriver extends ConnectorDriver {
  override readonly type = 'rest';
  /** A folded config is one object until it changes, and its descriptions go with it. */
  private readonly described = new WeakMap<JsonObject, readonly ToolDescription[]>();

  private readonly door: EgressDoor;
  private readonly vault: Vault;
  private readonly clock: Clock;
  private readonly randomness: Randomness;
  private readonly logger: Logger;

  constructor({ door, vault, clock, randomness, logger }: Omit<DriverTools, 'sql'>) {
    super();
    this.door = door;
    this.vault = vault;
    this.clock = clock;
    this.randomness = randomness;
    this.logger = logger;
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
    return (await this.call(call)).outcome;
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
    { call, config, tool }: Pick<Attempt, 'call' | 'config' | 'tool'>,
    alsoSensitive: readonly JsonValue[] = [],
  ): Promise<EndedCall> {
    const built = buildRestRequest(config, tool, call.args, call.action ?? '', call.traceparent);
    if (!built.ok) return withoutAnswer(failedOutcome('validation_failed', `${built.fault.message} Nothing was sent.`));
    const deadline = deadlineAfter(call.deadlineMonotonicMs - this.clock.monotonicMs());
    let secret: OpenedSecret | null = null;
    try {
      await failpoint('exec.claimed');
      if (needsCredential(config)) {
        secret = await this.openCredential(config, call);
        if (secret === null) return withoutAnswer(failedOutcome('credentials_missing', MISSING_CREDENTIALS));
      }
      const credential = secret === null ? NO_CREDENTIAL : applyCredential(config, secret);
      const { request } = built;
      const sensitive = [...request.sensitive, ...alsoSensitive];
      return await this.run({ call, config, tool, request, credential, sensitive, signal: deadline.signal });
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'vault_unavailable') throw error;
      return withoutAnswer(failedOutcome('vault_unavailable', `${error.message} Nothing was sent.`));
    } finally {
      secret?.destroy();
      deadline.clear();
    }
  }

  /** Null when none is stored, another kind is, or it was removed while this call was on its way (rule CON-4). */
  private async openCredential(config: RestConfig, { org, connector }: RestCall): Promise<OpenedSecret | null> {
    if (connector.credential === null || !hasFittingCredential(config, connector)) return null;
    return this.vault.open({ org, object: connector.id, version: connector.credential.version });
  }

  private async run(attempt: Attempt): Promise<EndedCall> {
    const { config, tool, request } = attempt;
    let target: RequestTarget = { origin: request.origin, path: request.path, query: request.query };
    let hasSent = false;
    for (let followed = 0; ; followed += 1) {
      let response: EgressResponse;
      try {
        response = await this.exchange(attempt, target, hasSent);
      } catch (error) {
        if (!(error instanceof EgressFailure)) throw error;
        return withoutAnswer(this.afterFailure(attempt, error, hasSent));
      }
      hasSent = true;
      const redirect = redirectOf(config, tool, response, target, followed);
      if (redirect.kind !== 'follow') return this.afterAnswer(attempt, response, redirect.kind);
      target = redirect.target;
    }
  }

  private exchange(
    { call, config, tool, request, credential, signal }: Attempt,
    target: RequestTarget,
    hasSent: boolean,
  ): Promise<EgressResponse> {
    const query = withCredential(target.query, credential);
    return this.door.request({
      partition: `${call.org}/${call.connector.id}`,
      origin: target.origin,
      method: request.method,
      target: query === '' ? target.path : `${target.path}?${query}`,
      headers: [...request.headers, ...credential.headers],
      body: request.body === null ? null : Buffer.from(request.body),
      maxResponseBytes: config.max_response_bytes,
      // Nothing of the answer to a test is kept.
      keptResponseBytes: call.action === null ? 0 : RESULT_MAX_BYTES,
      mayReuseConnection: call.action !== null && isRepeatable(tool),
      mayStillSend: () => call.mayStillSend(hasSent),
      signal,
    });
  }

  private async afterAnswer(
    attempt: Attempt,
    response: EgressResponse,
    redirect: 'none' | 'blocked' | 'too_many',
  ): Promise<EndedCall> {
    const redactor = new Redactor(attempt.credential.secrets, attempt.sensitive);
    const result = await recordedResult(response, redactor);
    const { status, errorCode, errorMessage, hasSent, retryAfterMs } = this.outcomeOf(attempt, response, redirect);
    // Named one by one: a copy by `...` made V8 a hidden class for each call (docs/performance.md).
    const outcome = { status, errorCode, errorMessage, result, hasSent, retryAfterMs };
    return { outcome, answer: { response, redactor } };
  }

  private outcomeOf(
    attempt: Attempt,
    response: EgressResponse,
    redirect: 'none' | 'blocked' | 'too_many',
  ): Omit<CallOutcome, 'result'> {
    if (redirect === 'blocked') {
      return { ...failedOutcome('destination_blocked', BLOCKED_REDIRECT), hasSent: true };
    }
    if (redirect === 'too_many') {
      return { ...failedOutcome('upstream_error', TOO_MANY_REDIRECTS), hasSent: true };
    }
    const header = response.headers.find(([name]) => name === 'retry-after')?.[1];
    const asked = retryAfterMs(header, this.clock.nowMs());
    const { status, errorCode, errorMessage } = verdictOfStatus(response.status, attempt.tool.side_effect === 'read');
    const retryAfter = isRetriedStatus(response.status) ? this.retryDelay(attempt, asked) : null;
    return { status, errorCode, errorMessage, hasSent: true, retryAfterMs: retryAfter };
  }

  private afterFailure(attempt: Attempt, failure: EgressFailure, hasSentBefore: boolean): CallOutcome {
    const outcome = outcomeOfFailure(failure, attempt.tool.side_effect === 'read');
    this.report(attempt, failure);
    const isPassing = failure.reason === 'unreachable' || failure.isStale;
    return {
      ...outcome,
      hasSent: outcome.hasSent || hasSentBefore,
      retryAfterMs: isPassing ? this.retryDelay(attempt, null) : null,
    };
  }

  /** What an outcome does not tell an agent: whether a name, a port or a certificate is wrong. Names no address. */
  private report({ call, tool }: Attempt, { reason, cause }: EgressFailure): void {
    if (reason === 'withdrawn') return;
    const fault = (cause as NodeJS.ErrnoException | undefined)?.code;
    const what = call.action === null ? 'a connection test' : 'a call';
    this.logger.warn(`${what} had no answer from its upstream`, {
      ...(call.action === null ? {} : { action_id: call.action }),
      org_id: call.org,
      connector: call.connector.id,
      tool: tool.name,
      reason,
      ...(fault === undefined ? {} : { fault }),
    });
  }

  private retryDelay({ call, tool }: Attempt, askedMs: number | null): number | null {
    if (!isRepeatable(tool)) return null;
    const [byte = 0] = this.randomness.bytes(1);
    const remainingMs = call.deadlineMonotonicMs - this.clock.monotonicMs();
    return retryDelayMs({ attempt: call.attempt, remainingMs, retryAfterMs: askedMs, chance: byte / 255 });
  }
}

const TOOL_GONE = 'The connector no longer has this tool, and nothing was sent.';
const MISSING_CREDENTIALS =
  'The connector has no credentials of the kind its config asks for, and nothing was sent. An admin can store them with PUT /v1/connectors/{id}/credentials.';
const BLOCKED_REDIRECT =
  'The upstream service redirected to an address that the connector may not reach; nothing was sent there.';
const TOO_MANY_REDIRECTS = 'The upstream service redirected more than three times.';

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

/** A redirect may repeat the parameter; ours is the one that counts. */
const withCredential = (query: string, { query: added }: AppliedCredential): string => {
  if (added === null) return query;
  const [name, value] = added;
  const others = query.split('&').filter((pair) => pair !== '' && pair.split('=')[0] !== name);
  return [...others, `${name}=${value}`].join('&');
};
