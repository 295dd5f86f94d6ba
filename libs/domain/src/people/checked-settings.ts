import { REFERENCE_PATTERN } from '#libs/crypto';
import { DomainError } from '../kernel/index.js';

/** The IANA names and their links: what `Intl` takes is more (offsets) and less exactly written. */
const TIMEZONE = /^[A-Za-z_]+(\/[A-Za-z0-9_+-]+)*$/;
export const RETENTION_DAYS_MAX = 3_650;
/** Where an organization says nothing (rule RETENTION-1). */
export const RETENTION_DAYS_DEFAULT = 90;
export const APPROVAL_SECONDS_MIN = 60;
export const APPROVAL_SECONDS_MAX = 30 * 24 * 60 * 60;
const CHAT_ACCOUNT = /^[a-z][a-z0-9-]{1,31}:[\x21-\x7e]{1,128}$/;
export const REFERENCES_MAX = 16;
export const CHAT_ACCOUNTS_MAX = 8;

/** Kept as it was sent: what it means is looked up where a day is counted. @throws {DomainError} validation_failed */
export const checkedTimezone = (timezone: string): string => {
  if (timezone.length <= 64 && TIMEZONE.test(timezone) && isKnownTimezone(timezone)) return timezone;
  throw new DomainError('validation_failed', {
    param: 'timezone',
    message: 'The field timezone must be an IANA name such as Europe/Vienna or UTC.',
  });
};

const isKnownTimezone = (timezone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/** @throws {DomainError} validation_failed */
export const checkedReferences = (references: readonly string[]): readonly string[] =>
  checkedList('references', references, REFERENCES_MAX, REFERENCE_PATTERN, 'letters, digits and . _ ~ : @ / + = -');

/** @throws {DomainError} validation_failed */
export const checkedChatAccounts = (accounts: readonly string[]): readonly string[] =>
  checkedList('chat_accounts', accounts, CHAT_ACCOUNTS_MAX, CHAT_ACCOUNT, 'a connector’s name, a colon and an account');

const checkedList = (
  param: string,
  values: readonly string[],
  max: number,
  pattern: RegExp,
  form: string,
): readonly string[] => {
  if (values.length <= max && new Set(values).size === values.length && values.every((value) => pattern.test(value))) {
    return values;
  }
  throw new DomainError('validation_failed', {
    param,
    message: `The field ${param} must have at most ${max} different values, each of ${form}.`,
  });
};
