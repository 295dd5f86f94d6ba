import { DomainError } from './domain-error.js';
import { isOneLine } from './plain-text.js';

/** Of whatever a person gives a reason for. */
const REASON_MAX_CHARACTERS = 280;

/** One line, short enough for every deed. @throws {DomainError} validation_failed */
export const checkedReason = (reason: string | null): string | null => {
  if (reason === null) return null;
  const isFitting = reason.length > 0 && [...reason].length <= REASON_MAX_CHARACTERS;
  // Beside control characters nothing that is not seen, or turns the direction of what is read.
  if (isFitting && isOneLine(reason) && !/\p{C}/u.test(reason)) return reason;
  throw new DomainError('validation_failed', {
    param: 'reason',
    message: `A reason must be one line of 1 to ${REASON_MAX_CHARACTERS} characters.`,
  });
};
