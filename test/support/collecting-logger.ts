import type { LogAttributes, Logger } from '#libs/domain/kernel';

export interface CollectingLogger extends Logger {
  /** The `error` attribute of each error line. */
  readonly errors: unknown[];
  readonly warnings: LogAttributes[];
}

/** For tests of what is reported. */
export const collectingLogger = (): CollectingLogger => {
  const errors: unknown[] = [];
  const warnings: LogAttributes[] = [];
  return {
    errors,
    warnings,
    debug: () => undefined,
    info: () => undefined,
    warn: (_, attributes = {}) => void warnings.push(attributes),
    error: (_, attributes = {}) => void errors.push(attributes['error']),
  };
};
