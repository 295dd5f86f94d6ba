import { Metadata, type ServerErrorResponse, status } from '@grpc/grpc-js';
import { MAX_APPEND_BYTES } from './appends.js';

/** The words and trailers of the server's RpcExceptions.cs; the client tells errors by `exception`, then by their code. */
const rpcError = (code: status, details: string, trailers: Record<string, string> = {}): ServerErrorResponse => {
  const metadata = new Metadata();
  Object.entries(trailers).forEach(([key, value]) => metadata.set(key, value));
  return Object.assign(new Error(details), { code, details, metadata });
};

export const timeout = (reason: string) => rpcError(status.ABORTED, `Operation timed out: ${reason}`);

export const handlerThrew = () => rpcError(status.UNKNOWN, 'Exception was thrown by handler.');

export const unexpectedResult = (result: string) => rpcError(status.UNKNOWN, `Unexpected ${result}`);

export const invalidPosition = () => rpcError(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.');

export const unauthenticated = () => rpcError(status.UNAUTHENTICATED, 'Unauthenticated');

export const accessDenied = () => rpcError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });

export const notImplemented = (what: string) =>
  rpcError(status.UNIMPLEMENTED, `The test server does not know ${what}.`);

export const notLeader = (leaderPort: number) =>
  rpcError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': '127.0.0.1',
    'leader-endpoint-port': String(leaderPort),
  });

export const streamDeleted = (stream: string) =>
  rpcError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

export const appendTooLarge = () =>
  rpcError(status.INVALID_ARGUMENT, `Maximum Append Size of ${MAX_APPEND_BYTES} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(MAX_APPEND_BYTES),
  });
