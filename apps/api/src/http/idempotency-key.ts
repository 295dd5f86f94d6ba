import { DomainError } from '#libs/domain/kernel';

export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';
export const IDEMPOTENT_REPLAYED_HEADER = 'Service-Idempotent-Replayed';

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,255}$/;

/**
 * The key, or null when none was sent. Compared byte for byte: `a` and `A` are two keys.
 * @throws {DomainError} idempotency_key_invalid
 */
export const parseIdempotencyKey = (values: readonly string[]): string | null => {
  if (values.length === 0) return null;
  if (values.length > 1 || !PRINTABLE_ASCII.test(values[0] as string)) {
    throw new DomainError('idempotency_key_invalid', { param: IDEMPOTENCY_KEY_HEADER });
  }
  return values[0] as string;
};
