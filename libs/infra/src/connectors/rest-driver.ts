import { digestOfJson, type JsonObject } from '#libs/crypto';
import {
  buildRestRequest,
  type CallOutcome,
  type ConnectorCall,
  ConnectorDriver,
  failedOutcome,
  inputSchemaOf,
  isRepeatable,
  isRetriedStatus,
  type OpenedSecret,
  type RequestFacts,
  type RestConfig,
  restConfigOf,
  type RestRequest,
  restRequestFacts,
  type RestTool,
  retryDelayMs,
  type ToolDescription,
  type Vault,
  verdictOfStatus,
} from '#libs/domain/connectors';
import {
  CallEnd,
  type Clock,
  DomainError,
  type EndSignal,
  failpoint,
  type Logger,
  type Randomness,
} from '#libs/domain/kernel';
import { type EgressDoor, EgressFailure, type EgressResponse } from '#libs/infra/egress';

import { outcomeOfFailure } from './call-outcomes.js';
import { Redactor } from './redactor.js';
import {
  type AppliedCredential,
  applyCredential,
  hasFittingCredential,
  needsCredential,
  NO_CREDENTIAL,
} from './rest-credential.js';
import { redirectOf, type RequestTarget } from './rest-redirects.js';
import { recordedResult, RESULT_MAX_BYTES } from './rest-result.js';
import { retryAfterMs } from './retry-after.js';

/** One attempt under way: what every step of it reads. */
interface Attempt {
  readonly call: ConnectorCall;
  readonly config: RestConfig;
  readonly tool: RestTool;
  readonly request: RestRequest;
  readonly credential: AppliedCredential;
  readonly signal: EndSignal;
}

/** Runs the tools of connectors of type `rest` (document 3, REST connector). */
export class RestDriver extends ConnectorDriver {
  override readonly type = 'rest';
  /** A folded config is one object until it changes, and its descriptions go with it. */
  private readonly described = new WeakMap<JsonObject, readonly ToolDescription[]>();

  constructor(
    private readonly door: EgressDoor,
    private readonly vault: Vault,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly logger: Logger,
  ) {
    super();
  }

  override toolOf(config: JsonObject, toolName: string): ToolDescription | null {
    return this.toolsOf(config).find(({ name }) => name === toolName) ?? null;
  }

  override toolsOf(config: JsonObject): readonly ToolDescription[] {
    const known = this.described.get(config);
    if (known !== undefined) return known;
    const rest = restConfigOf(config);
    const described = rest.tools.map((tool) => describe(rest, tool));
    this.described.set(config, described);
    return described;
  }

  override requestFacts(config: JsonObject, toolName: string, args: JsonObject): RequestFacts {
    const tool = toolNamed(config, toolName);
    return tool === undefined ? {} : restRequestFacts(restConfigOf(config), tool, args);
  }

  override async send(call: ConnectorCall): Promise<CallOutcome> {
    const config = restConfigOf(call.connector.config);
    const tool = toolNamed(call.connector.config, call.toolName);
    if (tool === undefined)
      return failedOutcome('tool_unknown', 'The connector no longer has this tool, and nothing was sent.');
    const built = buildRestRequest(config, tool, call.args, call.action);
    if (!built.ok) return failedOutcome('validation_failed', `${built.fault.message} Nothing was sent.`);
    const deadline = deadlineAfter(call.deadlineMonotonicMs - this.clock.monotonicMs());
    let secret: OpenedSecret | null = null;
    try {
      await failpoint('exec.claimed');
      if (needsCredential(config)) {
        secret = await this.openCredential(config, call);
        if (secret === null) return failedOutcome('credentials_missing', MISSING_CREDENTIALS);
      }
      const credential = secret === null ? NO_CREDENTIAL : applyCredential(config, secret);
      return await this.run({ call, config, tool, request: built.request, credential, signal: deadline.signal });
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'vault_unavailable') throw error;
      return failedOutcome('vault_unavailable', `${error.message} Nothing was sent.`);
    } finally {
      secret?.destroy();
      deadline.clear();
    }
  }

  /** Null when none is stored, another kind is, or it was removed while this call was on its way. */
  private async openCredential(config: RestConfig, { org, connector }: ConnectorCall): Promise<OpenedSecret | null> {
    if (connector.credential === null || !hasFittingCredential(config, connector)) return null;
    return this.vault.open({ org, object: connector.id, version: connector.credential.version });
  }

  private async run(attempt: Attempt): Promise<CallOutcome> {
    const { config, tool, request } = attempt;
    let target: RequestTarget = { origin: request.origin, path: request.path, query: request.query };
    let hasSent = false;
    for (let followed = 0; ; followed += 1) {
      let response: EgressResponse;
      try {
        response = await this.exchange(attempt, target, hasSent);
      } catch (error) {
        if (!(error instanceof EgressFailure)) throw error;
        return this.afterFailure(attempt, error, hasSent);
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
      keptResponseBytes: RESULT_MAX_BYTES,
      mayReuseConnection: isRepeatable(tool),
      mayStillSend: () => call.mayStillSend(hasSent),
      signal,
    });
  }

  private async afterAnswer(
    attempt: Attempt,
    response: EgressResponse,
    redirect: 'none' | 'blocked' | 'too_many',
  ): Promise<CallOutcome> {
    const { tool, credential, request } = attempt;
    const result = await recordedResult(response, new Redactor(credential.secrets, request.sensitive));
    if (redirect === 'blocked') {
      return { ...failedOutcome('destination_blocked', BLOCKED_REDIRECT), result, hasSent: true };
    }
    if (redirect === 'too_many') {
      return { ...failedOutcome('upstream_error', TOO_MANY_REDIRECTS), result, hasSent: true };
    }
    const header = response.headers.find(([name]) => name === 'retry-after')?.[1];
    const asked = retryAfterMs(header, this.clock.nowMs());
    const { status, errorCode, errorMessage } = verdictOfStatus(response.status, tool.side_effect === 'read');
    const retryAfter = isRetriedStatus(response.status) ? this.retryDelay(attempt, asked) : null;
    return { status, errorCode, errorMessage, result, hasSent: true, retryAfterMs: retryAfter };
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
    this.logger.warn('a call had no answer from its upstream', {
      action_id: call.action,
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

const MISSING_CREDENTIALS =
  'The connector has no credentials of the kind its config asks for, and nothing was sent. An admin can store them with PUT /v1/connectors/{id}/credentials.';
const BLOCKED_REDIRECT =
  'The upstream service redirected to an address that the connector may not reach; nothing was sent there.';
const TOO_MANY_REDIRECTS = 'The upstream service redirected more than three times.';

const toolNamed = (config: JsonObject, toolName: string): RestTool | undefined =>
  restConfigOf(config).tools.find(({ name }) => name === toolName);

const describe = (config: RestConfig, tool: RestTool): ToolDescription => ({
  name: tool.name,
  description: tool.description ?? null,
  sideEffect: tool.side_effect,
  isRepeatable: isRepeatable(tool),
  digest: digestOfJson(definitionOf(config, tool)),
  timeoutMs: config.timeout_ms,
  inputSchema: inputSchemaOf(tool),
});

/** What a call of the tool sends, where to and how the credential travels: what the policy judged, and a deed names. */
const definitionOf = ({ base_url, auth, headers, send_action_id }: RestConfig, tool: RestTool): JsonObject => {
  const definition = { base_url, auth, headers: headers ?? {}, send_action_id, tool };
  return definition as unknown as JsonObject;
};

/** A redirect may repeat the parameter; ours is the one that counts. */
const withCredential = (query: string, { query: added }: AppliedCredential): string => {
  if (added === null) return query;
  const [name, value] = added;
  const others = query.split('&').filter((pair) => pair !== '' && pair.split('=')[0] !== name);
  return [...others, `${name}=${value}`].join('&');
};

/** One that has passed already aborts at once: nothing is begun. */
const deadlineAfter = (remainingMs: number): { signal: EndSignal; clear: () => void } => {
  const signal = new CallEnd();
  const timer = setTimeout(() => signal.abort(), Math.max(0, remainingMs));
  if (remainingMs <= 0) signal.abort();
  return { signal, clear: () => clearTimeout(timer) };
};
