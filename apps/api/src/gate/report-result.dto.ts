import { canonicalize, isDigest, type Digest, type JsonValue } from '#libs/crypto';
import type { EdgeResult, ReportEdgeResult } from '#libs/domain/gate';
import {
  DomainError,
  EXECUTION_STATUSES,
  type ExecutionStatus,
  isPlainText,
  parseTimestamp,
  timestampOf,
  WITHOUT_CONTROL_CHARACTERS,
  type Timestamp,
} from '#libs/domain/kernel';
import { IsIn, IsString, Matches, MaxLength, ValidateIf } from 'class-validator';
import { IfPresent } from '../http/shape.js';

/** The largest result, in canonical form. For a larger one, the agent sends the digest only. */
export const RESULT_MAX_BYTES = 1024 * 1024;
/** How far the clock of an edge may be ahead of this service's clock. */
const CLOCKS_DIFFER_MS = 60_000;
const MESSAGE_MAX_CHARACTERS = 280;

const INSTANT = { message: 'must be an RFC 3339 date-time such as 2026-10-01T00:00:00Z' };
const CODE_RULE = { message: 'must be 1 to 64 lowercase letters, digits or _, and begin with a letter' };

/** The body of POST /v1/actions/{id}/result (rule GATE-17). */
export class ReportResultBody {
  @IsIn(EXECUTION_STATUSES, { message: `must be ${EXECUTION_STATUSES.join(', ')}` })
  status!: ExecutionStatus;

  @IsString(INSTANT)
  started_at!: string;

  @IsString(INSTANT)
  finished_at!: string;

  /** Any JSON value, also null. Its size is checked in `reportIn`. */
  @ValidateIf(() => false)
  result?: JsonValue;

  @IfPresent()
  @IsString({ message: 'must be a digest: sha256: and 64 lowercase hex digits' })
  result_digest?: string;

  @IfPresent()
  @Matches(/^[a-z][a-z0-9_]{0,63}$/, CODE_RULE)
  @IsString(CODE_RULE)
  error_code?: string;

  @IfPresent()
  @MaxLength(MESSAGE_MAX_CHARACTERS, { message: `must have at most ${MESSAGE_MAX_CHARACTERS} characters` })
  @IsString({ message: 'must be a string' })
  error_message?: string;
}

/**
 * Checks the fields against each other and returns the report.
 * @throws {DomainError} validation_failed
 */
export const reportIn = (body: ReportResultBody, nowMs: number): Pick<ReportEdgeResult, 'report' | 'result'> => {
  const { status, error_code = null, error_message = null } = body;
  const result = resultIn(body);
  if (error_message !== null && !isPlainText(error_message)) {
    throw fault('error_message', `must be a text ${WITHOUT_CONTROL_CHARACTERS}.`);
  }
  if (status === 'succeeded' && error_code !== null) throw fault('error_code', NO_ERROR);
  if (status === 'succeeded' && error_message !== null) throw fault('error_message', NO_ERROR);
  return { report: { status, ...timesIn(body, nowMs), error_code, error_message }, result };
};

const NO_ERROR = 'goes with failed and unknown alone. Leave it out, or send another status.';

const timesIn = (
  body: ReportResultBody,
  nowMs: number,
): { readonly started_at: Timestamp; readonly finished_at: Timestamp } => {
  const startedMs = instantIn('started_at', body.started_at);
  const finishedMs = instantIn('finished_at', body.finished_at);
  if (finishedMs < startedMs) throw fault('finished_at', 'is before started_at. Send both by the same clock.');
  if (finishedMs > nowMs + CLOCKS_DIFFER_MS) {
    throw fault('finished_at', `is more than ${CLOCKS_DIFFER_MS / 1_000} s in the future. Set the clock of the edge.`);
  }
  return { started_at: timestampOf(startedMs), finished_at: timestampOf(finishedMs) };
};

const instantIn = (param: string, text: string): number => {
  const epochMs = parseTimestamp(text);
  if (epochMs === null) throw fault(param, `${INSTANT.message}.`);
  return epochMs;
};

const resultIn = ({ status, result, result_digest }: ReportResultBody): EdgeResult => {
  if (result !== undefined && result_digest !== undefined) {
    throw fault('result_digest', 'is sent instead of result. Leave one of them out.');
  }
  if (result_digest !== undefined) return { digest: digestIn(result_digest) };
  if (result !== undefined) return { body: bodyOf(result) };
  if (status === 'succeeded')
    throw fault('result', 'is required, or result_digest instead. A tool that answers nothing has the result null.');
  return null;
};

const digestIn = (text: string): Digest => {
  if (!isDigest(text)) throw fault('result_digest', 'must be a digest: sha256: and 64 lowercase hex digits.');
  return text;
};

const bodyOf = (result: JsonValue): string => {
  const body = canonicalize(result);
  if (Buffer.byteLength(body) > RESULT_MAX_BYTES) {
    throw fault('result', 'is larger than 1 MiB in canonical form. Send result_digest instead.');
  }
  return body;
};

const fault = (param: string, text: string): DomainError =>
  new DomainError('validation_failed', { param, message: `The field ${param} ${text}` });
