import { translateDatabaseError } from './database-errors.js';

/** The query's answer, or the kernel's error for why there is none. */
export const answered = async <Answer>(query: Promise<Answer>): Promise<Answer> => {
  try {
    return await query;
  } catch (error) {
    throw translateDatabaseError(error);
  }
};
