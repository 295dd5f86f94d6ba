import { StoreUnavailable } from '#libs/domain/kernel';
import { fileFaultOf } from '../config/index.js';
import { KurrentUnavailable } from '../event-store/index.js';
import { isDatabaseUnusable } from '../postgres/index.js';

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Something else listens there. Stop it, or set SERVICE_PORT to another port (0 takes any free one).',
  ENOTFOUND: 'No such name is known here. Set SERVICE_HOST to an address of this machine, or to 0.0.0.0 for all.',
  EAI_AGAIN: 'The name could not be looked up. Set SERVICE_HOST to an address of this machine, or to 0.0.0.0 for all.',
  EADDRNOTAVAIL: 'This machine has no such address. Set SERVICE_HOST to one of its own, or to 0.0.0.0 for all.',
  EACCES: 'A port below 1024 needs a right that this user does not have. Set SERVICE_PORT to a higher one.',
};

interface SystemError extends Error {
  readonly code: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
}

/** The setting behind a start that failed, and what to do about it. Null for an error that is a fault of ours. */
export const startFault = (error: Error): string | null =>
  isSystemError(error) ? (listenFault(error) ?? fileFault(error) ?? databaseFault(error)) : databaseFault(error);

const isSystemError = (error: Error): error is SystemError => 'code' in error && typeof error.code === 'string';

const listenFault = ({ code, syscall, address, port }: SystemError): string | null => {
  const advice = syscall === 'listen' || syscall === 'bind' ? LISTEN_FAULTS[code] : undefined;
  const place = port === undefined ? address : `${address ?? ''}:${port}`;
  return advice === undefined ? null : `The API cannot listen on ${place ?? 'its address'}. ${advice}`;
};

const fileFault = ({ code, path }: SystemError): string | null => {
  const why = fileFaultOf(code);
  if (why === undefined || path === undefined) return null;
  const advice = 'Check whose it is, and the settings that name files and folders: `npm run ags -- config` shows them.';
  return `${path} cannot be used: ${why}. ${advice}`;
};

const databaseFault = (error: Error): string | null => {
  if (error instanceof KurrentUnavailable) {
    return `The event store cannot be used: ${error.message}. ${error.next}`;
  }
  const cause = error instanceof StoreUnavailable && error.cause instanceof Error ? error.cause : error;
  if (!isDatabaseUnusable(cause)) return null;
  // Node's and PostgreSQL's words name the host, the port and the login, and hold no password.
  return `The database cannot be used: ${cause.message}. Check that it runs and that DATABASE_URL names it.`;
};
