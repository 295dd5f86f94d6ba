import { DomainError } from './domain-error.js';
import { isOneLine } from './plain-text.js';

/** The limit for every reason that a person gives; in code points. */
export const REASON_MAX_CHARACTERS = 280;

/**
 * A reason, unchanged: one line, short enough for every deed.
 * @throws {DomainError} `validation_failed` when it is empty, too long or not one line of visible characters
 */
export const checkedReason = (reason: string | null): string | null => {
  if (reason === null) return null;
  const isFitting = reason.length > 0 && [...reason].length <= REASON_MAX_CHARACTERS;
  // Beyond control characters, `\p{C}` refuses invisible characters and those that change the direction of the text.
  if (isFitting && isOneLine(reason) && !/\p{C}/u.test(reason)) return reason;
  throw new DomainError('validation_failed', {
    param: 'reason',
    message: `A reason must be one line of 1 to ${REASON_MAX_CHARACTERS} characters.`,
  });
};
