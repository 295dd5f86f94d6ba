import type { JsonValue } from '#libs/crypto';
import {
  ATTEMPTS_MAX,
  type CallOutcome,
  type ConnectorCall,
  type CredentialKind,
  failedOutcome,
  type HttpRequest,
  isRetriedStatus,
  type OpenedSecret,
  retryDelayMs,
  type TrippedBreaker,
  type UpstreamVerdict,
  type Vault,
  verdictOfStatus,
} from '#libs/domain/connectors';
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

import { type AppliedCredential, NO_CREDENTIAL } from './applied-credential.js';
import { deadlineAfter } from './call-deadline.js';
import { type CutOffJudge, outcomeOfFailure } from './call-outcomes.js';
import { recordedResult, RESULT_MAX_BYTES } from './http-result.js';
import { Redactor } from './redactor.js';
import { retryAfterMs } from './retry-after.js';

/** Where a request goes: the origin never changes, `path` and `query` do. */
export interface RequestTarget {
  readonly origin: string;
  readonly path: string;
  readonly query: string;
}

export type RedirectDecision =
  /** The answer is the answer. */
  | { readonly kind: 'none' }
  | { readonly kind: 'follow'; readonly target: RequestTarget }
  /** It leads where the connector may not go. */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'too_many' };

/** On whose behalf a request is sent. `action` is null for one that belongs to none, such as that of a connection test. */
export type HttpCall = Pick<ConnectorCall, 'org' | 'connector' | 'attempt' | 'deadlineMonotonicMs' | 'mayStillSend'> & {
  readonly action: ActionId | null;
};

/** What an answer came to, in the words of its type. */
export interface JudgedAnswer extends UpstreamVerdict {
  /** Whether a repeatable call may be sent once more. */
  readonly isPassing: boolean;
  /** What the answer shows that the connector must not go on with; null or absent where it shows nothing of the kind. */
  readonly breaker?: TrippedBreaker | null;
}

/** One attempt of a request, with all that its type knows of it. */
export interface HttpWork {
  readonly call: HttpCall;
  readonly toolName: string;
  readonly isRead: boolean;
  readonly isRepeatable: boolean;
  /** How often a repeatable call is sent at most; absent: as often as any (rule EXEC-2). */
  readonly attemptsMax?: number;
  readonly request: HttpRequest;
  /** `none`: it travels without a credential, also when one is stored. */
  readonly credentialKind: CredentialKind;
  readonly applied: (secret: OpenedSecret) => AppliedCredential;
  /** Why a stored credential must not be used, although it is of the right kind: nothing is sent then. Absent: any may. */
  readonly refused?: (secret: OpenedSecret) => CallOutcome | null;
  /** Beside those of the request. */
  readonly sensitive: readonly JsonValue[];
  /** Names of members of the answer whose texts open something to whoever reads them; absent: none do. */
  readonly secretMembers?: ReadonlySet<string>;
  readonly maxResponseBytes: number;
  /** How much of an answer `judge` sees; a longer one comes as its digest. Absent: as much as is recorded. */
  readonly judgedBytes?: number;
  /** Where an answer leads on. */
  readonly redirectOf: (response: EgressResponse, from: RequestTarget, followed: number) => RedirectDecision;
  /** Absent: by its status alone. */
  readonly judge?: (response: EgressResponse) => JudgedAnswer;
  /** Absent: by its status alone. */
  readonly judgeCutOff?: CutOffJudge;
}

/** A call when it has ended. */
export interface EndedCall {
  readonly outcome: CallOutcome;
  /** What came, and what hides the call's secrets in it; null when no whole answer came. */
  readonly answer: { readonly response: EgressResponse; readonly redactor: Redactor } | null;
}

export const withoutAnswer = (outcome: CallOutcome): EndedCall => ({ outcome, answer: null });

/** One attempt under way: what every step of it reads. */
interface Attempt {
  readonly work: HttpWork;
  readonly credential: AppliedCredential;
  readonly signal: EndSignal;
}

export interface HttpCallerParts {
  readonly door: Pick<EgressDoor, 'request'>;
  readonly vault: Pick<Vault, 'open'>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
}

/**
 * Sends requests of connectors whose systems speak HTTP, whatever their type: opens the credential as late as possible,
 * asks the send barrier, follows the redirects that the type allows, redacts what is kept, and says what became of it.
 */
export class HttpCaller {
  constructor(private readonly parts: HttpCallerParts) {}

  /** Never throws for what the upstream, the network or the vault did: that is the outcome. */
  async send(work: HttpWork): Promise<EndedCall> {
    const deadline = deadlineAfter(work.call.deadlineMonotonicMs - this.parts.clock.monotonicMs());
    let secret: OpenedSecret | null = null;
    try {
      if (work.call.action !== null) await failpoint('exec.claimed');
      if (work.credentialKind !== 'none') {
        secret = await this.openCredential(work);
        if (secret === null) return withoutAnswer(failedOutcome('credentials_missing', MISSING_CREDENTIALS));
      }
      const refusal = secret === null ? null : (work.refused?.(secret) ?? null);
      if (refusal !== null) return withoutAnswer(refusal);
      const credential = secret === null ? NO_CREDENTIAL : work.applied(secret);
      return await this.run({ work, credential, signal: deadline.signal });
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'vault_unavailable') throw error;
      return withoutAnswer(failedOutcome('vault_unavailable', `${error.message} Nothing was sent.`));
    } finally {
      secret?.destroy();
      deadline.clear();
    }
  }

  /** Null when none is stored, another kind is, or it was removed while this call was on its way (rule CON-4). */
  private async openCredential({ call, credentialKind }: HttpWork): Promise<OpenedSecret | null> {
    const { org, connector } = call;
    if (connector.credential?.kind !== credentialKind) return null;
    return this.parts.vault.open({ org, object: connector.id, version: connector.credential.version });
  }

  private async run(attempt: Attempt): Promise<EndedCall> {
    const { request, redirectOf } = attempt.work;
    let target: RequestTarget = { origin: request.origin, path: request.path, query: request.query };
    let hasSent = false;
    for (let followed = 0; ; followed += 1) {
      let response: EgressResponse;
      try {
        response = await this.exchange(attempt, target, hasSent);
      } catch (error) {
        if (!(error instanceof EgressFailure)) throw error;
        return withoutAnswer(this.afterFailure(attempt.work, error, hasSent));
      }
      hasSent = true;
      const redirect = redirectOf(response, target, followed);
      if (redirect.kind !== 'follow') return this.afterAnswer(attempt, response, redirect.kind);
      target = redirect.target;
    }
  }

  private exchange(
    { work, credential, signal }: Attempt,
    target: RequestTarget,
    hasSent: boolean,
  ): Promise<EgressResponse> {
    const { call, request } = work;
    const query = withCredential(target.query, credential);
    return this.parts.door.request({
      partition: `${call.org}/${call.connector.id}`,
      origin: target.origin,
      method: request.method,
      target: query === '' ? target.path : `${target.path}?${query}`,
      headers: [...request.headers, ...credential.headers],
      body: request.body === null ? null : Buffer.from(request.body),
      maxResponseBytes: work.maxResponseBytes,
      // Nothing of the answer to a test is kept.
      keptResponseBytes: work.judgedBytes ?? (call.action === null ? 0 : RESULT_MAX_BYTES),
      mayReuseConnection: call.action !== null && work.isRepeatable,
      mayStillSend: () => call.mayStillSend(hasSent),
      signal,
    });
  }

  private async afterAnswer(
    { work, credential }: Attempt,
    response: EgressResponse,
    redirect: Exclude<RedirectDecision['kind'], 'follow'>,
  ): Promise<EndedCall> {
    const sensitive = [...work.request.sensitive, ...work.sensitive];
    const redactor = new Redactor(credential.secrets, sensitive, work.secretMembers);
    const result = await recordedResult(response, redactor);
    const judged = this.outcomeOf(work, response, redirect);
    const { status, errorCode, errorMessage, hasSent, retryAfterMs, breaker } = judged;
    // Named one by one: a copy by `...` made V8 a hidden class for each call (docs/performance.md).
    const outcome = { status, errorCode, errorMessage, result, hasSent, retryAfterMs };
    return { outcome: breaker === undefined ? outcome : { ...outcome, breaker }, answer: { response, redactor } };
  }

  private outcomeOf(
    work: HttpWork,
    response: EgressResponse,
    redirect: Exclude<RedirectDecision['kind'], 'follow'>,
  ): Omit<CallOutcome, 'result'> {
    if (redirect === 'blocked') {
      return { ...failedOutcome('destination_blocked', BLOCKED_REDIRECT), hasSent: true };
    }
    if (redirect === 'too_many') {
      return { ...failedOutcome('upstream_error', TOO_MANY_REDIRECTS), hasSent: true };
    }
    const header = response.headers.find(([name]) => name === 'retry-after')?.[1];
    const asked = retryAfterMs(header, this.parts.clock.nowMs());
    const judged = work.judge === undefined ? byStatus(work, response) : work.judge(response);
    const { status, errorCode, errorMessage, isPassing, breaker } = judged;
    const retryAfter = isPassing ? this.retryDelay(work, asked) : null;
    const outcome = { status, errorCode, errorMessage, hasSent: true, retryAfterMs: retryAfter };
    return breaker === undefined || breaker === null ? outcome : { ...outcome, breaker };
  }

  private afterFailure(work: HttpWork, failure: EgressFailure, hasSentBefore: boolean): CallOutcome {
    const outcome = outcomeOfFailure(failure, work.isRead, work.judgeCutOff);
    this.report(work, failure);
    const isPassing = failure.reason === 'unreachable' || failure.isStale;
    return {
      ...outcome,
      hasSent: outcome.hasSent || hasSentBefore,
      retryAfterMs: isPassing ? this.retryDelay(work, null) : null,
    };
  }

  /** What an outcome does not tell an agent: whether a name, a port or a certificate is wrong. Names no address. */
  private report({ call, toolName }: HttpWork, { reason, cause }: EgressFailure): void {
    if (reason === 'withdrawn') return;
    const fault = (cause as NodeJS.ErrnoException | undefined)?.code;
    const what = call.action === null ? 'a connection test' : 'a call';
    this.parts.logger.warn(`${what} had no answer from its upstream`, {
      ...(call.action === null ? {} : { action_id: call.action }),
      org_id: call.org,
      connector: call.connector.id,
      tool: toolName,
      reason,
      ...(fault === undefined ? {} : { fault }),
    });
  }

  private retryDelay({ call, isRepeatable, attemptsMax }: HttpWork, askedMs: number | null): number | null {
    if (!isRepeatable || call.attempt >= (attemptsMax ?? ATTEMPTS_MAX)) return null;
    const { clock, randomness } = this.parts;
    const [byte = 0] = randomness.bytes(1);
    const remainingMs = call.deadlineMonotonicMs - clock.monotonicMs();
    return retryDelayMs({ attempt: call.attempt, remainingMs, retryAfterMs: askedMs, chance: byte / 255 });
  }
}

const byStatus = ({ isRead }: HttpWork, { status: answered }: EgressResponse): JudgedAnswer => {
  const { status, errorCode, errorMessage } = verdictOfStatus(answered, isRead);
  return { status, errorCode, errorMessage, isPassing: isRetriedStatus(answered) };
};

const MISSING_CREDENTIALS =
  'The connector has no credentials of the kind its config asks for, and nothing was sent. An admin can store them with PUT /v1/connectors/{id}/credentials.';
const BLOCKED_REDIRECT =
  'The upstream service redirected to an address that the connector may not reach; nothing was sent there.';
const TOO_MANY_REDIRECTS = 'The upstream service redirected more than three times.';

/** A redirect may repeat the parameter; ours is the one that counts. */
const withCredential = (query: string, { query: added }: AppliedCredential): string => {
  if (added === null) return query;
  const [name, value] = added;
  const others = query.split('&').filter((pair) => pair !== '' && pair.split('=')[0] !== name);
  return [...others, `${name}=${value}`].join('&');
};
