import { DomainError, isPlainText, WITHOUT_CONTROL_CHARACTERS } from '../../kernel/index.js';
import { characterCount } from '../config-reader.js';

const MAX_CHARACTERS = 1_024;

/** @throws {DomainError} validation_failed, param `description` */
export const requireDescription = (description: string | null): string | null => {
  if (description === null || (characterCount(description) <= MAX_CHARACTERS && isPlainText(description))) {
    return description;
  }
  throw new DomainError('validation_failed', {
    param: 'description',
    message: `description must have at most ${MAX_CHARACTERS} characters, ${WITHOUT_CONTROL_CHARACTERS}.`,
  });
};
