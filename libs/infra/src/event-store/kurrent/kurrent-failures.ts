import type { CommandError, WrongExpectedVersionError } from '@eventstore/db-client';
import { StoreUnavailable } from '#libs/domain/kernel';
import { inTime } from '../../runtime/index.js';

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

/** As gRPC numbers it. */
const UNAUTHENTICATED = 16;

/** User or password are not accepted, or the user may not do what was asked for. */
const isRefusedUser = (error: unknown): error is CommandError => typeOf(error) === 'access-denied';

const isUnknownUser = (error: CommandError): boolean => (error.code as number | undefined) === UNAUTHENTICATED;

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

/** What the server lets a user do, each by itself. */
export type Right = 'append' | 'read';

/** The server knows its user, who may not do what was asked for. */
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

/** The failure of a request that needs a right on a stream: a {@link MissingRight} where that is why. */
export const failureOf = (error: unknown, right: Right, stream: string): unknown =>
  isRefusedUser(error) && !isUnknownUser(error) ? new MissingRight(right, stream, error) : error;

export const isSilence = (error: unknown): boolean => error instanceof NoAnswer;

/** @throws {NoAnswer} */
export const within = <Result>(limitMs: number, answer: Promise<Result>): Promise<Result> =>
  inTime(limitMs, answer, (message) => new NoAnswer(message));

/** No answer that counts within the deadline. Neither the reason nor the advice holds a password. */
export class KurrentUnavailable extends StoreUnavailable {
  /** Whose server it is. */
  readonly setting = 'EVENT_STORE_URL';
  /** What to do about it. */
  readonly next: string;
  /** It answers, and turns its user down. */
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
