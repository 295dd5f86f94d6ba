import { translateDatabaseError } from './database-errors.js';

/** The query's answer. An error of the driver becomes the kernel's `StoreUnavailable` if it may pass. */
export const answered = async <Answer>(query: Promise<Answer>): Promise<Answer> => {
  try {
    return await query;
  } catch (error) {
    throw translateDatabaseError(error);
  }
};
