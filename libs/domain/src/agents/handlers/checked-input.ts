import { DomainError } from '../../kernel/index.js';

/** Document 2, Limits. */
export const OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;
const OVERLAP_DEFAULT_SECONDS = 24 * 60 * 60;

const NAME_PATTERN = /^[^\p{C}]{1,120}$/u;

/** Of an agent or an organization. @throws {DomainError} validation_failed */
export const checkedName = (name: string): string => {
  if (NAME_PATTERN.test(name)) return name;
  throw new DomainError('validation_failed', {
    param: 'name',
    message: 'A name must be one line of 1 to 120 characters.',
  });
};

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
