/** A backup cannot be taken or restored. The message says why and what to do, and nothing of what it would hold. */
export class BackupError extends Error {
  override readonly name: string = 'BackupError';
}

/** The deployment was restored, and nobody has decided yet what becomes of deeds that were sealed after the backup. */
export class RestoreNotConfirmed extends BackupError {
  override readonly name = 'RestoreNotConfirmed';
}

/** The file is not a whole backup. */
export const damaged = (why: string, options?: ErrorOptions): BackupError =>
  new BackupError(`This is not a whole backup (${why}). Nothing was restored; use another one.`, options);
