import { ForeseenFault } from '#libs/domain/kernel';

/** The embedded server cannot run here. The message says what to do about it. */
export class EmbeddedPostgresError extends ForeseenFault {
  override readonly name = 'EmbeddedPostgresError';
}

/** The user that PostgreSQL, which refuses to run as root, runs as. */
export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}
