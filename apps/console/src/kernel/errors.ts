/** One finding of `policy_invalid` about the text that was sent. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** Both count from 1; the column in characters. */
  readonly line: number;
  readonly column: number;
  readonly rule_id: string | null;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly param?: string | null;
  readonly requestId?: string | null;
  readonly docUrl?: string | null;
  readonly retryAfterS?: number | null;
  readonly diagnostics?: readonly Finding[];
}

/**
 * A refusal by the service or by a proxy in front of it, the lack of any answer (`unreachable`), or a list that is too
 * long to be read as a whole (`too_many_rows`).
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  /**
   * A code of the error catalogue, `unreachable` if no answer came, `unknown` if the answer is no error envelope, or
   * `too_many_rows`.
   */
  readonly code: string;
  readonly status: number;
  readonly param: string | null;
  readonly requestId: string | null;
  readonly docUrl: string | null;
  /** In seconds; null if the answer does not say how long to wait. */
  readonly retryAfterS: number | null;
  /** About the text in `param`; empty unless the code is `policy_invalid`. */
  readonly diagnostics: readonly Finding[];

  constructor({
    code,
    message,
    status,
    param = null,
    requestId = null,
    docUrl = null,
    retryAfterS = null,
    diagnostics = [],
  }: Refusal) {
    super(message);
    this.code = code;
    this.status = status;
    this.param = param;
    this.requestId = requestId;
    this.docUrl = docUrl;
    this.retryAfterS = retryAfterS;
    this.diagnostics = diagnostics;
  }

  /**
   * Whether it is unknown if the change was applied: then the same idempotency key may be sent again. Any 5xx counts,
   * because a proxy answers 502 also if the service applied the change and then went away.
   */
  get isAnswerLost(): boolean {
    return this.code === 'unreachable' || this.status >= 500 || this.code === 'idempotency_key_in_use';
  }
}

interface Envelope {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly param?: string | null;
    readonly request_id?: string;
    readonly doc_url?: string;
    readonly diagnostics?: readonly Finding[];
  };
}

export const unreachable = (): ApiError =>
  new ApiError({
    code: 'unreachable',
    message: 'The service did not answer. Check your connection, then try again.',
    status: 0,
  });

/**
 * @param body the parsed body; may be of any shape, because a proxy may answer with something other than the envelope
 */
export const errorOf = (body: unknown, response: Response): ApiError => {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as Envelope;
  return new ApiError({
    code: error?.code ?? 'unknown',
    message: error?.message ?? `The service answered with ${response.status}. Try again in a moment.`,
    status: response.status,
    param: error?.param ?? null,
    requestId: error?.request_id ?? response.headers.get('Service-Request-Id'),
    docUrl: ownAddress(error?.doc_url),
    retryAfterS: secondsOf(response.headers.get('Retry-After')),
    ...(error?.diagnostics === undefined ? {} : { diagnostics: error.diagnostics }),
  });
};

/** Seconds of a `Retry-After` header; null for anything else. The service never sends a date in it. */
const secondsOf = (header: string | null): number | null => (/^\d{1,5}$/.test(header ?? '') ? Number(header) : null);

/** The address, if its scheme is http or https; else null, so that an answer cannot place a `javascript:` link. */
const ownAddress = (url: string | undefined): string | null =>
  url !== undefined && /^https?:\/\//.test(url) ? url : null;

/** The service's message about one field of a form; null if the error is not about that field. */
export const faultAt = (error: Error | null, param: string): string | null =>
  error instanceof ApiError && error.param === param ? error.message : null;
