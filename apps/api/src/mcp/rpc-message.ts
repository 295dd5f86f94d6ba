import { bodyProfile, type JsonObject, type JsonValue, StrictJsonError } from '#libs/crypto';
import { RPC_CODE } from '#libs/domain/kernel';
import { explained, strictValue } from '../http/json-body.js';
import { RpcFault, type RpcId } from './rpc-fault.js';

/** Arguments may be 32 deep (rule FORM-7), and stand in `params` of the message. */
const MAX_DEPTH = 34;

/** What a client sends with one POST. */
export type ClientMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: JsonObject }
  /** A notification, or the answer to a request of ours: we send none, and expect nothing of either. */
  | { readonly kind: 'notice' };

/**
 * @throws {RpcFault} 400: -32700 for bytes that are no strict JSON, -32600 for JSON that is no message of JSON-RPC 2.0, -32602
 * for numbers, texts and depths that the gate takes nowhere
 */
export const readClientMessage = async (bytes: Uint8Array, maxBytes: number): Promise<ClientMessage> => {
  const value = await parsed(bytes, maxBytes);
  if (Array.isArray(value)) throw invalid('A batch is not served. Send each message in a POST of its own.');
  if (value === null || typeof value !== 'object') throw invalid('A message is a JSON object.');
  const { jsonrpc, id, method, params } = value;
  if (jsonrpc !== '2.0') throw invalid('The member jsonrpc must be "2.0".');
  if (typeof method !== 'string') {
    if (method === undefined && isId(id) && (value['result'] ?? value['error']) !== undefined)
      return { kind: 'notice' };
    throw invalid('The member method must be a string.');
  }
  if (params !== undefined && !isObject(params)) throw invalid('The member params must be an object where it is sent.');
  if (id === undefined) return { kind: 'notice' };
  if (!isId(id)) throw invalid('The member id must be a string or an integer.');
  return { kind: 'request', id, method, params: params ?? {} };
};

const parsed = async (bytes: Uint8Array, maxBytes: number): Promise<JsonValue> => {
  try {
    return await strictValue(bytes, bodyProfile({ maxBytes, maxDepth: MAX_DEPTH }));
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const { isJson, sentence } = explained(error);
    throw new RpcFault(isJson ? RPC_CODE.invalidParams : RPC_CODE.parseError, sentence, { status: 400 });
  }
};

const invalid = (message: string): RpcFault => new RpcFault(RPC_CODE.invalidRequest, message, { status: 400 });

const isId = (id: JsonValue | undefined): id is RpcId => typeof id === 'string' || Number.isSafeInteger(id);

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
