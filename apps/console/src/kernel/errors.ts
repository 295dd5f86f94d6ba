/** One finding about a text that was sent, of `policy_invalid`. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** From 1; the column in characters. */
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

/** What the service, or the way to it, answered instead of what was asked for. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  /** Of the catalogue; `unreachable` where no answer came. */
  readonly code: string;
  readonly status: number;
  readonly param: string | null;
  readonly requestId: string | null;
  readonly docUrl: string | null;
  /** In seconds; null where the service does not say when it takes the next. */
  readonly retryAfterS: number | null;
  /** Of the text in `param`; none where the code is not `policy_invalid`. */
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
   * Nobody knows whether a change arrived: the same key may be sent again. A proxy says 502 of a service that went away
   * after it had done what was asked, too.
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

/** @param body the parsed body, whatever it is: a proxy may answer with something else than the envelope */
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

/** The service never says a date here. */
const secondsOf = (header: string | null): number | null => (/^\d{1,5}$/.test(header ?? '') ? Number(header) : null);

/** Never another scheme than those of web pages, whatever stands in an answer. */
const ownAddress = (url: string | undefined): string | null =>
  url !== undefined && /^https?:\/\//.test(url) ? url : null;

/** What the service says of one field of a form; null where it says nothing of it. */
export const faultAt = (error: Error | null, param: string): string | null =>
  error instanceof ApiError && error.param === param ? error.message : null;
