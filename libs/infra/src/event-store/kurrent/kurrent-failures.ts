import type { CommandError, WrongExpectedVersionError } from '@eventstore/db-client';
import { StoreUnavailable } from '#libs/domain/kernel';

/**
 * What a failure of the client means. It is told by `type`: messages are empty on the usual paths, and many failures (a
 * server that is away, a cluster without a leader) are plain errors without one.
 */
const typeOf = (error: unknown): string | null =>
  error instanceof Error && 'type' in error ? String((error as CommandError).type) : null;

/** The stream stands at another revision; nothing was written. */
export const isWrongRevision = (error: unknown): error is WrongExpectedVersionError =>
  typeOf(error) === 'wrong-expected-version';

export const isTooLarge = (error: unknown): boolean => typeOf(error) === 'maximum-append-size-exceeded';

export const isMissingStream = (error: unknown): boolean => typeOf(error) === 'stream-not-found';

/** No event stands at the position that was asked for. Two servers' words for it: there is no type, and no code of its own. */
export const isNoPosition = (error: unknown): boolean =>
  error instanceof Error && /InvalidPosition|invalid position/i.test(error.message);

/** User or password are not accepted, or the user may not do what was asked for. */
const isRefusedUser = (error: unknown): error is CommandError => typeOf(error) === 'access-denied';

/** Somebody deleted the stream for ever. */
export const isDeletedStream = (error: unknown): boolean => typeOf(error) === 'stream-deleted';

/** The same request again may be answered. Everything else has its answer. */
export const mayPass = (error: unknown): boolean =>
  !(
    isWrongRevision(error) ||
    isTooLarge(error) ||
    isMissingStream(error) ||
    isNoPosition(error) ||
    isDeletedStream(error) ||
    error instanceof TypeError
  );

/** The server sent nothing for too long, or has not answered at all. */
export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';
}

/** No answer that counts within the deadline. Neither the reason nor the advice holds a password. */
export class KurrentUnavailable extends StoreUnavailable {
  /** Whose server it is. */
  readonly setting = 'EVENT_STORE_URL';
  /** What to do about it. */
  readonly next: string;

  constructor(cause: unknown) {
    const { fault, next } = faultOf(cause);
    super(fault, { cause });
    this.next = next;
  }
}

/** As gRPC numbers it. */
const UNAUTHENTICATED = 16;

const faultOf = (cause: unknown): { readonly fault: string; readonly next: string } => {
  if (!isRefusedUser(cause)) {
    return {
      fault: `no answer (${cause instanceof Error ? cause.message : String(cause)})`,
      next: 'See whether its nodes run and are reached from here, and whether EVENT_STORE_URL names them.',
    };
  }
  return (cause.code as number | undefined) === UNAUTHENTICATED
    ? {
        fault: 'it does not know the user, or not by this password',
        next: 'Put the user and the password that it knows into EVENT_STORE_URL.',
      }
    : {
        fault:
          'it refuses the user, who must be able to read $all, to append to every stream and, in a cluster, to write metadata',
        next: 'Let the user of EVENT_STORE_URL do so, or name one there who may.',
      };
};
