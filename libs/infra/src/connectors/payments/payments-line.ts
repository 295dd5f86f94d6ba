import type { JsonObject, JsonValue } from '#libs/crypto';
import { type CallOutcome, failedOutcome, type HttpRequest, type OpenedSecret } from '#libs/domain/connectors';
import {
  isSandboxKey,
  judgeCutOffPayment,
  judgePayment,
  type PaymentsAnswer,
  type PaymentsConfig,
} from '#libs/domain/connectors/payments';
import type { EgressResponse } from '#libs/infra/egress';

import type { AppliedCredential } from '../applied-credential.js';
import type { EndedCall, HttpCall, HttpCaller, JudgedAnswer } from '../http-caller.js';

/** For a whole call, as the processor's own libraries have it. */
export const PAYMENTS_TIMEOUT_MS = 30_000;
const RESPONSE_MAX_BYTES = 4_194_304;
/** The first, and one more with the same bytes. */
const ATTEMPTS_MAX = 2;

export interface PaymentsWork {
  readonly call: HttpCall;
  readonly config: PaymentsConfig;
  readonly toolName: string;
  readonly isRead: boolean;
  readonly request: HttpRequest;
}

/** A call that has ended, with the answer as the processor sent it. Undefined: there was none, or it is no JSON. */
export interface EndedPayment extends EndedCall {
  readonly body: JsonValue | undefined;
}

/** Sends requests to the payments processor, each with a key that is judged first. */
export class PaymentsLine {
  constructor(private readonly caller: HttpCaller) {}

  async send({ call, toolName, isRead, request }: PaymentsWork): Promise<EndedPayment> {
    let body: JsonValue | undefined;
    const ended = await this.caller.send({
      call,
      toolName,
      isRead,
      isRepeatable: true,
      attemptsMax: ATTEMPTS_MAX,
      request,
      credentialKind: 'bearer',
      refused: refusalOf,
      applied,
      sensitive: [],
      secretMembers: SECRET_MEMBERS,
      maxResponseBytes: RESPONSE_MAX_BYTES,
      judgedBytes: RESPONSE_MAX_BYTES,
      redirectOf: () => ({ kind: 'none' }),
      judge: (response): JudgedAnswer => {
        const answer = answerOf(response);
        body = answer.body;
        return judgePayment(answer, isRead);
      },
      judgeCutOff: ({ status }) => judgeCutOffPayment(status, isRead),
    });
    return { ...ended, body };
  }
}

const tokenIn = (secret: OpenedSecret): string => Buffer.from(secret.fields.get('token') ?? []).toString();

/** Before every request: a key that somebody put into the vault past the door is found here, and nothing leaves with it. */
const refusalOf = (secret: OpenedSecret): CallOutcome | null =>
  isSandboxKey(tokenIn(secret))
    ? null
    : {
        ...failedOutcome(
          'payments_live_key_refused',
          'The stored key is none of the processor’s sandbox, so the connector was disabled and nothing was sent. An admin can store a sandbox key and enable the connector again.',
        ),
        breaker: { reason: 'live_key_stored', upstreamRequestId: null },
      };

const applied = (secret: OpenedSecret): AppliedCredential => {
  const token = tokenIn(secret);
  return { headers: [['Authorization', `Bearer ${token}`]], query: null, secrets: [token] };
};

const answerOf = ({ status, headers, body, isDecoded }: EgressResponse): PaymentsAnswer => ({
  status,
  body: isDecoded && Buffer.isBuffer(body) ? jsonIn(body) : undefined,
  header: (name) => headers.find(([sent]) => sent === name)?.[1] ?? null,
});

/** With it a browser may pay, or change how. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set(['client_secret']);

/** A mark of the byte order in front is passed over, as where the answer is recorded. */
const jsonIn = (bytes: Buffer): JsonObject | undefined => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as JsonObject;
  } catch {
    return undefined;
  }
};
