import { DomainError } from '../../kernel/index.js';

/** How long a rolled key goes on (rule KEY-5). */
export const OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;
const OVERLAP_DEFAULT_SECONDS = 24 * 60 * 60;

/** @throws {DomainError} validation_failed */
export const overlapEnd = (now: string, overlapSeconds = OVERLAP_DEFAULT_SECONDS): string => {
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > OVERLAP_MAX_SECONDS) {
    throw new DomainError('validation_failed', {
      param: 'overlap_seconds',
      message: `The overlap must be 0 to ${OVERLAP_MAX_SECONDS} seconds (7 days).`,
    });
  }
  return new Date(Date.parse(now) + overlapSeconds * 1000).toISOString();
};
