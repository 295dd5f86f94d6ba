import { StoreUnavailable } from '#libs/domain/kernel';
import { isPassing, sqlStateOf } from './sql-state.js';

/** The kernel's error for what the driver threw. What is neither passing nor ours is a defect and stays as it is. */
export const translateDatabaseError = (error: unknown): unknown =>
  isPassing(error)
    ? new StoreUnavailable(`the database did not answer (${sqlStateOf(error) ?? codeOf(error)})`, { cause: error })
    : error;

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'no answer';
};
