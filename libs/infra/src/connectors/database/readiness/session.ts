import type { TestedConnector, TlsFault } from '#libs/domain/connectors';

/** One connection to the database that is tested. */
export interface Session {
  /** @throws {SessionFailed} when no answer came; what PostgreSQL refused, as the driver's own error */
  query(
    text: string,
    params?: readonly string[],
  ): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
  /** Throws never. */
  close(): Promise<void>;
}

export type SessionFault =
  /** The egress rules do not let it be reached. */
  | 'blocked'
  | 'unresolved'
  | 'unreachable'
  /** Its certificate is not good; `tls` says why where that is known. */
  | 'untrusted'
  /** It answered the SSLRequest with no. */
  | 'no_tls'
  | 'auth_failed'
  /** No such database, or the role may not connect to it. */
  | 'no_database'
  | 'too_many_connections'
  | 'credentials_missing'
  | 'timeout'
  /** The connector has moved on: nothing was sent. */
  | 'held'
  | 'failed';

/** Why there is no connection, or none any more. Holds no word of the server. */
export class SessionFailed extends Error {
  override readonly name = 'SessionFailed';
  constructor(
    readonly reason: SessionFault,
    readonly tls: TlsFault | null = null,
  ) {
    super(`no session: ${reason}`);
  }
}

/** @throws {SessionFailed} */
export type OpenSession = (tested: TestedConnector) => Promise<Session>;
