import type { ErrorCode } from '#libs/domain/kernel';

/**
 * Why a request has no answer.
 * `blocked`: the rules forbid the destination. `unreachable`: no connection (no address, refused, TLS). `untrusted`: the
 * certificate is not good for the host. `withdrawn`: the caller said not to send, `code` says why. `timeout`: the deadline
 * passed or the caller ended it. `broken`: the connection or the answer ended badly. `too_large`: more bytes than allowed.
 */
export type EgressFailureReason =
  'blocked' | 'unreachable' | 'untrusted' | 'withdrawn' | 'timeout' | 'broken' | 'too_large';

/** The one error of the door. Its message names no address, header or body. */
export class EgressFailure extends Error {
  override readonly name = 'EgressFailure';

  constructor(
    readonly reason: EgressFailureReason,
    /** Whether a request byte may have left. */
    readonly hasSent: boolean,
    options: {
      readonly code?: ErrorCode;
      readonly status?: number;
      readonly headers?: readonly (readonly [name: string, value: string])[];
      readonly isStale?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(`the request failed: ${reason}`, { cause: options.cause });
    this.code = options.code ?? null;
    this.status = options.status ?? null;
    this.headers = options.headers ?? [];
    this.isStale = options.isStale ?? false;
  }

  /** For `withdrawn`. */
  readonly code: ErrorCode | null;
  /** The answer's status, when it had come before the failure. */
  readonly status: number | null;
  /** Of that answer, names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** For `broken`: a kept connection ended without one byte of an answer, as when the server had given it up. */
  readonly isStale: boolean;
}
