import {
  bodyProfile,
  type JsonObject,
  type JsonProfile,
  type JsonValue,
  StrictJsonError,
  strictJsonInPieces,
} from '#libs/crypto';
import { Turns } from '#libs/domain/kernel';

import { ANSWER_MAX_BYTES } from './large-messages.js';

/** Far beyond what is taken of it: one definition that is too deep leaves the others of its list readable. */
const MESSAGE_DEPTH = 512;
const PROFILE = bodyProfile({ maxBytes: ANSWER_MAX_BYTES, maxDepth: MESSAGE_DEPTH });
const WITH_LARGE_INTEGERS: JsonProfile = { ...PROFILE, hasLargeDoubles: true };

/** What came is no JSON-RPC message, or one that another reader could take for another. Never shown to anybody. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: JsonValue | undefined;
}

/** One message of a server. `answer`: to the request of that id, or to one that it could not read where the id is null. */
export type RpcMessage =
  | { readonly kind: 'answer'; readonly id: JsonValue; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly id: JsonValue; readonly error: RpcError }
  | { readonly kind: 'request'; readonly id: string | number; readonly method: string }
  | { readonly kind: 'notification' };

export interface ReadMessages {
  readonly messages: readonly RpcMessage[];
  /** Some number in them is an integer beyond 2^53-1, and so not the one that was sent. */
  readonly hasLargeIntegers: boolean;
}

const turns = new Turns();

/**
 * Servers of 2025-03-26 may answer with several messages in one array.
 * @throws {UnreadableAnswer}
 */
export const readMessages = async (bytes: Uint8Array): Promise<ReadMessages> => {
  const { value, hasLargeIntegers } = await parsed(bytes);
  const messages = Array.isArray(value) ? value : [value];
  return { messages: messages.map(messageOf), hasLargeIntegers };
};

const parsed = async (bytes: Uint8Array): Promise<{ value: JsonValue; hasLargeIntegers: boolean }> => {
  try {
    return { value: await inTurns(strictJsonInPieces(bytes, PROFILE)), hasLargeIntegers: false };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    if (error.reason !== 'big_int') throw new UnreadableAnswer('the answer is no strict JSON', { cause: error });
  }
  try {
    return { value: await inTurns(strictJsonInPieces(bytes, WITH_LARGE_INTEGERS)), hasLargeIntegers: true };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new UnreadableAnswer('the answer is no strict JSON', { cause: error });
  }
};

/** Long ones give others their turns. */
const inTurns = async <Value>(pieces: Generator<void, Value>): Promise<Value> => {
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
    await turns.next();
  }
};

const messageOf = (value: JsonValue): RpcMessage => {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') throw new UnreadableAnswer('the answer is no JSON-RPC message');
  const { id = null, method, result, error } = value;
  if (typeof method === 'string') {
    return typeof id === 'string' || typeof id === 'number'
      ? { kind: 'request', id, method }
      : { kind: 'notification' };
  }
  if (isObject(result) && error === undefined) return { kind: 'answer', id, result };
  if (isObject(error) && result === undefined && typeof error['code'] === 'number') {
    const { code, message, data } = error;
    return { kind: 'error', id, error: { code, message: typeof message === 'string' ? message : '', data } };
  }
  throw new UnreadableAnswer('the answer is neither a result nor an error');
};

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** @param depth containers inside each other, the outermost counts as 1 */
export const isDeeperThan = (value: JsonValue, depth: number): boolean =>
  value !== null &&
  typeof value === 'object' &&
  (depth === 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1)));
