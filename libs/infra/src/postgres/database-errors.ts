import { StoreUnavailable } from '#libs/domain/kernel';
import { isPassing, sqlStateOf } from './sql-state.js';

/**
 * The kernel's error for an error of the driver that may pass. Any other error is a defect or the caller's own, and is
 * returned as it is.
 */
export const translateDatabaseError = (error: unknown): unknown =>
  isPassing(error)
    ? new StoreUnavailable(`the database did not answer (${sqlStateOf(error) ?? codeOf(error)})`, { cause: error })
    : error;

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'no answer';
};
