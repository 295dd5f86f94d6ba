import { StoreUnavailable } from '#libs/domain/kernel';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { translateDatabaseError } from '../postgres/index.js';

/** What the driver said, which TypeORM wraps; anything else as it is. */
export const driverErrorOf = (error: unknown): unknown =>
  error instanceof QueryFailedError ? error.driverError : error;

/**
 * The kernel's error for what a query over rows threw. TypeORM has words of its own for a connection that was lost before
 * the query reached it.
 */
export const translateRowError = (error: unknown): unknown =>
  error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError
    ? new StoreUnavailable('the connection to the database was lost', { cause: error })
    : translateDatabaseError(driverErrorOf(error));
