import { DomainError } from './domain-error.js';
import { isOneLine } from './plain-text.js';

const NAME_PATTERN = /^[^\p{C}]{1,120}$/u;

/**
 * The name of an agent or an organization, unchanged.
 * @throws {DomainError} `validation_failed` when it is not one line of 1 to 120 characters
 */
export const checkedName = (name: string): string => {
  if (NAME_PATTERN.test(name) && isOneLine(name)) return name;
  throw new DomainError('validation_failed', {
    param: 'name',
    message: 'A name must be one line of 1 to 120 characters.',
  });
};
