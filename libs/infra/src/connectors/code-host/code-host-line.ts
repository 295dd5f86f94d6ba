import type { JsonValue } from '#libs/crypto';
import { type CallOutcome, failedOutcome, type HttpRequest, type OpenedSecret } from '#libs/domain/connectors';
import {
  type CodeHostAnswer,
  isFineGrainedToken,
  judgeCodeHost,
  judgeCutOffCodeHost,
} from '#libs/domain/connectors/code-host';
import type { EgressResponse } from '#libs/infra/egress';

import type { AppliedCredential } from '../applied-credential.js';
import type { EndedCall, HttpCall, HttpCaller, JudgedAnswer } from '../http-caller.js';

/** For a whole call. */
export const CODE_HOST_TIMEOUT_MS = 10_000;
const RESPONSE_MAX_BYTES = 4_194_304;

export interface CodeHostWork {
  readonly call: HttpCall;
  readonly toolName: string;
  readonly isRead: boolean;
  readonly request: HttpRequest;
}

/** A call that has ended, with the answer as the host sent it. Undefined: there was none, or it is no JSON. */
export interface EndedCodeHostCall extends EndedCall {
  readonly body: JsonValue | undefined;
}

/** Sends requests to the code host. A write is sent once, whatever is answered: the host knows no idempotency keys. */
export class CodeHostLine {
  constructor(private readonly caller: HttpCaller) {}

  async send({ call, toolName, isRead, request }: CodeHostWork): Promise<EndedCodeHostCall> {
    let answer: CodeHostAnswer | undefined;
    const read = (response: EgressResponse): CodeHostAnswer => (answer ??= answerOf(response));
    const ended = await this.caller.send({
      call,
      toolName,
      isRead,
      isRepeatable: isRead,
      request,
      credentialKind: 'bearer',
      refused: refusalOf,
      applied,
      sensitive: [],
      secretMembers: SECRET_MEMBERS,
      maxResponseBytes: RESPONSE_MAX_BYTES,
      judgedBytes: RESPONSE_MAX_BYTES,
      // A repository that was renamed is another name than the one that was judged.
      redirectOf: () => ({ kind: 'none' }),
      judge: (response): JudgedAnswer => judgeCodeHost(read(response), toolName, isRead),
      judgeCutOff: ({ status, headers }) =>
        judgeCutOffCodeHost({ status, body: undefined, isEmpty: false, text: () => '', header: headerIn(headers) }),
    });
    return { ...ended, body: answer?.body };
  }
}

const tokenIn = (secret: OpenedSecret): string => Buffer.from(secret.fields.get('token') ?? []).toString();

/** A token that somebody put into the vault past the door is found here, and nothing leaves with it. */
const refusalOf = (secret: OpenedSecret): CallOutcome | null =>
  isFineGrainedToken(tokenIn(secret)) ? null : failedOutcome('credentials_missing', OTHER_TOKEN);

const OTHER_TOKEN =
  'The stored token is no fine-grained one (github_pat_), and nothing was sent. An admin can store one with PUT /v1/connectors/{id}/credentials.';

const applied = (secret: OpenedSecret): AppliedCredential => {
  const token = tokenIn(secret);
  return { headers: [['Authorization', `Bearer ${token}`]], query: null, secrets: [token] };
};

const answerOf = ({ status, headers, body, isDecoded }: EgressResponse): CodeHostAnswer => ({
  status,
  body: isDecoded && Buffer.isBuffer(body) ? jsonIn(body) : undefined,
  isEmpty: body.byteLength === 0,
  text: () => (isDecoded && Buffer.isBuffer(body) ? body.toString() : ''),
  header: headerIn(headers),
});

const headerIn =
  (headers: EgressResponse['headers']) =>
  (name: string): string | null =>
    headers.find(([sent]) => sent === name)?.[1] ?? null;

/** Links with a token in them, where the repository is a private one. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set(['download_url']);

const jsonIn = (bytes: Buffer): JsonValue | undefined => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
  } catch {
    return undefined;
  }
};
