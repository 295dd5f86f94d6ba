import { ERROR_CATALOGUE, type ErrorCode } from './error-catalogue.js';
import type { JsonObject } from '#libs/crypto';

export interface DomainErrorOptions {
  /** The request field, query parameter or header at fault. Null or absent when no single one is. */
  readonly param?: string | null;
  /** A more exact sentence than the catalogue's, still calm and with the next step. Shown to the caller. */
  readonly message?: string;
  /** Given only if a code has a second status (rule API-2): `validation_failed` may also be 422. */
  readonly status?: number;
  /** Seconds, sent as Retry-After. */
  readonly retryAfterSeconds?: number;
  /** Extra members of the envelope (rule API-1): `diagnostics`, `action`, `checks`, `reason`. */
  readonly extra?: JsonObject;
  /** For the log only; never reaches a body. */
  readonly cause?: unknown;
}

/**
 * A command that must leave no trace was refused. Outcomes that the ledger must seal (policy, budget, Stop) are events
 * instead: never throw this for them.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly param: string | null;
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  readonly extra: JsonObject | null;

  constructor(
    readonly code: ErrorCode,
    options: DomainErrorOptions = {},
  ) {
    super(options.message ?? ERROR_CATALOGUE[code].message, { cause: options.cause });
    this.param = options.param ?? null;
    this.status = options.status ?? ERROR_CATALOGUE[code].status;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.extra = options.extra ?? null;
  }
}
