import type { CommandError, WrongExpectedVersionError } from '@eventstore/db-client';
import { StoreUnavailable } from '#libs/domain/kernel';
import { inTime } from '../../runtime/index.js';

/**
 * The client's own type of a failure; null if it has none, as for many failures (a server that is away, a cluster
 * without a leader). Messages cannot be used, because they are empty on the usual paths.
 */
const typeOf = (error: unknown): string | null =>
  error instanceof Error && 'type' in error ? String((error as CommandError).type) : null;

/** The stream is at another revision; nothing was written. */
export const isWrongRevision = (error: unknown): error is WrongExpectedVersionError =>
  typeOf(error) === 'wrong-expected-version';

export const isTooLarge = (error: unknown): boolean => typeOf(error) === 'maximum-append-size-exceeded';

export const isMissingStream = (error: unknown): boolean => typeOf(error) === 'stream-not-found';

/**
 * No event is at the position that was asked for. The error has neither type nor code, so its message is matched, as
 * either server words it.
 */
export const isNoPosition = (error: unknown): boolean =>
  error instanceof Error && /InvalidPosition|invalid position/i.test(error.message);

/** The number of this status in gRPC. */
const UNAUTHENTICATED = 16;

/** The server does not accept the user or the password, or the user may not do what was asked for. */
const isRefusedUser = (error: unknown): error is CommandError => typeOf(error) === 'access-denied';

const isUnknownUser = (error: CommandError): boolean => (error.code as number | undefined) === UNAUTHENTICATED;

/** The stream was deleted permanently. */
export const isDeletedStream = (error: unknown): boolean => typeOf(error) === 'stream-deleted';

/** Whether the same request may succeed when it is repeated. The errors excluded here are final answers. */
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

/** The rights that the server grants separately. */
export type Right = 'append' | 'read';

/** The server knows the user, and the user lacks the right that the request needs. */
export class MissingRight extends Error {
  override readonly name = 'MissingRight';
  constructor(
    readonly right: Right,
    readonly stream: string,
    cause: unknown,
  ) {
    super(`its user may not ${right === 'read' ? 'read' : 'append to'} ${stream}`, { cause });
  }
}

/**
 * The failure of a request that needs a right on a stream: a {@link MissingRight} if the user lacks it, else `error`.
 */
export const failureOf = (error: unknown, right: Right, stream: string): unknown =>
  isRefusedUser(error) && !isUnknownUser(error) ? new MissingRight(right, stream, error) : error;

export const isSilence = (error: unknown): boolean => error instanceof NoAnswer;

/** @throws {NoAnswer} when there is no answer within the limit */
export const within = <Result>(limitMs: number, answer: Promise<Result>): Promise<Result> =>
  inTime(limitMs, answer, (message) => new NoAnswer(message));

/** The store gave no usable answer within the deadline. Neither `message` nor `next` holds a password. */
export class KurrentUnavailable extends StoreUnavailable {
  /** The setting that names the server. */
  readonly setting = 'EVENT_STORE_URL';
  /** What the operator can do about it. */
  readonly next: string;
  /** The server answers, but refuses the user. */
  readonly isRefusal: boolean;

  constructor(cause: unknown) {
    const { fault, next } = faultOf(cause);
    super(fault, { cause });
    this.next = next;
    this.isRefusal = cause instanceof MissingRight || isRefusedUser(cause);
  }
}

export const unavailable = (error: unknown): StoreUnavailable =>
  error instanceof StoreUnavailable ? error : new KurrentUnavailable(error);

const faultOf = (cause: unknown): { readonly fault: string; readonly next: string } => {
  if (cause instanceof MissingRight) {
    return {
      fault:
        `${cause.message}, and must be able to read $all, to append to every stream and, in a cluster, to write the ` +
        'metadata of ags-leader',
      next: 'Let the user of EVENT_STORE_URL do so, or name one there who may.',
    };
  }
  if (isRefusedUser(cause) && isUnknownUser(cause)) {
    return {
      fault: 'it does not know the user, or not by this password',
      next: 'Put the user and the password that it knows into EVENT_STORE_URL.',
    };
  }
  return {
    fault: `no answer (${cause instanceof Error ? cause.message : String(cause)})`,
    next: 'See whether its nodes run and are reached from here, and whether EVENT_STORE_URL names them.',
  };
};
