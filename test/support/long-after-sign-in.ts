import type pg from 'pg';
import { RECENT_SIGN_IN_MS } from '#libs/domain/people';

/** Does it while everybody has signed in too long ago for what needs a recent sign-in: the absolute end of a session tells when. */
export const longAfterSignIn = async <Result>(
  database: Pick<pg.Client, 'query'>,
  work: () => Promise<Result>,
): Promise<Result> => {
  const move = (by: number) => database.query('update people.sessions set expires_ms = expires_ms + $1', [by]);
  await move(-RECENT_SIGN_IN_MS);
  try {
    return await work();
  } finally {
    await move(RECENT_SIGN_IN_MS);
  }
};
