import { StoreUnavailable } from '#libs/domain/kernel';
import { fileFaultOf, isFullDisk, type ListenAddress } from '../config/index.js';
import { KurrentUnavailable } from '../event-store/index.js';
import { adviceOnRefusedWrite, isDatabaseUnusable } from '../postgres/index.js';

/** The settings that say where something listens. */
interface ListenSettings {
  readonly host: string;
  readonly port: string;
}

const OF_API: ListenSettings = { host: 'SERVICE_HOST', port: 'SERVICE_PORT' };
const OF_METRICS: ListenSettings = {
  host: 'the host in SERVICE_METRICS_ADDRESS',
  port: 'the port in SERVICE_METRICS_ADDRESS',
};

const LISTEN_FAULTS: Readonly<Record<string, (settings: ListenSettings) => string>> = {
  EADDRINUSE: ({ port }) => `Something else listens there. Stop it, or set ${port} to another (0 takes any free one).`,
  ENOTFOUND: ({ host }) =>
    `No such name is known here. Set ${host} to an address of this machine, or to 0.0.0.0 for all.`,
  EAI_AGAIN: ({ host }) =>
    `The name could not be looked up. Set ${host} to an address of this machine, or to 0.0.0.0 for all.`,
  EADDRNOTAVAIL: ({ host }) =>
    `This machine has no such address. Set ${host} to one of its own, or to 0.0.0.0 for all.`,
  EACCES: ({ port }) => `A port below 1024 needs a right that this user does not have. Set ${port} to a higher one.`,
};

interface SystemError extends Error {
  readonly code: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
}

/** Metrics cannot be served where SERVICE_METRICS_ADDRESS says. The message says why, and what to do. */
export class MetricsUnserved extends Error {
  override readonly name = 'MetricsUnserved';
  /** @param error of the listener, whichever code it has */
  constructor(place: ListenAddress, error: unknown) {
    const code = error instanceof Error && isSystemError(error) ? error.code : String(error);
    const advice = LISTEN_FAULTS[code]?.(OF_METRICS) ?? `It said: ${code}. Set SERVICE_METRICS_ADDRESS to another one.`;
    super(`Metrics cannot be served on ${place.toString()}. ${advice}`, { cause: error });
  }
}

/** The setting behind a start that failed, and what to do about it. Null for an error that is a fault of ours. */
export const startFault = (error: Error): string | null =>
  isSystemError(error) ? (listenFault(error) ?? fileFault(error) ?? databaseFault(error)) : databaseFault(error);

const isSystemError = (error: Error): error is SystemError => 'code' in error && typeof error.code === 'string';

const listenFault = ({ code, syscall, address, port }: SystemError): string | null => {
  const advice = syscall === 'listen' || syscall === 'bind' ? LISTEN_FAULTS[code]?.(OF_API) : undefined;
  const place = port === undefined ? address : `${address ?? ''}:${port}`;
  return advice === undefined ? null : `The API cannot listen on ${place ?? 'its address'}. ${advice}`;
};

const fileFault = ({ code, path }: SystemError): string | null => {
  const why = fileFaultOf(code);
  if (isFullDisk(code))
    return `${path ?? 'A file'} cannot be written: ${why}. Free some space on that disk, then start again.`;
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
  const advice = adviceOnRefusedWrite(cause);
  if (advice !== null) return `The database takes no writes: ${cause.message}. ${advice}, then start again.`;
  // Node's and PostgreSQL's words name the host, the port and the login, and hold no password.
  return `The database cannot be used: ${cause.message}. Check that it runs and that DATABASE_URL names it.`;
};
