/** A backup cannot be taken or restored. The message says why and what to do, and nothing of what it would hold. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** The file is not a whole backup. */
export const damaged = (why: string, options?: ErrorOptions): BackupError =>
  new BackupError(`This is not a whole backup (${why}). Nothing was restored; use another one.`, options);
