import { REFERENCE_PATTERN } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';

export const ON_BEHALF_OF_HEADER = 'Service-On-Behalf-Of';
export const SESSION_HEADER = 'Service-Session';

/**
 * The reference in one of the two headers, or null when it was not sent.
 * @throws {DomainError} 422 validation_failed with the header's name: malformed, or sent more than once
 */
export const parseReference = (header: string, values: readonly string[]): string | null => {
  if (values.length === 0) return null;
  if (values.length > 1 || !REFERENCE_PATTERN.test(values[0] as string)) {
    throw new DomainError('validation_failed', {
      status: 422,
      param: header,
      message: `${header} must be 1 to 256 letters, digits or . _ ~ : @ / + = -, sent once. Use an opaque id, never a name or an e-mail address.`,
    });
  }
  return values[0] as string;
};
